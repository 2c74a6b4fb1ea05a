"""What `bliss new` makes is a distribution that installs, passes its own tests, and runs by name."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bliss_framework import SettingsError
from bliss_framework.extension.loading.plugins import default_plugins
from bliss_framework.extension.naming import SCAFFOLDS as KINDS
from bliss_framework.extension.scaffold import SUMMARIES, Blueprint, check_blueprint, scaffold

ROOT = Path(__file__).resolve().parents[2]
BLISS = [sys.executable, "-m", "bliss_framework"]
BAGS = [{"bag": b, "label": int(b % 2), "instances": [[b % 2 + i, 1.0 * i] for i in range(3)]} for b in range(8)]
EXAMPLES = sorted((ROOT / "docs" / "examples").iterdir())
RUNS = {
    "reward": "run musk1 --reward my-reward --n-rounds 5",
    "regime": "run musk1 --regime my-regime --n-rounds 5",
    "strategy": "run musk1 --strategy my-strategy --n-rounds 5",
    "classifier": "run musk1 --classifier my-classifier --n-rounds 5",
    "reader": "run bags.jsonl --n-folds 2 --n-rounds 5",
    "baseline": "compare musk1 --methods my-baseline --cv 2",
    "pipeline": "run my-pipeline",
    "dataset": "run my-dataset --n-rounds 5",
    "observer": "run musk1 --n-rounds 2",
}


def run(command: list[str], cwd: Path, path: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with a folder of installed distributions on the path."""
    environment = {**os.environ, "PYTHONPATH": str(path), "COLUMNS": "100"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


def install(target: Path, *sources: Path) -> None:
    """Install distributions into a folder, without a network."""
    options = ["--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "install", *options, *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def pass_their_tests(folders: list[Path], path: Path) -> None:
    """Run the tests of distributions as their authors would, warnings being errors."""
    pytest_once = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:randomly", "-rA"]
    done = run([*pytest_once, *map(str, folders)], folders[0], path)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = {line.split("::")[0].rpartition("/")[2] for line in done.stdout.splitlines() if line.startswith("PASSED ")}
    assert passed == {one.name for folder in folders for one in (folder / "tests").glob("test_*.py")}


@pytest.fixture(scope="module")
def new_plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a new plugin of each kind, and `site`, into which they are installed."""
    folder = tmp_path_factory.mktemp("new")
    blueprints = [Blueprint(kind, f"my-{kind}", folder, SUMMARIES[kind]) for kind in KINDS]
    for blueprint in blueprints:
        scaffold(blueprint, default_plugins().registry)
    install(folder / "site", *(blueprint.target for blueprint in blueprints))
    return folder


def test_new_plugins_are_listed(new_plugins: Path) -> None:
    """Installed, each is a plugin in order, from its own distribution, with one component of its kind."""
    listed = run([*BLISS, "plugins", "--json"], new_plugins, new_plugins / "site")
    plugins = {one["name"]: one for one in json.loads(listed.stdout)["plugins"]}
    for kind in KINDS:
        name = f"my-{kind}"
        assert plugins[name]["state"] == "ok", plugins[name]
        assert plugins[name]["distribution"] == name
        registered = [(one["kind"], one["name"]) for one in plugins[name]["components"]]
        assert registered == ([(kind, name)] if kind != "observer" else [])


def test_new_plugins_pass_their_tests(new_plugins: Path) -> None:
    """A plugin of each kind passes the tests that it came with; one process runs them all."""
    pass_their_tests([new_plugins / f"my-{kind}" for kind in KINDS], new_plugins / "site")


ONE_AFTER_THE_OTHER = """
import json, sys
from bliss_framework.console import main

for kind, words in json.loads(sys.argv[1]).items():
    sys.argv = ["bliss", *words.split()]
    print(f"== {kind}", file=sys.stderr, flush=True)
    try:
        main()
    except SystemExit as left:
        print(f"code {left.code}", file=sys.stderr, flush=True)
"""


def test_new_plugins_run(new_plugins: Path, tmp_path: Path) -> None:
    """A plugin of each kind is used by name in a run; one process makes all runs."""
    (tmp_path / "bags.jsonl").write_text("\n".join(json.dumps(bag) for bag in BAGS))
    done = run([sys.executable, "-c", ONE_AFTER_THE_OTHER, json.dumps(RUNS)], tmp_path, new_plugins / "site")
    said = dict(re.findall(r"^== (\S+)\n(.*?)(?=^== |\Z)", done.stderr, re.DOTALL | re.MULTILINE))
    assert set(said) == set(KINDS), done.stderr
    for kind in KINDS:
        assert said[kind].endswith("code 0\n"), said[kind]
    # Every run is told to the observer; that of the pipeline has no folds of ours.
    assert all(("fold 1: mean reward" in said[kind]) == (kind != "pipeline") for kind in KINDS if kind != "baseline")


def test_new_plugins_are_tidy_and_typed(tmp_path: Path) -> None:
    """Plugins of all kinds pass ruff, with short and long names, and mypy in strict mode as they are made."""
    names = [(kind, name.format(kind)) for name in ("my-{}", "a-rather-long-{}-name-of-mine") for kind in KINDS]
    for kind, name in names:
        scaffold(Blueprint(kind, name, tmp_path, SUMMARIES[kind]), default_plugins().registry)
    folders = [tmp_path / name for _, name in names]
    code = [
        str(part)
        for folder in folders[: len(KINDS)]
        for part in (folder / folder.name.replace("-", "_"), folder / "tests")
    ]
    mypy = [
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path / "mypy"),
        "--config-file",
        str(folders[0] / "pyproject.toml"),
    ]
    for words in (
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--check", "--no-cache", "."],
        [*mypy, *code],
    ):
        done = run([sys.executable, "-m", *words], tmp_path, tmp_path / "nothing")
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_file_is_there_and_filled_in(tmp_path: Path) -> None:
    """No token is left in any file, and licence, tests, README and CI file are among them."""
    written = scaffold(
        Blueprint("reward", "loud-reward", tmp_path, "Loud", "A. N. Author", "MIT"), default_plugins().registry
    )
    names = {str(path.relative_to(tmp_path / "loud-reward")) for path in written}
    assert names == {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        ".gitignore",
        ".github/workflows/test.yml",
        "loud_reward/__init__.py",
        "loud_reward/hooks.py",
        "loud_reward/reward.py",
        "tests/test_loud_reward.py",
    }
    for path in written:
        assert not re.search(r"\{\{\w+\}\}", path.read_text()), path
    assert "class LoudReward(Reward)" in (tmp_path / "loud-reward" / "loud_reward" / "reward.py").read_text()
    assert "A. N. Author" in (tmp_path / "loud-reward" / "LICENSE").read_text()


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("my reward", 'Did you mean "my-reward"'),
        ("anamnesis.ai", 'Did you mean "anamnesis-ai"'),
        ("2fast", "starting with a letter"),
        ("class", "keyword"),
        ("None", "lower case"),
        ("", "lower case"),
        ("  ", "lower case"),
        ("a/b", "lower case"),
        ("../x", "lower case"),
        ("C:\\x", "lower case"),
        ("My-Reward", 'Did you mean "my-reward"'),
        ("my--reward", "single hyphens"),
        ("con", "Windows"),
        ("bliss_framework", "lower case"),
        ("numpy", "shadow"),
        ("test", "shadow"),
        ("mil", "already"),
        ("bandits", "already"),
        ("bliss-framework", "already"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused(name: str, rule: str, tmp_path: Path) -> None:
    """The error names the rule, and nothing is written (K43)."""
    with pytest.raises(SettingsError, match=re.escape(rule)):
        scaffold(Blueprint("reward", name, tmp_path, "A reward"), default_plugins().registry)
    assert list(tmp_path.iterdir()) == []


def test_soft_keywords_are_fine(tmp_path: Path) -> None:
    """`match` and `type` are no keywords where a module is named."""
    for name in ("match", "type"):
        check_blueprint(Blueprint("reward", name, tmp_path, "A reward"), default_plugins().registry)


def test_an_existing_folder_is_refused(tmp_path: Path) -> None:
    """What is there is never overwritten."""
    (tmp_path / "my-reward").mkdir()
    with pytest.raises(SettingsError, match="exists already"):
        scaffold(Blueprint("reward", "my-reward", tmp_path, "A reward"), default_plugins().registry)


def test_the_command_prints_what_to_type_next(tmp_path: Path) -> None:
    """`bliss new` prints three commands on standard output, and a wrong name is a usage error."""
    bliss = [sys.executable, "-m", "bliss_framework", "new", "strategy"]
    done = subprocess.run([*bliss, "thompson", "--quiet"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "cd thompson",
        'python -m pip install -e ".[test]" && python -m pytest',
        "bliss run musk1 --strategy thompson",
    ]
    wrong = subprocess.run([*bliss, "class"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert wrong.returncode == 2
    assert "keyword" in wrong.stderr


@pytest.fixture(scope="module")
def examples_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the distributions under docs/examples are installed."""
    site = tmp_path_factory.mktemp("examples") / "site"
    install(site, *EXAMPLES)
    return site


def test_examples_install_and_pass_their_tests(examples_site: Path) -> None:
    """Each distribution under docs/examples passes its tests as it is installed."""
    pass_their_tests(EXAMPLES, examples_site)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_use_public_names(example: Path) -> None:
    """No distribution under docs/examples imports a private module of the host, or another example."""
    for path in example.rglob("*.py"):
        for module in re.findall(r"^\s*(?:from|import) (bliss_framework[\w.]*)", path.read_text(), re.MULTILINE):
            assert module in ("bliss_framework", "bliss_framework.plugin", "bliss_framework.testing"), path
        others = {one.name.replace("-", "_") for one in EXAMPLES if one != example}
        assert others.isdisjoint(re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(), re.MULTILINE)), path


def test_the_tutorial_works_line_by_line(tmp_path: Path) -> None:
    """The plugin of the tutorial, made as written, passes its tests and makes a wheel."""
    text = (ROOT / "docs" / "tutorial" / "first-plugin.md").read_text(encoding="utf-8")
    regime, reward, hooks, tests = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    commands = [line for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert commands[0].startswith("bliss new regime bliss-partial-label ")
    summary = re.search(r'--summary "(.*?)"', commands[0])
    assert summary
    blueprint = Blueprint("regime", "bliss-partial-label", tmp_path, summary.group(1))
    scaffold(blueprint, default_plugins().registry)
    package = blueprint.target / "bliss_partial_label"
    for path, block in (
        (package / "regime.py", regime),
        (package / "reward.py", reward),
        (package / "hooks.py", hooks),
        (blueprint.target / "tests" / "test_bliss_partial_label.py", tests),
    ):
        assert str(path.relative_to(blueprint.target)) in text
        path.write_text(block)
    install(tmp_path / "site", blueprint.target)
    pass_their_tests([blueprint.target], tmp_path / "site")
    build = ["--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", "dist", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *build],
        cwd=blueprint.target,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((blueprint.target / "dist").glob("*.whl"))) == 1
