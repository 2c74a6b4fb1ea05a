"""No two plugins hold the same piece of code: what two of them need has a public home in the framework."""

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

PLUGINS = Path(__file__).resolve().parents[1] / "plugins"
LONGEST = 9  # Lines that two plugins may share.

Line = tuple[int, str]


def documentation_and_imports(text: str) -> Iterator[int]:
    """Yield the numbers of lines that are docstrings or imports."""
    for node in ast.walk(ast.parse(text)):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def comments(text: str) -> set[int]:
    """Return the numbers of lines that hold a comment and nothing else."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {t.start[0] for t in tokens if t.type == tokenize.COMMENT and t.line.strip().startswith("#")}


def code(path: Path) -> list[Line]:
    """Return the lines of code of a file with their numbers: no blank ones, comments, imports or docstrings."""
    text = path.read_text(encoding="utf-8")
    skipped = {*documentation_and_imports(text), *comments(text)}
    numbered = enumerate(text.splitlines(), start=1)
    return [(number, line.strip()) for number, line in numbered if line.strip() and number not in skipped]


def windows(files: dict[Path, list[Line]], size: int) -> dict[tuple[str, ...], list[tuple[Path, int]]]:
    """Find where each run of `size` lines stands: files and positions among their lines of code."""
    found = defaultdict(list)
    for path, lines in files.items():
        for start in range(len(lines) - size + 1):
            found[tuple(line for _, line in lines[start : start + size])].append((path, start))
    return found


def shared(folder: Path, longest: int = LONGEST) -> list[str]:
    """Name both places of each run of more than `longest` equal lines of code in two plugin packages."""
    files = {path: code(path) for path in sorted(folder.rglob("*.py"))}
    found = {}
    for places in windows(files, longest + 1).values():
        for (one, first), (other, second) in combinations(places, 2):
            same_plugin = one.relative_to(folder).parts[0] == other.relative_to(folder).parts[0]
            # A longer run is many windows that start one line after another; the first of them names it.
            begun = first and second and files[one][first - 1][1] == files[other][second - 1][1]
            if not same_plugin and not begun:
                pair = [f"{p.relative_to(folder)}:{files[p][at][0]}" for p, at in ((one, first), (other, second))]
                found[tuple(pair)] = f"{pair[0]} and {pair[1]}"
    return sorted(found.values())


def test_no_two_plugins_hold_the_same_ten_lines() -> None:
    """Blank lines, comments, imports and docstrings do not count."""
    assert shared(PLUGINS) == []


class TestTheSearch:
    """It finds what it should, and no more."""

    TEN = "".join(f"x{i} = {i}\n" for i in range(10))

    def written(self, tmp_path: Path, **texts: str) -> Path:
        for package, text in texts.items():
            (tmp_path / package).mkdir()
            (tmp_path / package / "module.py").write_text(text, encoding="utf-8")
        return tmp_path

    def test_a_run_is_named_once_with_both_places(self, tmp_path: Path) -> None:
        """Twelve equal lines are one run, however they are indented, and whatever stands around them."""
        twelve = self.TEN + "y = 1\nz = 2\n"
        indented = "if True:\n" + "".join(f"    {line}\n\n" for line in twelve.splitlines())
        folder = self.written(tmp_path, one='"""One."""\n\nimport os\n\n' + twelve, other=indented + "w = 3\n")
        assert shared(folder) == ["one/module.py:5 and other/module.py:2"]

    def test_nine_lines_are_few_enough(self, tmp_path: Path) -> None:
        """So are more of them where docstrings, comments and imports are what is more."""
        nine = '"""The same docstring."""\nimport os\n# The same comment.\n' + "\n".join(self.TEN.splitlines()[:9])
        assert shared(self.written(tmp_path, one=nine, other=nine)) == []

    def test_a_plugin_may_repeat_itself(self, tmp_path: Path) -> None:
        """That is for its author to see."""
        assert shared(self.written(tmp_path, one=self.TEN + "y = 1\n" + self.TEN)) == []
