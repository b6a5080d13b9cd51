"""What the rooms without Qt say is read off their code: literals, f-strings, and the words that can fill these."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "packaging" / "sentences.py"
PACKAGE = ROOT / "app" / "podium"


@pytest.fixture(scope="module")
def sentences() -> Iterator[ModuleType]:
    spec = spec_from_file_location("podium_sentences_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # dataclasses look their module up by its name
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def said(sentences: ModuleType) -> dict[str, list[object]]:
    """Return what every module of the product says."""
    found: dict[str, list[object]] = sentences.collect(PACKAGE)
    return found


@pytest.fixture
def collected(sentences: ModuleType, tmp_path: Path) -> Callable[[str], dict[str, object]]:
    """Return a function that collects from a module of one room, by text."""

    def collect(code: str) -> dict[str, object]:
        (tmp_path / "errors.py").write_text("class PodiumError(Exception): ...\nclass FileError(PodiumError): ...\n")
        (tmp_path / "room.py").write_text(code)
        found = sentences.collect(tmp_path)
        return {template.text: template for template in found.get("room.py", [])}

    return collect


def test_a_place_to_fill_has_a_number(collected: Callable[[str], dict[str, object]]) -> None:
    found = collected('def f(a, b):\n    raise FileError(f"“{a.name}” has {b + 1} parts.")')
    assert list(found) == ["“{0}” has {1} parts."]


def test_places_that_format_fills_have_numbers_too(collected: Callable[[str], dict[str, object]]) -> None:
    found = collected('REASON = "Made for {build}, not {driver}; {build} it is."')
    assert list(found) == ["Made for {0}, not {1}; {0} it is."]


def test_numbers_written_the_english_way_are_marked(collected: Callable[[str], dict[str, object]]) -> None:
    found = collected('def f(a, b, c, d):\n    return f"It has {a:,} of {b:.1f} at {c} and {float(d)} and {a:05d}."')
    template = found["It has {0} of {1} at {2} and {3} and {4}."]
    assert template.numbers == (0, 1, 3)  # type: ignore[attr-defined]  # the module is loaded by its path


def choices(template: object) -> dict[int, tuple[str, ...]]:
    return dict(template.choices)  # type: ignore[attr-defined]  # the module is loaded by its path


@pytest.mark.parametrize(
    "code",
    [
        """def f(a): return f"This {'file' if a else 'folder'} is none." """,
        """def f(a):\n    what = "file" if a else "folder"\n    return f"This {what} is none." """,
        """KINDS = {1: "file", 2: "folder"}\ndef f(a): return f"This {KINDS[a]} is none." """,
        """def f(a): return f"This {kind(a)} is none."\ndef kind(a):\n    if a: return "file"\n    return "folder" """,
        """def f(a):\n    for kind, n in (("file", 1), ("folder", 2)): yield f"This {kind} is none." """,
        """def f(a):\n    for n, kind in zip(a, ("file", "folder")): yield f"This {kind} is none." """,
        """def f(a):\n    what, n = ("file", 1) if a else ("folder", 2)\n    return f"This {what} is none." """,
    ],
)
def test_words_that_fill_a_place_are_found(collected: Callable[[str], dict[str, object]], code: str) -> None:
    found = collected(code)
    assert set(found) == {"This {0} is none.", "file", "folder"}
    assert choices(found["This {0} is none."]) == {0: ("file", "folder")}


@pytest.mark.parametrize(
    "code",
    [
        """def f(a, kind="file"): return f"This {kind} is none."\ndef g(): f(1, "folder")""",
        """KINDS = {1: "file", 2: "folder"}\ndef f(a): return f"This {KINDS.get(a, str(a))} is none." """,
    ],
)
def test_where_there_may_be_others_any_words_can_stand(
    collected: Callable[[str], dict[str, object]], code: str
) -> None:
    found = collected(code)
    assert set(found) == {"This {0} is none.", "file", "folder"}
    assert choices(found["This {0} is none."]) == {}


def test_tables_and_sets_of_words_are_found(collected: Callable[[str], dict[str, object]]) -> None:
    found = collected('_KIND_WORDS = {1: "unreadable"}\nclass Slot(StrEnum):\n    HEAD = "duration_head"\n')
    assert set(found) == {"unreadable", "duration head"}


@pytest.mark.parametrize(
    "code",
    [
        '"""What this module is for."""',
        'def f():\n    """Return a thing or two."""',
        'def f(): _log.warning("It went wrong: %s", 1)',
        'def f(a): raise ValueError(f"a is {a}, which no code gives")',
        'def f(a): assert a, "somebody forgot it"',
        'def f(a): raise FileError(a, details="offset beyond the end")',
        'def f(a): raise broken(a, "offset beyond the end")\ndef broken(a, details): ...',
        'def f(a): return f"the key is {a!r} here"',
        'def f(a): return f"SELECT {a} FROM words"',
        'def f(a): return f"{a}.weight"',
        'NAME = "name"',
    ],
)
def test_what_no_artist_reads_is_left_out(collected: Callable[[str], dict[str, object]], code: str) -> None:
    assert collected(code) == {}


def test_an_error_of_the_family_is_read_in_every_room(said: dict[str, list[object]]) -> None:
    rooms = {name.partition("/")[0] for name in said}
    assert rooms >= {"geometry.py", "helper", "jobs.py", "library", "media", "models", "multigpu", "pipelines"}
    assert "settings.py" in rooms
    assert sum(map(len, said.values())) > 350


def raised_texts(path: Path) -> Iterator[str]:
    """Yield the first plain literal of each error of the artist's family that a module raises outright."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            name = getattr(node.exc.func, "id", "")
            first = node.exc.args[0]
            if name in ("JobRefusedError", "CheckpointError", "MediaError", "LoraError", "RunnerError") and isinstance(
                first, ast.Constant
            ):
                yield str(first.value)


def test_no_sentence_that_is_raised_outright_is_missed(said: dict[str, list[object]]) -> None:
    known = {template.text for templates in said.values() for template in templates}  # type: ignore[attr-defined]  # as above
    rooms = [PACKAGE / room for room in ("helper", "library", "media", "models", "multigpu", "pipelines")]
    raised = {text for room in rooms for path in room.rglob("*.py") for text in raised_texts(path)}
    assert len(raised) > 10
    assert raised - known == set()


def test_the_shipped_catalogue_is_that_of_the_code(sentences: ModuleType, said: dict[str, list[object]]) -> None:
    """If this fails: `packaging/dev translate` writes it anew."""
    shipped = ROOT / "resources" / "podium_resources" / "translations" / "sentences.json"
    assert json.loads(sentences.catalogue(sentences.unique(said))) == json.loads(shipped.read_text(encoding="utf-8"))


def test_what_qt_collects_from_is_a_program_that_says_each(sentences: ModuleType) -> None:
    texts = ["It is “{0}”.", 'A "b"\nand\tc', "back\\slash"]
    source = sentences.source_for_qt([sentences.Template(text) for text in texts])
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    assert [[ast.literal_eval(argument) for argument in call.args] for call in calls] == [
        ["Sentences", text] for text in texts
    ]
