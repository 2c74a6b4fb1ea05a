"""Flat ARFF files: one line for each instance."""

from bliss_framework.plugin import DataError, WeakDataset
from bliss_readers.arff.arff_file import ArffFile
from bliss_readers.arff.arff_options import ArffOptions, weak_labels
from bliss_readers.tables.cell_table import listed
from bliss_readers.tables.column_roles import LABEL_NAMES, choose, dataset_of, instance_names, roles_of

BAG_NAME = "bag"
CLASS_NAMES = ("class", *LABEL_NAMES)


def flat_dataset(file: ArffFile, options: ArffOptions) -> WeakDataset:
    """Make a data set of a flat file.

    Raises:
        DataError: naming the file, the line or the bag, what was found and what is allowed.
    """
    table, ignore = file.table, options.ignore
    bag = table.require(options.bag, "bag") if options.bag else _bag(file, options)
    labels = _label_attributes(file, bag, options)
    others = [name for name in (options.instance_label,) if name]
    names = instance_names(table, [bag, *labels, *others, *ignore])
    roles = roles_of(table, bag, None, options.instance_label, [*labels, *names, *ignore], label_names=())
    return dataset_of(table, roles, weak_labels(table, bag, labels, file.attributes, options), options.regime)


def _bag(file: ArffFile, options: ArffOptions) -> str:
    taken = {*(options.label or ()), options.instance_label, *options.ignore}
    named = [attribute for attribute in file.attributes if attribute.name not in taken]
    text = [attribute.name for attribute in named if attribute.kind != "numeric"]
    usual = [attribute.name for attribute in named if attribute.name.casefold() == BAG_NAME]
    if not usual and len(text) < 2 and not options.label:
        # The only nominal attribute is the class.
        text = [name for name in text if name.casefold() not in CLASS_NAMES and name != file.attributes[-1].name]
    if not usual and not text:
        raise DataError(
            f"{file.table.path} has no attribute that looks like bag ids; say with bag which one it is: "
            f"{listed(file.table.header)}."
        )
    return (usual or text)[0]


def _label_attributes(file: ArffFile, bag: str, options: ArffOptions) -> list[str]:
    table = file.table
    if options.label is not None:
        return [table.require(label, "label") for label in options.label]
    usual = [name for name in table.header if name.casefold() in CLASS_NAMES]
    taken = [bag, options.instance_label, *options.ignore]
    chosen = choose(table, None, usual, "label", taken)
    last = file.attributes[-1]
    if chosen is None and last.kind == "nominal" and last.name not in taken:
        return [last.name]
    return [] if chosen is None else [chosen]
