"""The parts that a report is laid out from."""

from attrs import field, frozen


@frozen
class Cell:
    """A cell of a table.

    Attributes:
        text: in it.
        best: whether it is the best of its column, or not to be told from it.
        level: from 0 to 1, drawn as a bar behind the text; None draws none.
    """

    text: str = field()
    best: bool = field(default=False)
    level: float | None = field(default=None)


@frozen
class Table:
    """A table.

    Attributes:
        title: above it.
        columns: names.
        rows: of cells, the first of each row its name.
        note: below it.
    """

    title: str = field()
    columns: tuple[str, ...] = field()
    rows: tuple[tuple[Cell, ...], ...] = field()
    note: str = field(default="")


@frozen(eq=False)
class Chart:
    """A chart.

    Attributes:
        title: above it.
        svg: an SVG element.
        values: what it shows, in words and numbers, for those who do not see it.
        note: below it.
    """

    title: str = field()
    svg: str = field()
    values: str = field(default="")
    note: str = field(default="")


@frozen
class Remark:
    """A sentence in the place of what cannot be shown, under a title."""

    title: str = field()
    text: str = field()
    note: str = field(default="")


Part = Table | Chart | Remark


def percent(value: float) -> str:
    """Write a share in percent.

    >>> percent(0.85)
    '85.0%'
    """
    return f"{100 * value:.1f}%"


def rounded(text: str) -> str:
    """Shorten a cell that is a number, or a list of numbers; leave others as they are.

    >>> rounded("-0.123456"), rounded("007"), rounded("[0.25123, 0.5]")
    ('-0.1235', '007', '[0.2512, 0.5]')
    """
    if text.startswith("[") and text.endswith("]") and '"' not in text:
        return f"[{', '.join(rounded(one.strip()) for one in text[1:-1].split(','))}]"
    try:
        number = float(text)
    except ValueError:
        return text
    return text if number.is_integer() or len(text) < 7 else f"{number:.4g}"


def words(key: str) -> str:
    """Return the words of a column or a key."""
    return key.removeprefix("n_").replace("_", " ")
