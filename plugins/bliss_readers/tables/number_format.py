"""How a text writes numbers: with a point or a comma, and with what between thousands."""

import re

from attrs import field, frozen

from bliss_framework.plugin import SettingsError

MISSING = frozenset({"", "?", "na", "nan", "n/a", "#n/a", "null", "<na>"})
TRUTH = {"true": 1.0, "false": 0.0}
BETWEEN_THOUSANDS = {".": ",\xa0\u202f'’", ",": ". \xa0\u202f'’"}
_NAMES = {
    ",": "a comma",
    ".": "a point",
    " ": "a blank",
    "\xa0": "a blank",
    "\u202f": "a blank",
    "'": "an apostrophe",
    "’": "an apostrophe",
}
_GROUPED = r"[+-]?[1-9]\d{0,2}(?:[%s]\d{3})+"
_COMMA = r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?"
_POINT = r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?"


@frozen
class NumberFormat:
    """How cells write numbers.

    Attributes:
        decimal: "." or ",".
        thousands: between thousands, or "" where nothing is.
    """

    decimal: str = field(default=".")
    thousands: str = field(default="")

    def number(self, cell: str) -> float:
        """Return the number that a cell holds, NaN where it is missing; true and false are 1 and 0.

        Raises:
            ValueError: the cell is no number.

        >>> NumberFormat(",", ".").number("1.234,5"), NumberFormat().number("-2e3")
        (1234.5, -2000.0)
        """
        if is_missing(cell):
            return float("nan")
        if cell.casefold() in TRUTH:
            return TRUTH[cell.casefold()]
        # Python alone reads "1_000" as a number.
        if "_" in cell:
            raise ValueError(cell)
        if self.thousands and self.thousands in cell:
            if not _grouped(self.decimal, self.thousands).fullmatch(cell):
                raise ValueError(cell)
            cell = cell.replace(self.thousands, "")
        if self.decimal == ".":
            return float(cell)
        if "." in cell:
            raise ValueError(cell)
        return float(cell.replace(",", "."))

    def is_number(self, cell: str) -> bool:
        """Say whether a cell holds a number, or is missing."""
        try:
            self.number(cell)
        except ValueError:
            return False
        return True

    def plain(self, cell: str) -> str:
        """Write the number of a cell with a point and nothing between thousands."""
        cell = cell.replace(self.thousands, "") if self.thousands else cell
        return cell.replace(",", ".") if self.decimal == "," else cell

    @property
    def words(self) -> str:
        """What is unusual, as the end of a sentence; empty where nothing is."""
        said = ["numbers have a decimal comma"] if self.decimal == "," else []
        said += [f"{_NAMES[self.thousands]} between thousands"] if self.thousands else []
        return " and ".join(said) if self.decimal == "," else "".join(f"numbers have {one}" for one in said)


POINT = NumberFormat()


def is_missing(cell: str) -> bool:
    """Say whether a cell stands for an unknown value: empty, "?", "NA" or "nan", "n/a" or "null"."""
    return cell.casefold() in MISSING


def check_decimal(decimal: str | None) -> None:
    """Refuse a decimal sign that is none (SettingsError)."""
    if decimal not in (None, ".", ","):
        raise SettingsError(f"decimal is {decimal!r}; allowed is '.' or ','.")


def found_format(text: str, delimiter: str, decimal: str | None) -> NumberFormat:
    r"""Find out how the cells of a text write numbers.

    A comma is decimal where some cell can mean nothing else, and no cell has a decimal point.

    Args:
        text: of the rows.
        delimiter: between cells.
        decimal: what the user says, or None.

    >>> found_format("a;1,5\nb;1.200,25\n", ";", None)
    NumberFormat(decimal=',', thousands='.')
    """
    # Between commas a cell with a comma is quoted.
    has_commas = "," in text and (delimiter != "," or '"' in text)
    if decimal is None:
        decimal = "," if has_commas and _is_comma_decimal(text, delimiter) else "."
    for sign in BETWEEN_THOUSANDS[decimal]:
        if sign in text and (sign != "," or has_commas) and _some(_grouped(decimal, sign).pattern, text, delimiter):
            return NumberFormat(decimal, sign)
    return NumberFormat(decimal)


def _is_comma_decimal(text: str, delimiter: str) -> bool:
    if _some(_POINT, text, delimiter, _grouped(",", ".")):
        return False
    if _some(_COMMA, text, delimiter, _grouped(".", ",")):
        return True
    # "1,234" alone: between commas somebody quoted thousands, elsewhere a comma in a number is decimal as a rule.
    return delimiter != "," and _some(_COMMA, text, delimiter) and not _some(_POINT, text, delimiter)


def _some(pattern: str, text: str, delimiter: str, but: re.Pattern[str] | None = None) -> bool:
    """Say whether some cell has a form, and not another one."""
    between = re.escape(delimiter)
    cells = re.finditer(rf'(?:^|[{between}"])[ ]*({pattern})[ ]*(?=[{between}"\r\n]|\Z)', text, re.MULTILINE)
    return any(but is None or not but.fullmatch(cell[1]) for cell in cells)


def _grouped(decimal: str, sign: str) -> re.Pattern[str]:
    return re.compile(_GROUPED % re.escape(sign) + rf"(?:{re.escape(decimal)}\d+)?")
