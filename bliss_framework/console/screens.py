"""The two consoles: results go to standard output, progress and messages to standard error."""

import sys

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
            self.messages.print(Text(sentence, style=style), soft_wrap=True)

    def document(self, text: str) -> None:
        """Write a JSON document to standard output."""
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def open_screen(quiet: bool, as_json: bool) -> Screen:
    """Make the screen of a command."""
    return Screen(Console(), Console(stderr=True), quiet, as_json)
