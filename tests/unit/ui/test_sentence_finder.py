"""A sentence of another room is taken apart by the template it was made from, and said in another language."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.assets import read_bytes
from podium.ui.state.sentence_finder import Marks, SentenceFinder, Template, read_templates

_HOLE = re.compile(r"\{(\d+)\}")
GERMAN = Marks(",", ".", ("„", "“"))
WORDS = {
    "The disk is full.": "Der Datenträger ist voll.",
    "the disk is full. Make room on it.": "Der Datenträger ist voll. Schaffen Sie Platz.",
    "“{0}” is {1}. {2}": "„{0}“ ist {1}. {2}",
    "a LoRA": "ein LoRA",
    "a model's {0}": "ein Teil ({0})",
    "video decoder": "Video-Decoder",
    "vocoder": "Vocoder",
    "choose the audio VAE of the model.": "wählen Sie den Audio-VAE des Modells.",
    "In the {0}'s place {1}": "An der Stelle „{0}“ {1}",
    "audio VAE": "Audio-VAE",
    "“{0}” could not be written to “{1}”: {2}": "„{0}“ konnte nicht in „{1}“ geschrieben werden: {2}",
    "{0} of {1} bytes are missing.": "Von {1} Bytes fehlen {0}.",
    "{0} GB": "{0} GB",
    "This clip needs {0} there, and {1} are free.": "Dieser Clip braucht dort {0}, und {1} sind frei.",
    "{0} does not hold {1} {2}{3}: {4} {5}.": "{0} fasst nicht {1} {2}{3}: {4} {5}.",
    "process": "Prozess",
    "processes": "Prozesse",
    " on the CPU, each with its own": " auf der CPU, jeder mit eigenen",
    "it needs": "er braucht",
    "they need": "sie brauchen",
    "{0} and {1}": "{0} und {1}",
    "{0} or {1}": "{0} oder {1}",
    "{0} frames": "{0} Bilder",
    "What would fit: {0}.": "Platz hätten: {0}.",
    "the same clip on {0} GPUs": "derselbe Clip auf {0} GPUs",
    "is used by another Podium{0}.": "wird von einem anderen Podium verwendet{0}.",
    "process {0}": "Prozess {0}",
    "unknown to this model": "diesem Modell unbekannt",
    "Loading LoRAs": "LoRAs laden",
}
NUMBERS = {"{0} of {1} bytes are missing.": (0, 1), "{0} GB": (0,)}
CHOICES = {
    "{0} does not hold {1} {2}{3}: {4} {5}.": {
        2: ("process", "processes"),
        3: ("", " on the CPU, each with its own"),
        4: ("it needs", "they need"),
    },
    "is used by another Podium{0}.": {0: ("", " ({0})")},
}


@pytest.fixture(scope="module")
def finder() -> SentenceFinder:
    templates = tuple(Template.of(text, NUMBERS.get(text, ()), CHOICES.get(text)) for text in WORDS)
    return SentenceFinder(templates, WORDS.__getitem__, GERMAN)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The disk is full.", "Der Datenträger ist voll."),
        ("“fox, a LoRA.mp4” is a LoRA. The disk is full.", "„fox, a LoRA.mp4“ ist ein LoRA. Der Datenträger ist voll."),
        (
            "“a.mp4” could not be written to “/clips”: the disk is full. Make room on it.",
            "„a.mp4“ konnte nicht in „/clips“ geschrieben werden: Der Datenträger ist voll. Schaffen Sie Platz.",
        ),
        (
            "“v” is a model's video decoder and vocoder. In the audio VAE's place choose the audio VAE of the model.",
            (
                "„v“ ist ein Teil (Video-Decoder und Vocoder). "
                "An der Stelle „Audio-VAE“ wählen Sie den Audio-VAE des Modells."
            ),
        ),
        (
            "“v” is a LoRA. Choose the audio VAE of the model.",
            "„v“ ist ein LoRA. Wählen Sie den Audio-VAE des Modells.",
        ),
        ("1,234 of 5,678,901 bytes are missing.", "Von 5.678.901 Bytes fehlen 1.234."),
        (
            "This clip needs 12.5 GB there, and 9.0 GB are free.",
            "Dieser Clip braucht dort 12,5 GB, und 9,0 GB sind frei.",
        ),
        (
            "“It” does not hold 2 processes on the CPU, each with its own: they need 84.2 GB.",
            "„It“ fasst nicht 2 Prozesse auf der CPU, jeder mit eigenen: sie brauchen 84,2 GB.",
        ),
        ("“It” does not hold 1 process: it needs 2.0 GB.", "„It“ fasst nicht 1 Prozess: er braucht 2,0 GB."),
        (
            "What would fit: 97 frames, 33 frames or the same clip on 2 GPUs.",
            "Platz hätten: 97 Bilder, 33 Bilder oder derselbe Clip auf 2 GPUs.",
        ),
        ("is used by another Podium (process 7).", "wird von einem anderen Podium verwendet (Prozess 7)."),
        ("12 unknown to this model (1, 2, …)", "12 diesem Modell unbekannt (1, 2, …)"),
        ("loading loras", "LoRAs laden"),
        ("The disk is full. The disk is full.", "Der Datenträger ist voll. Der Datenträger ist voll."),
        ("The disk is full.\nThe disk is full.", "Der Datenträger ist voll.\nDer Datenträger ist voll."),
    ],
)
def test_a_sentence_is_said_part_by_part(finder: SentenceFinder, text: str, said: str) -> None:
    assert finder.say(text) == said
    assert finder.num_unknown(text) == 0


@pytest.mark.parametrize(
    "text",
    ["", "Nobody wrote this, or that.", "Error and trouble", "Traceback (most recent call last):", "cuda:0", "3"],
)
def test_what_nobody_wrote_stays_as_it_is(finder: SentenceFinder, text: str) -> None:
    assert finder.say(text) == text


def test_what_is_known_around_something_unknown_is_said(finder: SentenceFinder) -> None:
    assert finder.say("The disk is full. Ask somebody else.") == "Der Datenträger ist voll. Ask somebody else."
    assert finder.num_unknown("The disk is full. Ask somebody else.") == len("Asksomebodyelse")


def test_a_version_is_no_number_to_rewrite(finder: SentenceFinder) -> None:
    assert finder.say("“2.3” is a LoRA. The disk is full.") == "„2.3“ ist ein LoRA. Der Datenträger ist voll."


@given(st.floats(-1e9, 1e9), st.sampled_from([".0f", ".1f", ",.2f", ",", "g"]))
def test_a_number_keeps_its_digits_and_its_marks_trade_places(value: float, form: str) -> None:
    number = format(value, form)
    said = GERMAN.rewrite(number)
    assert said.translate(str.maketrans(",.", ".,")) == number
    assert Marks().rewrite(number) == number


@given(st.text(max_size=80))
def test_any_text_can_be_said(finder: SentenceFinder, text: str) -> None:
    assert isinstance(finder.say(text), str)


CATALOGUE = read_bytes("translations/sentences.json")
SHIPPED = read_templates(CATALOGUE)
ENTRIES: dict[str, dict[str, Any]] = {entry["text"]: entry for entry in json.loads(CATALOGUE)}


def filled(text: str) -> str:
    """Return what a room may make of a template: numbers in its places, or the first words that can stand there."""
    choices = ENTRIES.get(text, {}).get("choices", {})
    return _HOLE.sub(lambda hole: filled(choices[hole[1]][0]) if hole[1] in choices else str(7 + int(hole[1])), text)


@pytest.mark.parametrize("template", ENTRIES)
def test_every_shipped_template_is_found_in_what_it_makes(template: str) -> None:
    """One that another stands in the way of would be said in the words of that one."""
    finder = SentenceFinder(SHIPPED, lambda text: f"<{text}>" if text == template else text)
    said = finder.say(filled(template))
    assert said.startswith("<"), said
    assert said.endswith(">"), said
    assert finder.num_unknown(filled(template)) == 0
