"""The two consoles: results go to standard output, progress and messages to standard error."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from attrs import field, frozen
from rich.console import Console
from rich.text import Text


@frozen(eq=False)
class Screen:
    """Where a command draws.

    Attributes:
        results: standard output.
        messages: standard error.
        quiet: whether messages are left out.
        as_json: whether standard output holds one JSON document and nothing else.
    """

    results: Console = field()
    messages: Console = field()
    quiet: bool = field(default=False)
    as_json: bool = field(default=False)

    def note(self, sentence: str, style: str = "yellow") -> None:
        """Write a sentence to standard error, as it stands: user text may hold square brackets."""
        if not self.quiet:
            # On a terminal lines break between words; a file or another program gets each sentence in one line.
            self.messages.print(Text(sentence, style=style), soft_wrap=not self.messages.is_terminal)

    def document(self, text: str) -> None:
        """Write a JSON document to standard output, in ASCII where nothing else can be shown."""
        if not shows_unicode(self.results):
            text = json.dumps(json.loads(text), indent=2)
        self.results.file.write(text + "\n")
        self.results.file.flush()


def open_screen(quiet: bool, as_json: bool) -> Screen:
    """Make the screen of a command."""
    return Screen(Console(), Console(stderr=True), quiet, as_json)


@contextmanager
def waiting(screen: Screen, what: str) -> Iterator[None]:
    """Show on a terminal that something is done for which there are no figures yet, such as reading a file."""
    if screen.quiet or not screen.messages.is_terminal:
        yield
        return
    with screen.messages.status(Text(f"{what} ...", overflow="ellipsis", no_wrap=True)):
        yield


def shows_unicode(console: Console) -> bool:
    """Say whether a console can show more than ASCII."""
    return (console.encoding or "ascii").lower().startswith("utf")


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send to standard error what others print meanwhile: plugins, compiled code, worker processes.

    What Python prints goes through this process's standard error, which drops what nobody takes.
    """
    sys.stdout.flush()
    try:
        output, error = sys.stdout.fileno(), sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        # Standard output is no file of the system, as in a notebook or a test.
        with redirect_stdout(sys.stderr):
            yield
        return
    kept = os.dup(output)
    os.dup2(error, output)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, output)
        os.close(kept)
