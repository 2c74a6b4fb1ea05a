"""Presets: the values that a regime advises for what a user leaves alone, as plain data by the profile of the data."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from bliss_framework.kernel.bags import Bags


@frozen
class Profile:
    """What presets may depend on.

    Attributes:
        n_rows: instances.
        n_bags: bags of them.
        sparse: whether rows are sparse.
        unevenness: the standard deviation of the sizes of bags, in units of their mean.
    """

    n_rows: int = field()
    n_bags: int = field()
    sparse: bool = field(default=False)
    unevenness: float = field(default=0.0)

    @classmethod
    def of(cls, bags: Bags, sparse: bool) -> "Profile":
        """Describe data by their bags, and whether their rows are sparse."""
        return cls(bags.n_rows, bags.n_bags, sparse, float(bags.sizes.std() / bags.sizes.mean()))


@frozen
class When:
    """A condition on a profile: all that is not None must hold.

    Attributes:
        rows_above: there are more instances than this.
        rows_at_most: there are no more instances than this.
        bags_above: there are more bags than this.
        bags_at_most: there are no more bags than this.
        bag_size_at_most: a bag has no more instances than this in the mean.
        unevenness_above: bag sizes deviate by more than this, in units of their mean.
        sparse: rows are sparse, or are not.
    """

    rows_above: int | None = field(default=None)
    rows_at_most: int | None = field(default=None)
    bags_above: int | None = field(default=None)
    bags_at_most: int | None = field(default=None)
    bag_size_at_most: float | None = field(default=None)
    unevenness_above: float | None = field(default=None)
    sparse: bool | None = field(default=None)

    def holds(self, profile: Profile) -> bool:
        """Say whether data are of this kind.

        >>> When(rows_above=100, sparse=False).holds(Profile(n_rows=200, n_bags=20))
        True
        """
        return all(
            (
                self.rows_above is None or profile.n_rows > self.rows_above,
                self.rows_at_most is None or profile.n_rows <= self.rows_at_most,
                self.bags_above is None or profile.n_bags > self.bags_above,
                self.bags_at_most is None or profile.n_bags <= self.bags_at_most,
                self.bag_size_at_most is None or profile.n_rows <= self.bag_size_at_most * profile.n_bags,
                self.unevenness_above is None or profile.unevenness > self.unevenness_above,
                self.sparse is None or profile.sparse == self.sparse,
            )
        )

    def words(self) -> str:
        """Say the condition.

        >>> When(rows_above=5000, sparse=False).words()
        'above 5,000 rows, for dense rows'
        """
        said = [
            "" if self.rows_above is None else f"above {self.rows_above:,} rows",
            "" if self.rows_at_most is None else f"up to {self.rows_at_most:,} rows",
            "" if self.bags_above is None else f"above {self.bags_above:,} bags",
            "" if self.bags_at_most is None else f"up to {self.bags_at_most:,} bags",
            "" if self.bag_size_at_most is None else f"for bags of up to {self.bag_size_at_most:g}",
            "" if self.unevenness_above is None else "for uneven bags",
            {True: "for sparse rows", False: "for dense rows", None: ""}[self.sparse],
        ]
        return ", ".join(filter(None, said))


@frozen
class Case:
    """Values for data of one kind, over those for all data.

    Attributes:
        when: the kind of data.
        defaults: as in `Presets`.
        grid: as in `Presets`.
    """

    when: When = field()
    defaults: Mapping[str, Any] = field(factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(factory=dict)


@frozen
class Kind:
    """What was measured on data of one kind, and what a user of such data may try.

    Attributes:
        like: completes "Your bags look like ...".
        advice: whole sentences, with the figures that they rest on.
        when: the profile of such data.
        witnesses_above: the witness share is above this, or None where it does not matter. It is the share of instances
            of positive bags that score as positive out of fold.
        witnesses_at_most: it is no larger than this.
    """

    like: str = field()
    advice: str = field()
    when: When = field(factory=When)
    witnesses_above: float | None = field(default=None)
    witnesses_at_most: float | None = field(default=None)

    def words(self) -> str:
        """Say which data are of this kind.

        >>> Kind("texts", "", When(sparse=True), witnesses_above=0.2).words()
        'for sparse rows, above 20 % of instances of positive bags score as positive'
        """
        above, most = self.witnesses_above, self.witnesses_at_most
        limits = [
            *([] if above is None else [f"above {100 * above:g}"]),
            *([] if most is None else [f"up to {100 * most:g}"]),
        ]
        scored = f"{' and '.join(limits)} % of instances of positive bags score as positive" if limits else ""
        return ", ".join(filter(None, (self.when.words(), scored))) or "all others"

    def holds(self, profile: Profile, witness_share: float | None) -> bool:
        """Say whether data are of this kind; `witness_share` is None where it is not known.

        >>> few = Kind("needles in hay", "Look closely.", witnesses_at_most=0.1)
        >>> profile = Profile(n_rows=200, n_bags=20)
        >>> few.holds(profile, 0.05), few.holds(profile, 0.5), few.holds(profile, None)
        (True, False, False)
        """
        if not self.when.holds(profile):
            return False
        if witness_share is None:
            return self.witnesses_above is None and self.witnesses_at_most is None
        above = self.witnesses_above is None or witness_share > self.witnesses_above
        return above and (self.witnesses_at_most is None or witness_share <= self.witnesses_at_most)


@frozen
class Presets:
    """What a regime advises.

    Attributes:
        defaults: a value by parameter of `BlissClassifier`, or by "regime.parameter". A component is a name or a table;
            what the table says of its parameters holds where the user names the same component, too.
        grid: the values from which `settings="select"` chooses, by parameter or by "component.parameter".
        paper: values of `settings="paper"` where they depend on the regime, such as its reward.
        baselines: component names of the simple baselines that every evaluation is reported next to.
        control: parameters in which the control without a bandit differs from BLISS.
        cases: values for data of some kind; where several hold, the last one wins.
        kinds: what is said of data at the end of a run; where several hold, the first one is said.
    """

    defaults: Mapping[str, Any] = field(factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(factory=lambda: {"inherited_share": (0.0, 0.5, 1.0)})
    paper: Mapping[str, Any] = field(factory=dict)
    baselines: tuple[str, ...] = field(default=())
    control: Mapping[str, Any] = field(factory=dict)
    cases: tuple[Case, ...] = field(default=())
    kinds: tuple[Kind, ...] = field(default=())

    def kind_of(self, profile: Profile, witness_share: float | None) -> Kind | None:
        """Return the first kind that data are of; arguments as in `Kind.holds`."""
        return next((kind for kind in self.kinds if kind.holds(profile, witness_share)), None)

    def defaults_for(self, profile: Profile) -> dict[str, Any]:
        """Return the defaults for some data."""
        return self._laid(self.defaults, [case.defaults for case in self._holding(profile)])

    def grid_for(self, profile: Profile) -> dict[str, Sequence[Any]]:
        """Return the grid for some data."""
        return self._laid(self.grid, [case.grid for case in self._holding(profile)])

    def _holding(self, profile: Profile) -> list[Case]:
        return [case for case in self.cases if case.when.holds(profile)]

    @staticmethod
    def _laid(base: Mapping[str, Any], over: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        values = dict(base)
        for one in over:
            values |= one
        return values
