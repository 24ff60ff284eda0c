"""Documents run as they are written: code blocks of pages, examples in docstrings, and notebooks."""

import doctest
import inspect
from pathlib import Path

import nbformat
import pytest
import skidpad
import skidpad.environments
import skidpad.sweep
from nbclient import NotebookClient

ROOT = Path(__file__).parents[3]
PAGES = ["README.md", "crates/python/README.md", "docs/book/src/python.md"]
NOTEBOOKS = sorted((ROOT / "crates/python/notebooks").glob("*.ipynb"))
MODULES = [skidpad, skidpad.environments, skidpad.sweep]

# Names whose docstrings must have an example.
EXAMPLES = {
    "skidpad.Car",
    "skidpad.Fleet",
    "skidpad.Scene",
    "skidpad.State",
    "skidpad.Track",
    "skidpad.World",
    "skidpad.certify",
    "skidpad.compare",
    "skidpad.load",
    "skidpad.load_track",
    "skidpad.run",
    "skidpad.environments.Env",
    "skidpad.environments.VectorEnv",
    "skidpad.sweep.Sweep",
}

# Longest time of a cell of a notebook, s. Only a cell that does not end needs it.
CELL_TIMEOUT_S = 300


def blocks(page, language):
    """Returns the code blocks of a page in one language as (number of the first line, text)."""
    found, start, lines = [], None, []
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if start is None and line == f"```{language}":
            start, lines = number + 1, []
        elif start is not None and line == "```":
            found.append((start, "\n".join(lines) + "\n"))
            start = None
        elif start is not None:
            lines.append(line)
    return found


PYTHON_BLOCKS = [(page, line, text) for page in PAGES for line, text in blocks(page, "python")]


@pytest.mark.parametrize(
    ("page", "line", "text"), PYTHON_BLOCKS, ids=[f"{page}:{line}" for page, line, _ in PYTHON_BLOCKS]
)
def test_code_blocks_of_pages_run(page, line, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Empty lines in front give errors the line of the page.
    exec(compile("\n" * (line - 1) + text, str(ROOT / page), "exec"), {"__name__": "__main__"})


def test_every_page_has_code_blocks():
    assert {page for page, _, _ in PYTHON_BLOCKS} == set(PAGES)


def test_descriptions_of_sweeps_in_pages_are_read(tmp_path):
    found = [text for page in PAGES for _, text in blocks(page, "toml") if "manoeuvre" in text]
    assert found
    for text in found:
        path = tmp_path / "study.toml"
        path.write_text(text)
        sweep = skidpad.sweep.Sweep.load(path)
        # Each sample on each solver, for each point of the grids.
        assert len(sweep) >= sweep.samples * len(sweep.solvers) > 1


def docstrings():
    """Returns the docstrings of all public names and of their methods, by name."""
    found = {}
    for module in MODULES:
        names = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
        for name in names:
            value = getattr(module, name)
            found[f"{module.__name__}.{name}"] = value.__doc__
            if inspect.isclass(value):
                members = {key: member for key, member in vars(value).items() if not key.startswith("_")}
                found |= {f"{module.__name__}.{name}.{key}": member.__doc__ for key, member in members.items()}
    return found


def test_examples_in_docstrings_have_the_stated_results():
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    with_examples = set()
    for name, text in docstrings().items():
        test = parser.get_doctest(inspect.cleandoc(text or ""), {"skidpad": skidpad}, name, name, 0)
        if test.examples:
            with_examples.add(name)
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    assert with_examples >= EXAMPLES, EXAMPLES - with_examples


def test_public_names_have_docstrings():
    # Fields of dataclasses and named tuples have no docstring of their own.
    missing = [name for name, text in docstrings().items() if not text and name.count(".") < 3]
    assert not missing


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_notebooks_run(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=CELL_TIMEOUT_S, kernel_name="python3", resources=resources).execute()
    assert any(cell.cell_type == "code" and cell.outputs for cell in notebook.cells)


def test_notebooks_exist():
    assert [path.stem for path in NOTEBOOKS] == ["first_drive", "fleets_and_environments"]
