"""The house rules that no linter knows, checked on the syntax trees of everything in `podium`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import podium

PACKAGE = Path(podium.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
PACKAGES = [module for module in MODULES if module.name == "__init__.py"]
MAX_FUNCTION_LINES = 60
MAX_MODULE_LINES = 600
MAX_POSITIONAL = 5
# Signatures that scripts call as they are published, flag and all.
PUBLISHED = {"multigpu/attention.py": ["__init__"]}
BANNED_NAMES = {"base", "common", "helpers", "misc", "util", "utils"}
HEAVY = {"PySide6", "accelerate", "av", "diffusers", "imageio", "numpy", "torch", "transformers"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def functions(source: str) -> tuple[Function, ...]:
    """Return every function and method, nested ones too."""
    return tuple(node for node in ast.walk(ast.parse(source)) if isinstance(node, Function))


def long_functions(source: str) -> list[str]:
    """Return `name: lines` of each function that is over the limit, decorators left out."""
    spans = ((node.name, (node.end_lineno or node.lineno) - node.lineno + 1) for node in functions(source))
    return [f"{name}: {num_lines}" for name, num_lines in spans if num_lines > MAX_FUNCTION_LINES]


def crowded_functions(source: str) -> list[str]:
    """Return the functions with more positional parameters than allowed; `self` and `cls` do not count."""
    crowded = []
    for node in functions(source):
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        if len(names) - (names[:1] in (["self"], ["cls"])) > MAX_POSITIONAL:
            crowded.append(node.name)
    return crowded


def imported_at_load(source: str) -> set[str]:
    """Return the top-level packages that importing a module imports: all outside functions and `TYPE_CHECKING`."""
    return {name.partition(".")[0] for node in ast.parse(source).body for name in _names(node)}


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, Function) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or "."
    for child in ast.iter_child_nodes(node):
        yield from _names(child)


def read(module: Path) -> str:
    """Return a module's source."""
    return module.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """Return the source of every module by its path, each parsed already: no test pays for that."""
    found = {module.relative_to(PACKAGE).as_posix(): read(module) for module in MODULES}
    for source in found.values():
        functions(source)
    return found


def test_no_function_is_longer_than_sixty_lines(sources: dict[str, str]) -> None:
    found = {module: long_functions(source) for module, source in sources.items()}
    assert not {module: names for module, names in found.items() if names}


def test_a_function_of_sixty_one_lines_is_found() -> None:
    source = (
        "class A:\n    def fits(self):\n"
        + "        x = 1\n" * 59
        + "    async def long(self):\n"
        + "        x = 1\n" * 60
    )
    assert long_functions(source) == ["long: 61"]


def test_no_function_takes_more_than_five_positional_parameters(sources: dict[str, str]) -> None:
    found = {module: crowded_functions(source) for module, source in sources.items()}
    assert {module: names for module, names in found.items() if names} == PUBLISHED


def test_a_sixth_positional_parameter_is_found_and_self_is_none() -> None:
    assert crowded_functions("def f(a, b, c, d, e, g): ...") == ["f"]
    assert crowded_functions("class A:\n def f(self, a, b, c, d, e, *, g, h): ...") == []


def test_no_module_is_longer_than_six_hundred_lines(sources: dict[str, str]) -> None:
    lengths = {module: len(source.splitlines()) for module, source in sources.items()}
    assert not {module: length for module, length in lengths.items() if length > MAX_MODULE_LINES}


def test_no_module_or_package_is_a_drawer_for_everything() -> None:
    names = {part for module in MODULES for part in module.relative_to(PACKAGE).with_suffix("").parts}
    assert not names & BANNED_NAMES


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.parent.relative_to(PACKAGE.parent).as_posix())
def test_importing_a_package_loads_nothing_heavy(package: Path) -> None:
    assert not imported_at_load(read(package)) & HEAVY


def test_an_import_inside_a_block_is_found_and_one_for_types_is_none() -> None:
    source = "try:\n import torch.nn\nexcept ImportError:\n from av import x\nif TYPE_CHECKING:\n import numpy\n"
    assert imported_at_load(source) == {"torch", "av"}


def does_more_than_name(source: str) -> bool:
    """Return whether a package's own module does anything but import, list its names and give its version."""
    body = ast.parse(source).body
    targets = [ast.unparse(node.targets[0]) for node in body if isinstance(node, ast.Assign)]
    targets += [ast.unparse(node.target) for node in body if isinstance(node, ast.AnnAssign)]
    kinds = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
    return not all(isinstance(node, kinds) for node in body[1:]) or not set(targets) <= {"__all__", "__version__"}


def test_every_package_says_what_it_holds() -> None:
    assert not [module for module in PACKAGES if not ast.get_docstring(ast.parse(read(module)))]


def test_a_package_s_own_module_starts_nothing() -> None:
    assert not [module for module in PACKAGES if does_more_than_name(read(module))]


@pytest.mark.parametrize("line", ["start()", "cache = {}", "def f(): ...", "if True:\n import x"])
def test_a_package_that_does_more_than_name_is_found(line: str) -> None:
    assert does_more_than_name(f'"""Room."""\n{line}\n')
    assert not does_more_than_name('"""Room."""\nfrom a import b\n__all__: list[str] = ["b"]\n')


def test_every_folder_of_modules_is_a_package() -> None:
    assert not {module.parent for module in MODULES if not (module.parent / "__init__.py").is_file()}


def test_the_entry_module_imports_only_the_standard_library_at_its_top() -> None:
    assert imported_at_load(read(PACKAGE / "__main__.py")) <= sys.stdlib_module_names
