"""Every error that a user can fix. Each message says what happened, to which thing, what is allowed, what to do."""


class BlissError(Exception):
    """An error that the user can fix; the console prints its text alone and exits with 1."""


class DataError(BlissError, ValueError):
    """The data cannot be used as they are: shapes, missing values, bags, weak labels."""


class ParameterNeededError(DataError):
    """Data that can be read in several ways, and a parameter of a component that says which one is meant.

    The text ends with how the parameter is given in Python; the console says it with an option instead.

    Args:
        question: what was found, and what must be said; whole sentences.
        component: which component of `BlissClassifier` takes the parameter, such as "regime".
        name: of the component in use, such as "mil".
        parameter: its parameter.
        example: a value that it could have.

    >>> print(ParameterNeededError("Which one?", "regime", "mil", "positive_label", "ill"))
    Which one? Say so with the regime's parameter, for instance regime={"name": "mil", "positive_label": 'ill'}.
    """

    def __init__(self, question: str, component: str, name: str, parameter: str, example: object) -> None:
        super().__init__(question, component, name, parameter, example)
        self.question, self.component, self.name = question, component, name
        self.parameter, self.example = parameter, example

    def __str__(self) -> str:
        """Ask, and say how to answer in Python."""
        value = f'{{"name": "{self.name}", "{self.parameter}": {self.example!r}}}'
        return f"{self.question} Say so with the {self.component}'s parameter, for instance {self.component}={value}."


class SettingsError(BlissError, ValueError):
    """A setting has a value that is not allowed; the message names the setting."""


class MemoryNeededError(SettingsError):
    """Work needs more memory than there is; it was not begun.

    The text ends with a setting that fits, as it is given in Python; the console says it with options instead.

    Args:
        sentence: how much is needed, for what, and how much there is.
        settings: parameters of `BlissClassifier` with which it fits; None where none was found.
        needed: what it needs with those, in words.

    >>> print(MemoryNeededError("This needs 9 GB.", {"classifier": "ridge"}, "1 GB"))
    This needs 9 GB. With classifier="ridge" it needs about 1 GB.
    """

    def __init__(self, sentence: str, settings: dict[str, object] | None = None, needed: str = "") -> None:
        super().__init__(sentence, settings, needed)
        self.sentence, self.settings, self.needed = sentence, settings, needed

    def __str__(self) -> str:
        """Say it, with the setting as a keyword."""
        words = [f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in self._given]
        return self.words(" and ".join(words))

    @property
    def _given(self) -> list[tuple[str, object]]:
        return list((self.settings or {}).items())

    def words(self, settings: str) -> str:
        """Say it, with the setting in the words of an interface."""
        if not self._given:
            return f"{self.sentence} Use fewer rows or columns, or a machine with more; max_memory allows to try it."
        return f"{self.sentence} With {settings} it needs about {self.needed}."


class UnknownNameError(BlissError, ValueError):
    """No component, data set or option has this name; the message offers the nearest ones."""


class PluginError(BlissError, RuntimeError):
    """A plugin broke one of its contracts; the message names the plugin or component.

    Attributes:
        kind: of the component that broke its contract during label inference ("reward", "strategy", "regime"), or None.
    """

    kind: str | None = None


class RewardError(PluginError, ValueError):
    """A reward returned something other than one number in [0, 1] for each training instance."""


class MissingExtraError(BlissError, ImportError):
    """A feature needs a package that is not installed; the message holds the pip command."""


class BlissWarning(UserWarning):
    """A result to read with care: collapse, a reward that could not tell labels apart, a baseline that wins."""


class RunError(BlissError, RuntimeError):
    """A run directory cannot be written, read or resumed."""


class ComputeError(RunError):
    """Work was cut short for a reason that lies outside of bliss: a worker was killed, or a cluster went away."""


class FileError(RunError):
    """A file cannot be written for a reason that lies outside of bliss, such as a full disk; what is there is kept."""
