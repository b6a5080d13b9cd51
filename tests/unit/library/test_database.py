"""The library's file: made, migrated, kept aside when it is damaged, and never a reason for the window not to open."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from podium.library import Library, LibraryError
from podium.library.history_store import HistoryRow
from podium.library.queue_store import QueueRow
from podium.library.schema import MIGRATIONS, VERSION
from podium.library.texts import PromptPair

from tests.fakes.requests import make_clip, make_request
from tests.unit.library.rows import MOMENT, history_row, queue_row


def write_old(path: Path, version: int) -> None:
    """Write the library as an older Podium left it, with a clip and an entry in it."""
    connection = sqlite3.connect(path, isolation_level=None)
    for step in range(version):
        connection.executescript(MIGRATIONS[step])
    connection.execute(f"PRAGMA user_version = {version}")
    row = (
        '{"version":1,"prompt":"an old fox","seed":7,"clip":{"height":192,"width":256,"num_frames":25,"fps":"24"},'
        '"output_path":"/clips/old.mp4","images":[],"loras":[],"pipeline":"fast","negative_prompt":"",'
        '"num_inference_steps":null,"video_guidance":null,"audio_guidance":null,"distilled_lora_strengths":null,'
        '"generated_keyframes":0}'
    )
    connection.execute(
        "INSERT INTO queue (place, status, request, fleet, files, failure, added_at) "
        "VALUES (0, 'pending', ?, '{\"a\":1}', '[]', '{}', 5)",
        (row,),
    )
    connection.close()


def test_a_library_is_there_again_when_it_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "library.sqlite"
    with Library.open(path) as library:
        assert (library.problem, library.is_kept, library.was_left_open) == ("", True, False)
        library.history.add(history_row("a fox"))
    with Library.open(path) as library:
        assert (library.problem, library.was_left_open) == ("", False)
        assert [row.request.prompt for row in library.history.page(limit=9)] == ["a fox"]


def test_it_is_held_in_a_write_ahead_log(tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        read = library._database.read
        assert read("PRAGMA journal_mode") == [("wal",)]
        assert read("PRAGMA synchronous") == [(1,)]
        assert read("PRAGMA foreign_keys") == [(1,)]


def test_one_that_nobody_closed_says_so_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "library.sqlite"
    Library.open(path).queue.write([1], saved=[queue_row(1)])
    with Library.open(path) as library:
        assert library.was_left_open
        assert [row.key for row in library.queue.load()] == [1]
    with Library.open(path) as library:
        assert not library.was_left_open


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_older_library_is_brought_to_this_version_with_all_that_is_in_it(tmp_path: Path, version: int) -> None:
    path = tmp_path / "library.sqlite"
    write_old(path, version)
    with Library.open(path) as library:
        assert library.problem == ""
        (row,) = library.queue.load()
        assert (row.request.prompt, row.request.seed, row.fleet) == ("an old fox", 7, {"a": 1})
        assert row.notes == ()
        noted = replace(row, notes=("It may do little.", "„Fuchs“ 狐"))
        library.queue.write([row.key], saved=[noted])
        assert library.queue.load() == (noted,)
        library.prompts.add("new")
        assert library.prompts.recent() == (PromptPair("new"),)
        assert library._database.read("PRAGMA user_version") == [(VERSION,)]


def test_a_migration_that_fails_leaves_the_version_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "library.sqlite"
    write_old(path, 1)
    broken = (*MIGRATIONS[:1], "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1);")
    monkeypatch.setattr("podium.library.schema.MIGRATIONS", broken)
    connection = sqlite3.connect(path, isolation_level=None)
    from podium.library.schema import migrate

    with pytest.raises(sqlite3.Error):
        migrate(connection)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)
    connection.close()


@pytest.mark.parametrize("damage", ["no database at all", "its head is gone", "a page in the middle is gone"])
def test_a_damaged_library_is_kept_aside_and_a_new_one_begun(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "library.sqlite"
    library = Library.open(path)
    library.queue.write(range(1, 300), saved=[queue_row(key) for key in range(1, 300)])
    library._database._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    # Nobody closes it: that is when it is looked at as a whole.
    data = bytearray(path.read_bytes())
    if damage == "no database at all":
        data[:] = b"something else" * 1000
    elif damage == "its head is gone":
        data[:100] = bytes(100)
    else:
        data[8192 : 8192 + 4096] = b"\xff" * 4096
    library.close()
    for companion in tmp_path.iterdir():
        companion.unlink()
    path.write_bytes(data)
    if damage == "a page in the middle is gone":
        connection = sqlite3.connect(path, isolation_level=None)
        assert connection.execute("SELECT value FROM flag WHERE name = 'is_open'").fetchone() == ("1",)
        connection.close()
    with Library.open(path) as library:
        assert "was damaged" in library.problem
        assert library.is_kept
        assert library.queue.load() == ()
        library.prompts.add("on")
    (kept,) = [found for found in tmp_path.iterdir() if "damaged" in found.name]
    assert kept.read_bytes() == bytes(data)
    assert kept.name in library.problem
    with Library.open(path) as library:
        assert library.problem == ""
        assert len(library.prompts.recent()) == 1


def test_one_that_a_newer_podium_wrote_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "library.sqlite"
    Library.open(path).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with Library.open(path) as library:
        assert "newer Podium" in library.problem
        assert not library.is_kept
        library.prompts.add("for now")
    assert path.read_bytes() == before


def test_where_no_file_can_be_made_all_is_held_in_memory_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Library.open(tmp_path / "file" / "library.sqlite") as library:
        assert not library.is_kept
        assert str(tmp_path / "file") in library.problem
        assert "hold until the window is closed" in library.problem
        library.queue.write([1], saved=[queue_row(1)])
        assert len(library.queue.load()) == 1


def test_what_a_read_only_library_holds_can_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "library.sqlite"
    with Library.open(path) as library:
        library.history.add(history_row("a fox"))
    connect = sqlite3.connect

    def read_only(target: str, **kwargs: object) -> sqlite3.Connection:
        if target == str(path):
            return connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
        return connect(target, **kwargs)  # type: ignore[call-overload,no-any-return]  # as the caller gave it

    monkeypatch.setattr("podium.library.database.sqlite3.connect", read_only)
    with Library.open(path) as library:
        assert "read-only" in library.problem
        assert not library.is_kept
        assert [row.request.prompt for row in library.history.page(limit=9)] == ["a fox"]


def fill(library: Library) -> None:
    """Let the library's disk have no room left."""
    (used,) = library._database.read("PRAGMA page_count")[0]
    library._database.read(f"PRAGMA max_page_count = {used}")


def test_a_full_disk_is_a_sentence_and_nothing_is_half_written(tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        library.queue.write([1], saved=[queue_row(1)])
        fill(library)
        many = [queue_row(key) for key in range(2, 400)]
        with pytest.raises(LibraryError) as caught:
            library.queue.write(range(1, 400), saved=many)
        assert "the disk is full" in caught.value.message
        assert str(tmp_path) in caught.value.message
        assert [row.key for row in library.queue.load()] == [1]


def test_what_did_not_fit_is_written_with_the_next_change(tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        library.queue.write([1], saved=[queue_row(1)])
        fill(library)
        order = list(range(2, 400))
        with pytest.raises(LibraryError):
            library.queue.write(order, saved=[queue_row(key) for key in order], removed=[1])
        library._database.read("PRAGMA max_page_count = 100000")
        library.queue.write([400, *order], saved=[queue_row(400)])
        assert [row.key for row in library.queue.load()] == [400, *order]


def test_a_clip_and_its_end_as_an_entry_are_one_stroke(tmp_path: Path) -> None:
    with Library.open(tmp_path / "library.sqlite") as library:
        library.queue.write([1], saved=[queue_row(1)])
        fill(library)
        huge = HistoryRow(make_clip(Path("/a.mp4")), make_request("x" * 100_000), MOMENT)
        with pytest.raises(LibraryError):
            library.history.add(huge, queue_key=1)
        assert library.history.count() == 0
        assert isinstance(library.queue.load()[0], QueueRow)
        library._database.read("PRAGMA max_page_count = 100000")
        library.history.add(huge, queue_key=1)
        assert (library.history.count(), library.queue.load()) == (1, ())


def test_a_library_that_is_closed_says_so_in_an_error_of_its_own(tmp_path: Path) -> None:
    library = Library.open(tmp_path / "library.sqlite")
    library.close()
    library.close()
    with pytest.raises(LibraryError):
        library.history.count()
    with pytest.raises(LibraryError):
        library.prompts.add("a fox")
