"""Every text of the window can be said in another language, and is said in German."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

os.environ["QT_FFMPEG_DECODING_HW_DEVICE_TYPES"] = ","
os.environ["QT_FFMPEG_ENCODING_HW_DEVICE_TYPES"] = ","

import pytest
from PySide6.QtCore import QLocale, QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QMenu, QWidget

import podium
import podium_resources
from podium.assets import read_bytes
from podium.errors import JobRefusedError, PodiumError
from podium.jobs import PHASE_WORDS, Phase
from podium.media.errors import writing_failed
from podium.models.errors import CheckpointError
from podium.multigpu import WorkerDiedError
from podium.ui import translation
from podium.ui.messages import message_of
from podium.ui.state.phase_words import SOURCES, phase_words
from podium.ui.state.sentences import said, said_of
from podium.ui.state.values import ErrorMessage
from podium.ui.translation import LANGUAGES, choose_language, install_translation
from podium.ui.views.main_window import MainWindow
from podium.ui.views.widgets.number_field import NumberField

from tests.ui.views import scenes, work_scenes
from tests.ui.views.scenes import Scene

UI = Path(podium.__file__).parent / "ui"
COLLECTOR = Path(__file__).parents[2] / "packaging" / "sentences.py"
FOLDER = Path(podium_resources.__file__).parent / "translations"
# Names, units and what is spelled alike.
PLACEHOLDER = re.compile(r"\{[^{}]*\}|%n|%\d")


@dataclass(frozen=True)
class Message:
    """A text with its translation."""

    context: str
    source: str
    text: str
    is_done: bool


def messages(file: Path) -> list[Message]:
    """Return what a file of translations holds."""
    found = []
    for context in ElementTree.parse(file).getroot().iter("context"):
        for message in context.iter("message"):
            said = message.find("translation")
            assert said is not None
            name, source = context.findtext("name"), message.findtext("source")
            assert name is not None
            assert source is not None
            found.append(Message(name, source, said.text or "", is_done=said.get("type") is None))
    return found


def tool(name: str, *arguments: str | Path) -> None:
    """Run one of Qt's own."""
    subprocess.run([Path(sys.executable).with_name(f"pyside6-{name}"), *arguments], check=True, capture_output=True)


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def stored(language: str) -> list[Message]:
    return messages(FOLDER / f"podium_{language}.ts")


def test_every_translation_is_of_a_language_that_can_be_chosen() -> None:
    assert {path.stem for path in FOLDER.glob("*.ts")} == {f"podium_{language}" for language in LANGUAGES}


def test_what_the_window_says_is_what_is_translated(language: str, stored: list[Message], tmp_path: Path) -> None:
    """If this fails: `packaging/dev translate` brings the file up to date and names what lacks a translation."""
    copy = tmp_path / f"podium_{language}.ts"
    shutil.copy(FOLDER / copy.name, copy)
    collected = tmp_path / "sentences.py"
    collect = [sys.executable, COLLECTOR, UI.parent, collected, tmp_path / "sentences.json"]
    subprocess.run(collect, check=True, capture_output=True)
    sources = sorted(str(path) for path in UI.rglob("*.py"))
    tool("lupdate", "-silent", "-locations", "none", "-no-obsolete", *sources, collected, "-ts", copy)
    said = {(message.context, message.source) for message in messages(copy)}
    known = {(message.context, message.source) for message in stored}
    assert len(said) > 900
    assert said - known == set()
    assert known - said == set()


def test_nothing_is_left_untranslated(stored: list[Message]) -> None:
    assert [(one.context, one.source) for one in stored if not one.is_done or not one.text.strip()] == []


def test_what_is_filled_in_is_filled_in_there_too(stored: list[Message]) -> None:
    wrong = [one for one in stored if sorted(PLACEHOLDER.findall(one.source)) != sorted(PLACEHOLDER.findall(one.text))]
    assert wrong == []


def test_spaces_dots_and_letters_for_keys_are_kept(stored: list[Message]) -> None:
    def frame(text: str) -> tuple[object, ...]:
        stripped = text.strip()
        return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :], stripped.endswith("…"), "&" in text

    assert [one for one in stored if frame(one.source) != frame(one.text)] == []


def test_german_quotes_are_german(stored: list[Message], language: str) -> None:
    assert language == "de"
    assert [one.text for one in stored if re.search('[”"]|“\\w', one.text)] == []
    assert [one.text for one in stored if one.text.count("„") != one.text.count("“")] == []


def test_german_says_sie(stored: list[Message], language: str) -> None:
    assert language == "de"
    assert [one.text for one in stored if re.search(r"\b(du|dein\w*|dich|dir)\b", one.text, re.IGNORECASE)] == []


def test_the_compiled_file_is_that_of_the_texts(language: str, tmp_path: Path) -> None:
    compiled = tmp_path / "made.qm"
    tool("lrelease", "-silent", FOLDER / f"podium_{language}.ts", "-qm", compiled)
    assert compiled.read_bytes() == read_bytes(f"translations/podium_{language}.qm")


def test_phases_have_words_that_can_be_found_for_translation() -> None:
    assert set(SOURCES) == set(PHASE_WORDS.values())
    assert {phase_words(phase) for phase in Phase} == set(SOURCES)


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        (["de-AT", "en"], "de"),
        (["de_DE.UTF-8"], "de"),
        (["en-GB", "de"], "en"),
        (["fr-FR", "de-CH", "en"], "de"),
        (["fr"], "en"),
        (["C"], "en"),
        ([], "en"),
    ],
)
def test_the_first_language_that_podium_speaks_is_chosen(wanted: list[str], chosen: str) -> None:
    assert choose_language(wanted) == chosen


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    """Have the application speak German for a test."""
    before, numbers = set(qapp.findChildren(QTranslator)), QLocale()
    assert install_translation(qapp, "de") == "de"
    yield
    QLocale.setDefault(numbers)
    for translator in set(qapp.findChildren(QTranslator)) - before:
        qapp.removeTranslator(translator)
        translator.deleteLater()


def said_in(window: QWidget) -> set[str]:
    """Return every word that a window shows or tells."""
    widgets = window.findChildren(QWidget)
    texts = [one.text() for one in widgets if isinstance(one, QLabel | QAbstractButton)]
    texts += [action.text() for action in window.findChildren(QAction)]
    texts += [menu.title() for menu in window.findChildren(QMenu)]
    for one in widgets:
        texts += [one.toolTip(), one.accessibleName(), one.windowTitle()]
    return {text for text in texts if text}


@pytest.mark.parametrize(
    "scene", [scenes.welcomed, scenes.guided, scenes.running, scenes.failed, work_scenes.queued, work_scenes.paused]
)
def test_in_german_nothing_is_said_in_english(
    german: None, show_scene: Callable[[Scene], MainWindow], scene: Scene
) -> None:
    known = messages(FOLDER / "podium_de.ts")
    german_words = {one.text for one in known}
    # What is the same in both, and what another text is translated to, is no English.
    english = {one.source for one in known if one.source != one.text} - german_words
    assert said_in(show_scene(scene)) & english == set()


def test_in_german_every_menu_has_letters_of_its_own(german: None, show_scene: Callable[[Scene], MainWindow]) -> None:
    window = show_scene(scenes.guided)
    bar = [action.text() for action in window.menuBar().actions()]
    menus = [[action.text() for action in menu.actions() if action.text()] for menu in window.findChildren(QMenu)]
    for texts in (bar, *menus):
        letters = [text[text.index("&") + 1].lower() for text in texts if "&" in text]
        assert len(set(letters)) == len(letters), texts


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (
            JobRefusedError("A height of 500 pixels cannot be made. It must be a multiple of 64: 448 or 512 would do."),
            (
                "Eine Höhe von 500 Pixeln ist nicht möglich. Sie muss ein Vielfaches von 64 sein: möglich wäre 448 "
                "oder 512."
            ),
        ),
        (
            writing_failed("Fuchs.mp4", "/mnt/Clips", OSError(errno.ENOSPC, "No space left on device")),
            (
                "„Fuchs.mp4“ konnte nicht in „/mnt/Clips“ geschrieben werden: Es ist kein Platz mehr dafür. Schaffen "
                "Sie Platz, oder wählen Sie einen anderen Ordner."
            ),
        ),
        (
            CheckpointError(
                "“ltx.safetensors” is cut off: 1,234,567 of 43,000,000,000 bytes are missing. Its download did not "
                "end: fetch it again."
            ),
            (
                "„ltx.safetensors“ ist abgeschnitten: Es fehlen 1.234.567 von 43.000.000.000 Bytes. Der Download wurde "
                "nicht fertig: Laden Sie die Datei erneut herunter."
            ),
        ),
        (
            WorkerDiedError(
                "Rank 1 (cuda:1) was killed by the system while it was in stage 1: probably out of memory.",
                rank=1,
                phase=Phase.STAGE_1,
                signal=signal.SIGKILL,
            ),
            (
                "Rang 1 (cuda:1) wurde vom System beendet (zuletzt: Stufe 1): wahrscheinlich reichte der Speicher "
                "nicht. Weniger Ränge auf der CPU, ein kleinerer Clip oder mehr Arbeitsspeicher können helfen."
            ),
        ),
        (PodiumError("Somebody else’s words."), "Somebody else’s words."),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_an_error_of_another_room_is_told_in_german(german: None, error: PodiumError, sentence: str) -> None:
    assert message_of(error).sentence == sentence
    if not isinstance(error, WorkerDiedError):
        assert said_of(error) == ErrorMessage(sentence, error.details)


def test_details_stay_as_they_were_logged(german: None) -> None:
    message = message_of(CheckpointError("“a” is empty. Its download has failed.", details="OSError: at byte 7"))
    assert message.details.splitlines()[-1] == "OSError: at byte 7"


def test_in_german_fields_take_and_show_numbers_as_germans_write_them(german: None) -> None:
    field = NumberField("Länge", (0.0, 100.0), num_decimals=2)
    field.show_number(4.5)
    assert field.text() == "4,50"
    assert field.valueFromText("7,25") == 7.25
    field.deleteLater()


def test_without_a_translation_other_rooms_are_told_as_they_wrote(qapp: QApplication) -> None:
    sentence = "“a” is cut off: 1,234 of 5,678 bytes are missing. Its download did not end: fetch it again."
    assert said(sentence) == sentence


@pytest.mark.logs_warnings
def test_words_that_cannot_be_read_leave_the_window_in_english(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(translation, "read_bytes", lambda _name: b"no translation")
    assert install_translation(qapp, "de") == "en"
