"""Find the template that a sentence of another room was made from, and say it in another language. Without Qt.

Rooms without Qt write plain English, sometimes one sentence around another. A catalogue holds the templates of all they
can say; a sentence is taken apart by them, each part is said by its own translation, and put together again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Translate = Callable[[str], str]
_HOLE = re.compile(r"\{(\d+)\}")
_WORD = re.compile(r"[^\W\d_]+")
_QUOTED = re.compile(r"“([^“”]*)”")
# What is known may stand in brackets, between a number and names in brackets, or behind a name.
_WRAPPED = (re.compile(r"(\s*\()(.+)(\))"), re.compile(r"(\d+ )(.+?)( \(.*\))"), re.compile(r"(\S+: )(.+)()"))
_MAX_LETTERS = 2000
_NUMBER_PATTERN = r"[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?|[+-]?inf|nan"
_NUMBER = re.compile(_NUMBER_PATTERN)
# Where one sentence may end and the next begin.
_SENTENCE_END = re.compile(r"(?<=[.?!:…]) ")
_LISTS = ("; ", ", ")
# Below so many letters of its own a template says little of where a text came from.
_FEW_LETTERS = 12
_MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Marks:
    """How a language writes numbers, and names in quotes.

    Args:
        point: Between whole and fraction.
        group: Between groups of three digits.
        quotes: Before and after a name.
    """

    point: str = "."
    group: str = ","
    quotes: tuple[str, str] = ("“", "”")

    def rewrite(self, number: str) -> str:
        """Return a number that was written the English way; anything else stays as it is."""
        if _NUMBER.fullmatch(number) is None:
            return number
        whole, point, fraction = number.partition(".")
        return whole.replace(",", self.group) + (self.point if point else "") + fraction

    def quote(self, text: str) -> str:
        """Return a text whose names were quoted the English way."""
        before, after = self.quotes
        return _QUOTED.sub(lambda name: f"{before}{name[1]}{after}", text)


@dataclass(frozen=True, slots=True)
class Template:
    """A text with places to fill.

    Args:
        text: With `{0}`, `{1}` ... where something is filled in.
        numbers: The places that take a number written the English way.
        pattern: What was made from it matches this, one group a place.
        pieces: Its own text between the places, in order.
        names: The places in quotes: names of files and the like, which are said as they are.
        choices: What stands at places that take no other words.
    """

    text: str
    numbers: frozenset[int]
    pattern: str
    pieces: tuple[str, ...]
    names: frozenset[int]
    choices: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, numbers: Sequence[int] = (), choices: Mapping[int, Sequence[str]] | None = None) -> Template:
        """Make one from an entry of the catalogue."""
        known = choices or {}
        pieces = _HOLE.split(text)
        pattern = "".join(
            _group_pattern(known.get(int(piece)), is_number=int(piece) in numbers) if place % 2 else re.escape(piece)
            for place, piece in enumerate(pieces)
        )
        names = {int(piece) for place, piece in enumerate(pieces) if place % 2 and pieces[place - 1].endswith("“")}
        own = tuple(pieces[::2])
        words = frozenset(choice for texts in known.values() for choice in texts)
        return cls(text, frozenset(numbers), pattern, own, frozenset(names), words)

    @property
    def num_letters(self) -> int:
        """Return how many letters it has of its own."""
        return sum(map(_num_letters, self.pieces))

    @property
    def places(self) -> list[int]:
        """Return its places in the order in which they stand."""
        return [int(place) for place in _HOLE.findall(self.text)]

    def values(self, text: str) -> dict[int, str] | None:
        """Return what fills the places of a text that was made from this; None if it was not."""
        if not self._may_have_made(text):
            return None
        # Made into an expression when it is needed: nearly all never are.
        match = re.fullmatch(self.pattern, text, re.DOTALL)
        return None if match is None else dict(zip(self.places, match.groups(), strict=True))

    def _may_have_made(self, text: str) -> bool:
        """Return whether its own text stands there in order: quick, where the pattern may not be."""
        if not (text.startswith(self.pieces[0]) and text.endswith(self.pieces[-1])):
            return False
        place = 0
        for piece in self.pieces:
            place = text.find(piece, place)
            if place < 0:
                return False
            place += len(piece)
        return True


@dataclass(frozen=True, slots=True)
class _Said:
    """A text in another language.

    Args:
        num_known: How many letters of the original were found in the catalogue.
        num_unknown: How many were not, and are no name.
    """

    text: str
    num_known: int = 0
    num_unknown: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        return -self.num_unknown, self.num_known


@dataclass(frozen=True)
class SentenceFinder:
    """Says what other rooms wrote.

    Args:
        templates: All they can write.
        translate: Gives a template in the other language, its places kept.
        marks: Of that language.
    """

    templates: tuple[Template, ...]
    translate: Translate
    marks: Marks = Marks()
    _plain: set[str] = field(init=False, default_factory=set, repr=False)
    _plain_small: dict[str, str] = field(init=False, default_factory=dict, repr=False)
    _filled: list[Template] = field(init=False, default_factory=list, repr=False)

    def __post_init__(self) -> None:
        for template in self.templates:
            if template.places:
                self._filled.append(template)
            else:
                self._plain.add(template.text)
                self._plain_small.setdefault(template.text.casefold(), template.text)
        # Where two know as much of a text, the one that says more by itself is the one it was made from.
        self._filled.sort(key=lambda template: (-template.num_letters, -len(template.text)))

    def say(self, text: str) -> str:
        """Return a text in the other language; what no room writes stays as it is."""
        return "\n".join(self._said(line, 0).text for line in text.split("\n"))

    def num_unknown(self, text: str) -> int:
        """Return how many letters of a text stay as they are, though they are no name in quotes."""
        return sum(self._said(line, 0).num_unknown for line in text.split("\n"))

    def _said(self, text: str, depth: int) -> _Said:
        if text in self._plain:
            return _Said(self.translate(text), _num_letters(text))
        # Names in quotes are known for what they are.
        unknown = _Said(self.marks.quote(text), 0, _num_letters(_QUOTED.sub("", text)))
        if not 0 < unknown.num_unknown <= _MAX_LETTERS or depth > _MAX_DEPTH:
            return unknown
        ways = (self._whole, self._sequence, self._list, self._wrapped)
        best = unknown
        for way in ways:
            best = max((best, *way(text, depth)), key=lambda said: said.rank)
            if not best.num_unknown:
                break
        return best

    def _whole(self, text: str, depth: int) -> Iterator[_Said]:
        """Yield a text said as one template, or as one whose first letter was made large or small for its place."""
        yield from self._as_template(text, depth)
        swapped = text[:1].swapcase() + text[1:]
        for said in self._as_template(swapped, depth):
            first = said.text[:1].upper() if text[:1].isupper() else said.text[:1]
            yield _Said(first + said.text[1:], said.num_known, said.num_unknown)
        source = self._plain_small.get(text)
        if source is not None:
            yield _Said(self.translate(source), _num_letters(source))

    def _as_template(self, text: str, depth: int) -> Iterator[_Said]:
        if text in self._plain:
            yield _Said(self.translate(text), _num_letters(text))
            return
        for template in self._filled:
            values = template.values(text)
            if values is not None:
                said = self._filled_in(template, values, depth)
                if template.num_letters >= _FEW_LETTERS or said.num_known >= said.num_unknown:
                    yield said

    def _filled_in(self, template: Template, values: Mapping[int, str], depth: int) -> _Said:
        parts = {place: self._part(template, place, value, depth) for place, value in values.items()}
        source = self.translate(template.text)
        return _Said(
            _HOLE.sub(lambda hole: parts[int(hole[1])].text if int(hole[1]) in parts else hole[0], source),
            template.num_letters + sum(part.num_known for part in parts.values()),
            sum(part.num_unknown for part in parts.values()),
        )

    def _part(self, template: Template, place: int, value: str, depth: int) -> _Said:
        if place in template.names:
            return _Said(value.replace("”, “", "{1}, {0}".format(*self.marks.quotes)))
        if place in template.numbers:
            return _Said(self.marks.rewrite(value))
        said = self._said(value, depth + 1)
        # What is written into the code and is no word of the catalogue is a name.
        return _Said(value) if said.num_unknown and value in template.choices else said

    def _sequence(self, text: str, depth: int) -> Iterator[_Said]:
        """Yield a text said sentence by sentence, as few and as long ones as there are templates for."""
        ends = [match.start() for match in _SENTENCE_END.finditer(text)]
        for end in reversed(ends):
            head = self._best_whole(text[:end], depth)
            if head.num_known and not head.num_unknown:
                tail = self._said(text[end + 1 :], depth + 1)
                yield _Said(f"{head.text} {tail.text}", head.num_known + tail.num_known, tail.num_unknown)
                return
        for end in ends:
            tail = self._best_whole(text[end + 1 :], depth)
            if tail.num_known and not tail.num_unknown:
                yield _Said(f"{text[:end]} {tail.text}", tail.num_known, _num_letters(text[:end]))
                return

    def _best_whole(self, text: str, depth: int) -> _Said:
        unknown = _Said(text, 0, _num_letters(text))
        return max((unknown, *self._whole(text, depth + 1)), key=lambda said: said.rank)

    def _list(self, text: str, depth: int) -> Iterator[_Said]:
        """Yield a text said as a list of things of which some are known."""
        body = text.removesuffix(".")
        for mark in _LISTS:
            if mark in body:
                parts = [self._said(part, depth + 1) for part in body.split(mark)]
                known = sum(part.num_known for part in parts)
                if known:
                    said = mark.join(part.text for part in parts) + text[len(body) :]
                    yield _Said(said, known, sum(part.num_unknown for part in parts))
                    return

    def _wrapped(self, text: str, depth: int) -> Iterator[_Said]:
        """Yield a text of which what is known stands in or before brackets, or behind a name."""
        for pattern in _WRAPPED:
            match = pattern.fullmatch(text)
            if match is not None:
                said = self._said(match[2], depth + 1)
                if said.num_known:
                    yield _Said(match[1] + said.text + match[3], said.num_known, said.num_unknown)


def read_templates(data: bytes) -> tuple[Template, ...]:
    """Return the templates of a shipped catalogue."""
    return tuple(
        Template.of(
            entry["text"],
            entry.get("numbers", ()),
            {int(place): texts for place, texts in entry.get("choices", {}).items()},
        )
        for entry in json.loads(data)
    )


def _group_pattern(choices: Sequence[str] | None, *, is_number: bool) -> str:
    if is_number:
        return f"({_NUMBER_PATTERN})"
    if choices is None:
        return "(.*?)"
    return "(" + "|".join(".*?".join(map(re.escape, _HOLE.split(choice)[::2])) for choice in choices) + ")"


def _num_letters(text: str) -> int:
    return sum(map(len, _WORD.findall(_HOLE.sub(" ", text))))
