"""ARFF: Weka's relational multi-instance files with a bag in each line, and flat ones with an instance in each line."""

from collections.abc import Sequence
from pathlib import Path

from bliss_framework.plugin import Reader, WeakDataset
from bliss_readers.arff.arff_file import read_arff
from bliss_readers.arff.arff_options import ArffOptions
from bliss_readers.arff.flat_arff import flat_dataset
from bliss_readers.arff.relational_arff import relational_dataset
from bliss_readers.text.first_look import begins_like_text


class ArffReader(Reader):
    r"""Reads ARFF files.

    In a relational file a line is a bag: `id,"1,2\n3,4",class`, where the quoted text has a line for each instance.
    In a flat file a line is an instance, and one attribute is the bag. Every attribute without another role is a
    feature and must be a number; text that is another one in each row names the instances and is left out. Bag ids stay
    text.
    """

    def sniff(self, path: Path) -> bool:
        """Say whether the file is called .arff and starts like text."""
        return path.suffix.lower() == ".arff" and begins_like_text(path)

    def read(  # type: ignore[override]
        self,
        path: Path,
        *,
        bag: str | None = None,
        label: str | Sequence[str] | None = None,
        instance_label: str | None = None,
        ignore: str | Sequence[str] = (),
        regime: str | None = None,
        label_sets: bool | None = None,
        separator: str | None = None,
    ) -> WeakDataset:
        """Read the file.

        Args:
            path: the file.
            bag: the attribute of bag ids. By default it is the first one of a relational file; of a flat one that
                which is called "bag", else the first one that is nominal or a string.
            label: the attribute of weak labels, or a list of attributes that are declared {0,1}: the labels of label
                sets. By default these are all attributes beside bag and instances in a relational file; in a flat one
                that which is called "class", "label", "labels" or "y", else the last one if it is nominal.
            instance_label: the attribute of true classes; by default the one that is called "instance_label" or
                "inst_y".
            ignore: attributes to leave out.
            regime: what the weak labels are for; by default "multiclass-mil" for label sets, else "mil".
            label_sets: whether one attribute of text holds sets of names; found out as in tables.
            separator: what stands between the names of a set, where it occurs; by default "|" or ";".

        Returns:
            The data set, its rows as float64 with NaN for "?"; `weak` has one entry for each bag in order of first
            appearance, frozensets of attribute names where they are label sets, and is None where there is no label or
            all are "?".

        Raises:
            DataError: naming the file, the line or the bag, what was found and what is allowed.
        """
        file = read_arff(Path(path))
        labels = [label] if isinstance(label, str) else label if label is None else list(label)
        ignored = [ignore] if isinstance(ignore, str) else list(ignore)
        options = ArffOptions(bag, labels, instance_label, ignored, regime, label_sets, separator)
        if any(attribute.kind == "relational" for attribute in file.attributes):
            return relational_dataset(file, options)
        return flat_dataset(file, options)
