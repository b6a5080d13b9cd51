#!/usr/bin/env python3
"""Collect the sentences that rooms without Qt say: `packaging/sentences.py PACKAGE SOURCE CATALOGUE`.

Those rooms write plain English and know no translator. What they write is read off their code here: each literal and
each f-string is a template, in which `{0}`, `{1}` ... stand for what is filled in. SOURCE is written for the tool of
Qt's that collects texts; in CATALOGUE the window finds the template of a sentence. Needs nothing but the standard
library.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

CONTEXT = "Sentences"
# What reaches the terminal only, or translates by itself.
_SILENT_ROOMS = frozenset({"cli", "ui", "__main__.py"})
# Modules whose texts are no words for people: statements of SQL, programs, names of weights, prompts to learn from.
_SILENT_MODULES = (
    "helper/torch_build.py",
    "library/files.py",
    "library/history_store.py",
    "library/queue_store.py",
    "library/request_json.py",
    "library/schema.py",
    "library/texts.py",
    "library/timings.py",
    "library/words.py",
    "media/names.py",
    "media/parameters.py",
    "models/diffusion_decoder",
    "models/key_maps.py",
    "models/residency.py",
    "models/transformer/model.py",
    "multigpu/child.py",
    "multigpu/forkserver.py",
    "multigpu/guidance_planner.py",
    "multigpu/launcher.py",
    "multigpu/log_export.py",
    "multigpu/ranklog.py",
    "multigpu/worker.py",
)
_SPEAKING_MODULES = frozenset({"ui/helper_client.py"})
# Calls that take a text to a log, to a database, to the file system or to whoever reads the code.
_SILENT_CALLS = frozenset(
    {
        *("debug", "error", "exception", "getLogger", "info", "log", "print", "warning"),
        *("compile", "execute", "executemany", "executescript", "import_module", "Thread", "TypeVar"),
        *("encode", "endswith", "join", "partition", "removeprefix", "removesuffix", "replace", "rpartition", "split"),
        *("startswith", "sub", "get", "pop", "with_name"),
    }
)
_DETAILS = "details"
_ROOT_ERROR = "PodiumError"
# Tables and closed sets whose words are for people, single ones too.
_TABLES = re.compile(r"_?[A-Z_]*(WORDS|NAMES|ACTIVITIES)")
_WORD_SETS = frozenset({"Phase", "RankState", "Slot"})
_STATEMENT = re.compile(r"SELECT |PRAGMA ")
# What has no other name in any language.
_NAME = re.compile(r"lora|[\w.]+\.json|\w*_\w*")
_WORD = re.compile(r"[^\W\d_]")
_HOLE = re.compile(r"\{(\w*)(?::([^{}]*))?\}")
_NUMBER_FORMAT = re.compile(r"[,.\d]*[,fg]")
_MAX_DEPTH = 6
_Literal = ast.Constant | ast.JoinedStr
# None: something that is no literal.
_Choice = _Literal | None
_Assignments = dict[str, list[ast.expr | None]]


@dataclass(frozen=True, order=True)
class Template:
    """A text with places to fill.

    Args:
        text: With `{0}`, `{1}` ... where something is filled in.
        numbers: Which of the places take numbers written the English way.
        choices: What a place can take, by place, where that is a closed set of templates.
    """

    text: str
    numbers: tuple[int, ...] = ()
    choices: tuple[tuple[int, tuple[str, ...]], ...] = ()

    @property
    def is_said(self) -> bool:
        """Return whether it has words of its own."""
        return _WORD.search(_HOLE.sub(" ", self.text)) is not None


class _Words:
    """Finds what an expression of a module can come to, as far as it is literal."""

    def __init__(self, tree: ast.Module) -> None:
        self._functions: dict[str, list[ast.FunctionDef]] = defaultdict(list)
        self._calls: dict[str, list[ast.Call]] = defaultdict(list)
        # Of the module's own statements only: the same name in another function is another one.
        self._assigned = _assignments(tree.body)
        self._assigned_in: dict[ast.FunctionDef, _Assignments] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                self._functions[node.name].append(node)
                self._assigned_in[node] = _assignments(ast.walk(node))
            elif isinstance(node, ast.Call):
                self._calls[_last_name(node.func)].append(node)

    def choices(self, node: ast.expr | None, function: ast.FunctionDef | None, depth: int = 0) -> list[_Choice]:
        """Return the literals that an expression in a function can come to; None among them if that is not all."""
        if isinstance(node, ast.Constant | ast.JoinedStr):
            return [node if isinstance(node, ast.JoinedStr) or isinstance(node.value, str) else None]
        if node is None or depth == _MAX_DEPTH:
            return [None]
        if isinstance(node, ast.Call):
            return self._answers(node, function, depth + 1)
        if isinstance(node, ast.Name):
            parts: Sequence[ast.expr | None] = self._sources(node.id, function)
        else:
            parts = _alternatives(node)
        return [choice for part in parts for choice in self.choices(part, function, depth + 1)]

    def _answers(self, call: ast.Call, function: ast.FunctionDef | None, depth: int) -> list[_Choice]:
        """Return what a call can answer: a function of the module, or a look into a table."""
        found: list[_Choice] = []
        if isinstance(call.func, ast.Attribute):
            is_look = call.func.attr == "get"
            return [*self.choices(call.func.value, function, depth), None] if is_look else [None]
        for called in self._functions.get(_last_name(call.func), ()):
            for node in ast.walk(called):
                if isinstance(node, ast.Return):
                    found += self.choices(node.value, called, depth)
        if found and None not in found:
            return found
        # Unless all of its answers are literals, it may answer with what it is given.
        return [*found, *(choice for one in call.args for choice in self.choices(one, function, depth)), None]

    def _sources(self, name: str, function: ast.FunctionDef | None) -> list[ast.expr | None]:
        """Return the expressions that a name stands for: within the function first, then in the module."""
        if function is not None:
            within = [*self._assigned_in[function].get(name, ()), *self._given(function, name)]
            if within:
                return within
        return self._assigned.get(name) or [None]

    def _given(self, function: ast.FunctionDef, name: str) -> Iterator[ast.expr | None]:
        """Yield what the module's own calls give to a function under a name."""
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        if name not in names:
            return
        place = names.index(name)
        yield dict(zip(reversed(names), reversed(function.args.defaults), strict=False)).get(name)
        for call in self._calls.get(function.name, ()):
            named = [one.value for one in call.keywords if one.arg == name]
            yield from named or call.args[place : place + 1]
        # Others may call it, too.
        yield None


class _Collector(ast.NodeVisitor):
    """Collects the templates of one module.

    Args:
        tree: The module.
        errors: The names of the errors whose sentences are told.
        details: Which functions take technical details, and at which place.
    """

    def __init__(self, tree: ast.Module, errors: frozenset[str], details: Mapping[str, int]) -> None:
        self._errors = errors
        self._details = details
        self._words = _Words(tree)
        self._function: ast.FunctionDef | None = None
        self.found: dict[str, Template] = {}
        self.visit(tree)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._keep(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._keep(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        del node  # speaks to who reads the code

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self._function = self._function, node
        for statement in node.body:
            self.visit(statement)
        self._function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            value = statement.value if isinstance(statement, ast.Assign) else None
            if node.name in _WORD_SETS and isinstance(value, ast.Constant):
                self._add(Template(str(value.value).replace("_", " ")))
            else:
                self.visit(statement)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._visit_value(node.targets[0], node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._visit_value(node.target, node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = _last_name(node.func)
        self.visit(node.func)
        is_foreign_error = name.endswith("Error") and name not in self._errors
        if is_foreign_error or (name in _SILENT_CALLS and not _is_joined(node)):
            return
        for place, argument in enumerate(node.args):
            if self._details.get(name) != place:
                self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg != _DETAILS:
                self.visit(keyword.value)

    def _visit_value(self, target: ast.expr, value: ast.expr) -> None:
        self.visit(value)
        if _TABLES.fullmatch(_last_name(target)):
            for choice in self._words.choices(value, self._function):
                self._keep_part(choice)

    def _keep(self, node: _Literal) -> None:
        template, holes = _template(node), _holes(node)
        is_technical = any(hole.conversion == ord("r") for hole in holes)
        if " " not in template.text.strip() or is_technical or _STATEMENT.match(template.text):
            return
        found = [self._words.choices(hole.value, self._function) for hole in holes]
        closed = ((place, _texts(choices)) for place, choices in enumerate(found) if None not in choices)
        self._add(replace(template, choices=tuple(closed)))
        for choice in (choice for choices in found for choice in choices):
            self._keep_part(choice)

    def _keep_part(self, choice: _Choice) -> None:
        """Keep what a place can take, be it one word; with its own choices it is kept where it stands."""
        if choice is not None and _template(choice).text not in self.found:
            self._add(_template(choice))

    def _add(self, template: Template) -> None:
        if template.is_said and not _NAME.fullmatch(template.text):
            self.found[template.text] = template


def _alternatives(node: ast.expr) -> Sequence[ast.expr | None]:
    """Return the expressions of which another one comes to one."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return (body, orelse)
        case ast.BoolOp(values=values) | ast.Dict(values=values):
            return values
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return elements
        case ast.Subscript(value=table):
            return (table,)
        case _:
            return (None,)


def _assignments(nodes: Iterable[ast.AST]) -> _Assignments:
    """Return what statements give to names, by name; None for what cannot be followed."""
    found: _Assignments = defaultdict(list)
    for node in nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                pairs = _bound(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pairs = _bound(target, value)
            case ast.For(target=target, iter=value):
                pairs = _bound_in_turn(target, value)
            case _:
                continue
        for name, source in pairs:
            found[name].append(source)
    return found


def _bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that an assignment binds, each with what it is given."""
    if isinstance(target, ast.Name):
        yield target.id, value
    if not isinstance(target, ast.Tuple):
        return
    for row in (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,):
        is_whole = isinstance(row, ast.Tuple) and len(row.elts) == len(target.elts)
        given = row.elts if isinstance(row, ast.Tuple) and is_whole else [None] * len(target.elts)
        yield from (
            (one.id, source) for one, source in zip(target.elts, given, strict=True) if isinstance(one, ast.Name)
        )


def _bound_in_turn(target: ast.expr, values: ast.expr) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that a loop binds, each with what it is given: from a tuple of tuples, or tuples side by side."""
    if isinstance(values, ast.Tuple):
        for row in values.elts:
            yield from _bound(target, row)
    elif isinstance(values, ast.Call) and _last_name(values.func) == "zip":
        yield from _bound(target, ast.Tuple(elts=values.args))
    else:
        yield from ((node.id, None) for node in ast.walk(target) if isinstance(node, ast.Name))


def _holes(node: _Literal) -> list[ast.FormattedValue]:
    return [part for part in getattr(node, "values", ()) if isinstance(part, ast.FormattedValue)]


def _texts(choices: Iterable[_Choice]) -> tuple[str, ...]:
    return tuple(sorted({_template(choice).text for choice in choices if choice is not None}))


def _template(node: _Literal) -> Template:
    """Return the template that a literal is, without what its places can take."""
    if isinstance(node, ast.Constant):
        return _template_of_text(str(node.value))
    text, numbers, count = "", [], 0
    for part in node.values:
        if not isinstance(part, ast.FormattedValue):
            text += str(part.value) if isinstance(part, ast.Constant) else ""
            continue
        text += f"{{{count}}}"
        if _is_number(part):
            numbers.append(count)
        count += 1
    return Template(text, tuple(numbers))


def _template_of_text(text: str) -> Template:
    """Return the template of a plain literal, which `str.format` may fill."""
    places: dict[str, int] = {}
    numbers = []
    for name, spec in _HOLE.findall(text):
        place = places.setdefault(name, len(places))
        if spec and _NUMBER_FORMAT.fullmatch(spec):
            numbers.append(place)
    return Template(_HOLE.sub(lambda hole: f"{{{places[hole[1]]}}}", text), tuple(numbers))


def _is_number(hole: ast.FormattedValue) -> bool:
    if isinstance(hole.format_spec, ast.JoinedStr):
        spec = "".join(str(part.value) for part in hole.format_spec.values if isinstance(part, ast.Constant))
        return _NUMBER_FORMAT.fullmatch(spec) is not None
    return isinstance(hole.value, ast.Call) and _last_name(hole.value.func) == "float"


def _is_joined(call: ast.Call) -> bool:
    """Return whether a call of `join` puts literals together."""
    return _last_name(call.func) == "join" and any(isinstance(argument, ast.List | ast.Tuple) for argument in call.args)


def _last_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _family(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return the names of the errors that an artist is told: those of the one family."""
    kin = {_ROOT_ERROR}
    above = {
        node.name: {_last_name(parent) for parent in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    while grown := {name for name, parents in above.items() if parents & kin} - kin:
        kin |= grown
    return frozenset(kin)


def _takers_of_details(trees: Iterable[ast.Module]) -> dict[str, int]:
    """Return the functions that take technical details by place, and which place that is."""
    places = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                names = [one.arg for one in node.args.args if one.arg not in ("self", "cls")]
                if _DETAILS in names:
                    places[node.name] = names.index(_DETAILS)
    return places


def _is_speaking(name: str) -> bool:
    is_silent = name.partition("/")[0] in _SILENT_ROOMS or name.startswith(_SILENT_MODULES)
    return name in _SPEAKING_MODULES or not is_silent


def collect(package: Path) -> dict[str, list[Template]]:
    """Return what each module of a package says, by its place in it."""
    paths = {path.relative_to(package).as_posix(): path for path in sorted(package.rglob("*.py"))}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    errors, details = _family(trees.values()), _takers_of_details(trees.values())
    found = {name: _Collector(tree, errors, details).found for name, tree in trees.items() if _is_speaking(name)}
    return {name: list(templates.values()) for name, templates in found.items() if templates}


def source_for_qt(templates: Iterable[Template]) -> str:
    """Return a program that Qt's tool collects the templates from."""
    lines = (
        f"QCoreApplication.translate({CONTEXT!r}, {json.dumps(one.text, ensure_ascii=False)})" for one in templates
    )
    return "\n".join(lines) + "\n"


def catalogue(templates: Iterable[Template]) -> str:
    """Return what the window reads: one template a line, with what it needs to be found by."""
    entries = (
        {"text": one.text}
        | ({"numbers": one.numbers} if one.numbers else {})
        | ({"choices": dict(one.choices)} if one.choices else {})
        for one in templates
    )
    return "[\n" + ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries) + "\n]\n"


def unique(said: dict[str, list[Template]]) -> list[Template]:
    """Return every template once, in order; one that two modules fill unlike takes what either does."""
    merged: dict[str, Template] = {}
    for template in (one for templates in said.values() for one in templates):
        known = merged.get(template.text, template)
        numbers = tuple(sorted({*known.numbers, *template.numbers}))
        choices = known.choices if known.choices == template.choices else ()
        merged[template.text] = Template(template.text, numbers, choices)
    return sorted(merged.values())


def main(arguments: Sequence[str]) -> int:
    """Write both files of a package; return the exit code."""
    package, source, target = map(Path, arguments)
    templates = unique(collect(package))
    source.write_text(source_for_qt(templates), encoding="utf-8")
    target.write_text(catalogue(templates), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
