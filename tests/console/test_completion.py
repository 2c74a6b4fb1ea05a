"""What the shell offers for a word that is begun."""

import pytest

from bliss_framework.console import completion


@pytest.fixture
def completed(here, spawn):
    """A function that returns what bash is offered for the last of some words."""

    def complete(*words):
        told = {"COMP_WORDS": " ".join(["bliss", *words]), "COMP_CWORD": str(len(words))}
        script = ("-c", "from bliss_framework.console.app import bliss; bliss(prog_name='bliss')")
        ended = spawn(program=script, _BLISS_COMPLETE="bash_complete", **told)
        return [line.removeprefix("plain,") for line in ended.out.splitlines()]

    return complete


def test_the_shell_is_offered_names_and_files(completed, table):
    """A source is a data set or a file."""
    table("musk-mine.csv")
    assert completed("run", "mus") == ["musk1", "musk-mine.csv"]


def test_components_and_methods(here):
    """An option of a component offers its names; of several methods the last one is completed."""
    assert "kernel-ridge" in completion.components("final_classifier")(None, None, "kern")
    assert completion.components("final_classifier")(None, None, "sam") == ["same"]
    assert completion.components("reward")(None, None, "mil-m") == ["mil-marginal"]
    assert completion.methods(None, None, "bliss,mile") == ["bliss,miles"]
    assert completion.plugins(None, None, "kl-") == ["kl-ucb"]


def test_a_broken_plugin_does_not_break_the_shell(here, monkeypatch):
    """Where plugins cannot be loaded nothing is offered, and nothing is raised."""

    def fail(*args, **more):
        raise RuntimeError("no")

    monkeypatch.setattr("bliss_framework.extension.loading.plugins.load_plugins", fail)
    assert completion.components("reward")(None, None, "") == []
    assert completion.datasets(None, None, "") == completion.plugins(None, None, "") == []
