"""The parts that a report is laid out from."""

from attrs import field, frozen


@frozen
class Cell:
    """A cell of a table: its text, and whether it is the best of its column."""

    text: str = field()
    best: bool = field(default=False)


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
    """A chart: its title, and an SVG element."""

    title: str = field()
    svg: str = field()
