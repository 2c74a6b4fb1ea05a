"""What is known of a parameter of `BlissClassifier` before any data are: a row of the table in `parameters`."""

from typing import Any, Literal, get_args, get_origin

from attrs import field, frozen

from bliss_framework.validators import Validator, check_value

When = Literal["rows", "inference", "final", "selection", "run"]
COMPONENTS = ("regime", "classifier", "reward", "strategy", "final_classifier")


@frozen
class Parameter:
    """A row of the table.

    Attributes:
        when: it matters: before anything learns from the rows, in inference, after it, in selection, or how a fit runs.
        default: where neither the user nor the regime says anything.
        allowed: refuses all other values.
        text: what it means, a sentence or two.
        shown: what stands for its value on the command line, such as N.
        paper: its value in the paper, where that is not the default.
        in_grid: whether `settings="select"` may choose it.
        name: the key of the row.
        type: of its values; None is left to the regime.
    """

    when: When = field()
    default: Any = field()
    allowed: Validator = field()
    text: str = field()
    shown: str | None = field(default=None)
    paper: Any = field(default=None)
    in_grid: bool = field(default=True)
    name: str = field(default="")
    type: Any = field(default=Any)

    @property
    def is_component(self) -> bool:
        """Whether its values are components: names, tables or objects."""
        return self.name in COMPONENTS

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it may be, where there is nothing else."""
        return tuple(get_args(self._type)) if get_origin(self._type) is Literal else ()

    @property
    def value_type(self) -> type:
        """The type that text on a command line is turned into."""
        kinds = (self.type, *get_args(self.type))
        return str if str in kinds else next((one for one in (int, float, bool) if one in kinds), str)

    @property
    def _type(self) -> Any:
        inner = [one for one in get_args(self.type) if one is not type(None)]
        return inner[0] if len(inner) == 1 and get_origin(self.type) is not Literal else self.type

    def read(self, value: Any) -> Any:
        """Turn what was typed into a value: a number where numbers and words are allowed."""
        if isinstance(value, str) and float in get_args(self.type):
            try:
                return float(value)
            except ValueError:
                return value
        return value

    def check(self, value: Any) -> None:
        """Refuse a value that is not allowed; None is left to the regime.

        Raises:
            SettingsError: naming the parameter, its value and what is allowed.
        """
        if value is not None:
            check_value(self.name, value, self.allowed)
