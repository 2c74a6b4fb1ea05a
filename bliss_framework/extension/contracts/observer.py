"""The contract of observers of a run."""

from typing import Any, Protocol


class Observer(Protocol):
    """Listens to the events of a run."""

    def notify(self, event: Any) -> None:
        """Take note of one event; called in the process that started the run."""
