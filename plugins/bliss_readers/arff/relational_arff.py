"""Relational ARFF files: one line for each bag, its instances in one cell."""

from bliss_framework.plugin import DataError, WeakDataset, check_size
from bliss_readers.arff.arff_file import BYTES_OF_A_CELL, ArffFile, Attribute, arff_table, cells_of
from bliss_readers.arff.arff_options import UNKNOWN, ArffOptions, weak_labels
from bliss_readers.tables.cell_table import TextTable, listed
from bliss_readers.tables.column_roles import dataset_of, instance_names, roles_of


def relational_dataset(file: ArffFile, options: ArffOptions) -> WeakDataset:
    """Make a data set of a relational file.

    Raises:
        DataError: naming the file, the line or the bag, what was found and what is allowed.
    """
    relation = _relation(file)
    bag = _bag(file, relation, options)
    ignored = _ignored(file, relation, options.ignore)
    labels = _label_attributes(file, {bag, relation.name, *options.ignore}, options)
    instances = _instances(file.table, bag, relation)
    own = instances.header[0]
    taken = [own, *ignored, *(name for name in (options.instance_label,) if name)]
    names = instance_names(instances, taken)
    roles = roles_of(instances, own, None, options.instance_label, [*ignored, *names], label_names=())
    return dataset_of(instances, roles, weak_labels(file.table, bag, labels, file.attributes, options), options.regime)


def _relation(file: ArffFile) -> Attribute:
    relations = [attribute for attribute in file.attributes if attribute.kind == "relational"]
    if len(relations) > 1:
        names = listed([relation.name for relation in relations])
        raise DataError(f"{file.table.path} has the relational attributes {names}; allowed is one, the instances.")
    if not relations[0].inner:
        raise DataError(f'{file.table.path}: the relation "{relations[0].name}" declares no attributes of instances.')
    return relations[0]


def _bag(file: ArffFile, relation: Attribute, options: ArffOptions) -> str:
    bag = options.bag or file.attributes[0].name
    if file.table.require(bag, "bag") == relation.name:
        raise DataError(
            f'{file.table.path}: the attribute "{bag}" holds the instances, and an attribute of bag ids is needed; it '
            f"stands first, or is named by bag."
        )
    ids = file.table.column(bag)
    for row, one in enumerate(ids):
        if one in ("", UNKNOWN):
            raise DataError(f"{file.table.at(row, bag)}: no bag id; every bag needs one.")
    first = {one: row for row, one in reversed(list(enumerate(ids)))}
    for row, one in enumerate(ids):
        if first[one] != row:
            raise DataError(
                f"{file.table.at(row, bag)}: the bag {one!r} is also in {file.table.place(first[one])}; a bag is one "
                f"line, so give them two ids or put their instances together."
            )
    return bag


def _ignored(file: ArffFile, relation: Attribute, ignore: list[str]) -> list[str]:
    """Return the attributes of instances that are left out; attributes of bags can be left out as well."""
    inner = [attribute.name for attribute in relation.inner]
    for name in ignore:
        if name not in inner:
            file.table.require(name, "ignore")
    return [name for name in ignore if name in inner]


def _label_attributes(file: ArffFile, taken: set[str], options: ArffOptions) -> list[str]:
    if options.label is not None:
        return [file.table.require(label, "label") for label in options.label]
    return [name for name in file.table.header if name not in taken]


def _instances(bags: TextTable, bag: str, relation: Attribute) -> TextTable:
    """Make a table of the instances; its first column holds their bag ids."""
    rows, places = [], []
    n_instances = sum(text.count("\n") + 1 for text in bags.column(relation.name))
    check_size(bags.path, BYTES_OF_A_CELL * n_instances * len(relation.inner))
    for row, (one, text) in enumerate(zip(bags.column(bag), bags.column(relation.name), strict=True)):
        instances = [line.strip() for line in text.split("\n") if line.strip()]
        if not instances:
            raise DataError(
                f"{bags.path}, {bags.place(row)}: the bag {one!r} has no instances; it needs one or more, so add them "
                f"or delete the line."
            )
        for number, line in enumerate(instances, 1):
            place = f"{bags.place(row)}, instance {number}"
            rows.append([one, *cells_of(line, relation.inner, f"{bags.path}, {place}")])
            places.append(place)
    clash = any(attribute.name == bag for attribute in relation.inner)
    own = Attribute(f"{bag} of the bag" if clash else bag, "text")
    return arff_table(bags.path, (own, *relation.inner), rows, places)
