"""Logs leave the machine without what tells of its owner; files of the same folder stay recognisable as such."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st

from podium.multigpu.log_export import Redactor, export_text, find_logs

NAMES = st.text(st.sampled_from("abcxyzÄß漢 -_.0"), min_size=4, max_size=12).map(str.strip).filter(
    lambda name: len(name) > 3 and not name.startswith(("-", ".")) and any(letter.isalpha() for letter in name)
)  # fmt: skip


def redactor() -> Redactor:
    return Redactor(Path("/home/ann lee"), "annlee")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("read /home/ann lee/models/a.safetensors twice", "read <folder 1>/a.safetensors twice"),
        ("“/mnt/my disk/LTX 2/a.safetensors” is whole", "“<folder 1>/a.safetensors” is whole"),
        ("no file /mnt/my disk/b.mp4: gone", "no file <folder 1>/b.mp4: gone"),
        ("PosixPath('/srv/secret/gemma')", "PosixPath('<folder 1>/gemma')"),
        ("the folder /srv/secret/out is full", "the folder <folder 1>/out is full"),
        ("home is /home/ann lee", "home is ~"),
        ("annlee said so; annlees did not", "<user> said so; annlees did not"),
        ('File "/opt/x/site-packages/torch/nn.py", line 3', 'File ".../site-packages/torch/nn.py", line 3'),
        ('File "/usr/lib/python3.11/socket.py", line 3', 'File "/usr/lib/python3.11/socket.py", line 3'),
        ("see https://example.org/a/b.json", "see https://example.org/a/b.json"),
        ("step 3/8, 1/2 of 4 GB, and/or", "step 3/8, 1/2 of 4 GB, and/or"),
    ],
)
def test_private_paths_are_replaced_and_the_rest_stays(line: str, expected: str) -> None:
    assert redactor().redact(line) == expected


def test_a_folder_that_comes_again_has_the_same_name() -> None:
    text = redactor().redact("/srv/a/x.mp4 /srv/b/y.mp4\n/srv/a/z.mp4")
    assert text == "<folder 1>/x.mp4 <folder 2>/y.mp4\n<folder 1>/z.mp4"


@hypothesis.given(NAMES, NAMES, NAMES, st.sampled_from(["“{}”", "'{}'", "at {}", "PosixPath('{}')", "{}: broken"]))
def test_no_name_of_a_folder_or_user_gets_through(user: str, disk: str, folder: str, template: str) -> None:
    hypothesis.assume(len({user, disk, folder}) == 3)
    quiet = Redactor(Path("/home") / user, user)
    for path in (f"/home/{user}/{folder}/Modell.safetensors", f"/media/{disk}/{folder}/Modell.safetensors"):
        text = quiet.redact(f"WARNING rank 0: {template.format(path)}")
        assert "Modell.safetensors" in text
        assert not any(f"/{name}/" in text or f"{name}/" in text for name in (user, disk, folder))


def test_the_newest_fleet_comes_first_and_its_files_in_the_order_they_were_written(tmp_path: Path) -> None:
    for fleet, names in {"fleet-1": ["rank-0.log"], "fleet-2": ["rank-10.log", "rank-2.log", "rank-2.log.1"]}.items():
        (tmp_path / fleet).mkdir()
        for name in names:
            (tmp_path / fleet / name).write_text(f"{name} at /srv/private/x.mp4\n", encoding="utf-8")
    (tmp_path / "fleet-3").mkdir()
    newest, oldest = find_logs(tmp_path)
    assert [path.name for path in newest.files] == ["rank-2.log.1", "rank-2.log", "rank-10.log"]
    exported = "".join(export_text([newest, oldest], redactor().redact))
    assert exported.count("== fleet-2/") == 3
    assert exported.count("at <folder 1>/x.mp4") == 4
    assert "private" not in exported
