"""ARFF files: a bag or an instance in each line, and what is said of those that are refused."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from bliss_framework import Bags, DataError, WeakDataset
from bliss_framework.testing import check_reader
from bliss_readers.arff.arff_reader import ArffReader

RELATIONAL = """\
@RELATION musk
@ATTRIBUTE molecule {m1,m2,m3}
@ATTRIBUTE bag relational
  @ATTRIBUTE f1 numeric
  @ATTRIBUTE f2 numeric
@END bag
@ATTRIBUTE class {0,1}
@DATA
m1,"42,-198\\n40,-191",1
m2,"7,3",0
m3,"41,-190",1
"""
FLAT = """\
% synthetic
@relation mil
@attribute bag string
@attribute f1 numeric
@attribute 'f 2' real
@attribute class {0,1}
@data
'bag 1',1.5,0.2,1
'bag 1',2.5,?,1
"it's",7,3,0
"""
LABEL_SETS = """\
@relation toy

 @attribute id {b1,b2,b3}
 @attribute bag relational
   @attribute f1 numeric
 @end bag
 @attribute cat {0,1}
 @attribute dog {0, 1}
 @attribute owl {1,0}

 @data
 b1,"1\\n2",1,1,0
 b2, '3', 0, 0, 0
\tb3,"4",0,1,0
"""


@pytest.fixture
def arff(tmp_path):
    """Write an ARFF file."""

    def write(text: str, name: str = "toy.arff") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode())
        return path

    return write


def read(path: Path, **options) -> WeakDataset:
    return ArffReader().read(path, **options)


def refusal(path: Path, **options) -> str:
    with pytest.raises(DataError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    return message


def is_musk_of_k52(data: WeakDataset) -> bool:
    return (
        data.X.tolist() == [[42, -198], [40, -191], [7, 3], [41, -190]]
        and data.bags.tolist() == ["m1", "m1", "m2", "m3"]
        and data.weak.tolist() == [1, 0, 1]
        and (data.regime, data.feature_names) == ("mil", ("f1", "f2"))
    )


def is_flat_of_k52(data: WeakDataset) -> bool:
    return (
        np.array_equal(data.X, [[1.5, 0.2], [2.5, np.nan], [7, 3]], equal_nan=True)
        and data.bags.tolist() == ["bag 1", "bag 1", "it's"]
        and data.weak.tolist() == [1, 0]
        and (data.regime, data.feature_names) == ("mil", ("f1", "f 2"))
    )


class TestK52:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
    def test_line_ends_do_not_matter(self, arff, end):
        """A relational and a flat file say the same whatever ends their lines."""
        assert is_musk_of_k52(read(arff(RELATIONAL.replace("\n", end))))
        assert is_flat_of_k52(read(arff(FLAT.replace("\n", end))))

    def test_the_recorded_files_are_read(self, shared):
        """The files of the case themselves, among them one with carriage returns alone."""
        files = shared / "cases" / "files"
        assert all(is_musk_of_k52(read(files / f"{name}.arff")) for name in ("relational", "relational_crlf"))
        assert all(
            is_flat_of_k52(read(files / f"{name}.arff")) for name in ("flat_quotes", "flat_crlf", "flat_cr_only")
        )

    @pytest.mark.parametrize("empty", ['""', "''", "", r'"\n"', '" "'])
    def test_a_bag_without_instances_is_refused_by_name(self, arff, empty):
        """An empty cell of instances is no instance with a missing value."""
        message = refusal(arff(RELATIONAL.replace('"7,3"', empty)))
        assert "line 10: the bag 'm2' has no instances" in message


class TestRelational:
    def test_label_sets(self, arff):
        """Several {0,1} attributes are the labels of sets, which may be empty; one that no bag has is known."""
        data = read(arff(LABEL_SETS))
        assert data.regime == "multiclass-mil"
        assert data.weak.tolist() == [{"cat", "dog"}, frozenset(), {"dog"}]
        assert data.weak.dtype == object
        assert all(isinstance(one, frozenset) for one in data.weak)
        assert data.label_names == ("cat", "dog", "owl")
        assert data.X.tolist() == [[1], [2], [3], [4]]

    def test_one_label_of_several(self, arff):
        """One of the labels alone makes a binary problem, and two of them smaller sets."""
        path = arff(LABEL_SETS)
        data = read(path, label="dog")
        assert (data.regime, data.weak.tolist(), data.label_names) == ("mil", [1, 0, 1], None)
        for options in ({"label": ["cat", "owl"]}, {"ignore": "dog"}):
            assert read(path, **options).weak.tolist() == [{"cat"}, frozenset(), frozenset()]
        assert read(path, label="cat", regime="own").regime == "own"

    def test_true_classes_and_names_of_instances(self, arff):
        """An attribute of instances may be their true class; text that differs in each row is their name."""
        text = RELATIONAL.replace("@ATTRIBUTE f1 numeric", "@ATTRIBUTE id string").replace("f2 numeric", "inst_y {0,1}")
        text = text.replace("@END", "@ATTRIBUTE f2 numeric\n@ATTRIBUTE f3 {0,1}\n@END")
        for old, new in (("42,-198", "a,1,2,0"), ("40,-191", "b,0,3,1"), ("7,3", "c,0,4,1"), ("41,-190", "d,1,5,0")):
            text = text.replace(old, new)
        data = read(arff(text))
        assert data.feature_names == ("f2", "f3")
        assert data.instance_labels.tolist() == [1, 0, 0, 1]
        assert read(arff(text), ignore=["f3", "id"]).X.tolist() == [[2], [3], [4], [5]]
        assert "f3" in read(arff(text), instance_label="f2").feature_names

    def test_an_attribute_of_instances_may_be_called_as_one_of_bags(self, arff):
        """Names of the two levels are apart: an instance's "class" and "molecule" are features."""
        text = RELATIONAL.replace("f1 numeric", "molecule numeric").replace("f2 numeric", "class numeric")
        data = read(arff(text))
        assert data.feature_names == ("molecule", "class")
        assert data.X.tolist() == [[42, -198], [40, -191], [7, 3], [41, -190]]
        assert data.bags.tolist() == ["m1", "m1", "m2", "m3"]

    def test_sparse_rows(self, arff):
        """What a sparse row leaves out is 0, or the first value of a nominal attribute."""
        text = RELATIONAL.replace('"42,-198\\n40,-191"', r'"{0 42, 1 -198}\n{1 5}"').replace('"7,3",0', '"{}",0')
        assert read(arff(text)).X.tolist() == [[42, -198], [0, 5], [0, 0], [41, -190]]
        data = read(arff(text.replace('m3,"41,-190",1', '{0 m3, 1 "41,-190"}')))
        assert data.weak.tolist() == [1, 0, 0]

    def test_quotes_within_quotes(self, arff):
        """A cell of instances may hold quoted cells, as Weka writes them."""
        text = RELATIONAL.replace("f1 numeric", "id string").replace("m2,", "'m2',")
        text = text.replace('"42,-198\\n40,-191"', r"""'\'it\\\'s, 1\',1\r\n"second",2\r\n'""").replace("41,", "x,")
        data = read(arff(text), instance_label="id")
        assert data.instance_labels.tolist() == ["it's, 1", "second", "7", "x"]
        assert data.X.tolist() == [[1], [2], [3], [-190]]

    def test_unknown_labels(self, arff):
        """A file whose labels are all "?" is one to predict; where some are, a bag has been forgotten."""
        text = RELATIONAL.replace('",1', '",?')
        assert "line 9, attribute \"class\": bag 'm1' has no weak label (?)" in refusal(arff(text))
        assert read(arff(text.replace('",0', '",?'))).weak is None
        assert read(arff(text), ignore="class").weak is None

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ('"7,3"', '"7,3,1"', "line 10, instance 1: 3 cells, but the header declares 2 attributes"),
            ("40,-191", "40,red", "line 9, instance 2, attribute \"f2\": 'red' is no number"),
            (
                '"7,3",0',
                '"7,3",2',
                "line 10, attribute \"class\": '2' is none of the declared values; allowed are 0, 1",
            ),
            ('"7,3",0', '"7,3"', "line 10: 2 cells, but the header declares 3 attributes"),
            ('"7,3"', '"7,3', "line 10: '\"7,3,0' cannot be read; check the quotes"),
            ('"7,3"', '"7,3"x', "cannot be read; check the quotes"),
            ('m3,"41', 'm1,"41', "line 11, attribute \"molecule\": the bag 'm1' is also in line 9"),
            ('m3,"41', '?,"41', 'line 11, attribute "molecule": no bag id'),
            ("@END bag\n", "", 'the relation "bag" does not end'),
            ("@DATA\n", "", "line 8: 'm1,"),
            ("f1 numeric", "f2 numeric", 'two attributes are called "f2"'),
            ("f1 numeric", "f1 colour", "line 4: the attribute \"f1\" has the type 'colour'; allowed are numeric"),
            ("f1 numeric", "f1", "line 4: the attribute \"f1\" has the type ''"),
            ("f1 numeric", "f1 relational", 'line 4: the relation "f1" is within "bag"'),
            ("class {0,1}", "class {0,1}\n@ATTRIBUTE size numeric", "3 cells, but the header declares 4"),
            ('m2,"7,3",0', '{1 "7,3", 9 0}', "line 10: position 9, but positions end with 2"),
            ('m2,"7,3",0', '{1 "7,3" 2 0}', "cannot be read"),
            ('m2,"7,3",0', "{m2}", "line 10: 'm2' cannot be read"),
        ],
    )
    def test_a_wrong_file_is_explained(self, arff, old, new, said):
        """The message names the file, the line and the bag or attribute, and what was found there."""
        assert old in RELATIONAL
        assert said in refusal(arff(RELATIONAL.replace(old, new)))

    def test_labels_that_are_no_indicators_are_refused(self, arff):
        """Two class attributes are no label set unless each says yes or no."""
        text = RELATIONAL.replace("class {0,1}", "class {0,1}\n@ATTRIBUTE size numeric").replace('",0', '",0,5')
        text = text.replace('",1', '",1,5')
        assert "has the labels class, size, but size is not declared as {0,1}" in refusal(arff(text))
        assert read(arff(text), label="class").weak.tolist() == [1, 0, 1]

    def test_one_relation_is_what_bags_need(self, arff):
        """Two relational attributes, and one without attributes, are refused by name."""
        text = RELATIONAL.replace("class {0,1}", "more relational\n@ATTRIBUTE f3 numeric\n@END more")
        assert "has the relational attributes bag, more; allowed is one" in refusal(arff(text))
        text = RELATIONAL.replace("  @ATTRIBUTE f1 numeric\n  @ATTRIBUTE f2 numeric\n", "")
        assert 'the relation "bag" declares no attributes' in refusal(arff(text))

    def test_options_name_attributes(self, arff):
        """An option that names nothing lists what there is."""
        path = arff(RELATIONAL)
        for option in ("bag", "label", "ignore", "instance_label"):
            assert f'has no attribute "z", which the option {option} names' in refusal(path, **{option: "z"})
        assert 'the attribute "bag" holds the instances' in refusal(path, bag="bag")

    def test_files_without_rows(self, arff):
        """A file that ends after its header, one without header, and other text are refused."""
        assert "has no rows below @data" in refusal(arff(RELATIONAL[: RELATIONAL.index('m1,"')]))
        assert "has no line @data" in refusal(arff(""))
        assert "line 1: 'bag,f'; a header holds" in refusal(arff("bag,f\na,1\n"))
        assert "declares no attributes" in refusal(arff("@relation x\n@data\n1\n"))


class TestFlat:
    def test_the_bag_is_found(self, arff):
        """The bag is the attribute of that name, else the first text; names of instances are no features."""
        text = FLAT.replace("bag string", "molecule {'bag 1', \"it's\"}\n@attribute id string")
        text = text.replace("1',1.5", "1',i1,1.5").replace("1',2.5", "1',i2,2.5").replace('s",7', 's",i3,7')
        assert is_flat_of_k52(read(arff(text)))
        assert read(arff(text), bag="id", ignore="molecule").bags.tolist() == ["i1", "i2", "i3"]
        assert is_flat_of_k52(read(arff(FLAT.replace("bag string", "BAG string"))))
        numbers = FLAT.replace("bag string", "mol numeric").replace("'bag 1'", "7").replace('"it\'s"', "8")
        assert "no attribute that looks like bag ids; say with bag" in refusal(arff(numbers))
        assert read(arff(numbers), bag="mol").bags.tolist() == ["7", "7", "8"]

    def test_the_label_is_found(self, arff):
        """The weak label is "class" in any case, else the last attribute if it is nominal."""
        assert is_flat_of_k52(read(arff(FLAT.replace("class", "Class"))))
        assert is_flat_of_k52(read(arff(FLAT.replace("class", "active"))))
        numeric = arff(FLAT.replace("class {0,1}", "active numeric"))
        assert read(numeric).weak is None
        assert is_flat_of_k52(read(numeric, label="active"))
        assert "has the attributes y, class; say with label" in refusal(arff(FLAT.replace("f1", "y")))

    def test_the_names_of_label_and_bag_have_no_case(self, arff):
        """An attribute "CLASS" is the weak label, and "Bag" the bag, wherever they stand."""
        text = (
            "@relation r\n@attribute name string\n@attribute CLASS numeric\n@attribute Bag string\n"
            "@attribute f numeric\n"
            "@data\nx,1,a,0.5\ny,1,a,1.5\nz,0,b,2.5\n"
        )
        data = read(arff(text))
        assert (data.bags.tolist(), data.weak.tolist(), data.feature_names) == (["a", "a", "b"], [1, 0], ("f",))

    def test_labels_of_a_bag_agree(self, arff):
        """A bag with two weak labels is refused, unless they are true classes of instances."""
        path = arff(FLAT.replace("2.5,?,1", "2.5,?,0"))
        assert "line 9, attribute \"class\": bag 'bag 1' has the weak label '0', but '1' in line 8" in refusal(path)
        data = read(path, instance_label="class")
        assert (data.weak, data.instance_labels.tolist()) == (None, [1, 0, 0])

    def test_several_labels_are_named(self, arff):
        """In a flat file label sets are attributes that the user lists."""
        text = FLAT.replace("f1 numeric", "cat {0,1}").replace(",1.5", ",0").replace(",2.5", ",0").replace(",7", ",1")
        data = read(arff(text), label=["cat", "class"])
        assert data.weak.tolist() == [{"class"}, {"cat"}]
        assert data.feature_names == ("f 2",)

    def test_features_are_numbers(self, arff):
        """A nominal feature is refused with the way out, one of numbers is read."""
        text = FLAT.replace("f1 numeric", "f1 {red,blue}").replace(",1.5", ",red").replace(",2.5", ",red")
        path = arff(text.replace(",7", ",blue"))
        assert "attribute \"f1\": 'red' is no number" in refusal(path)
        assert read(path, ignore="f1").feature_names == ("f 2",)

    def test_sparse_rows(self, arff):
        """Sparse rows and dense ones may stand in one file."""
        data = read(arff(FLAT.replace("'bag 1',1.5,0.2,1", "{0 'bag 1', 2 0.2, 3 1}")))
        assert data.X[0].tolist() == [0.0, 0.2]
        assert data.weak.tolist() == [1, 0]

    @pytest.mark.parametrize("values", ["{true,false}", "{False,True}", "{FALSE, TRUE}"])
    def test_true_and_false_are_numbers(self, arff, values):
        """A class declared of true and false, in any case and order, is 1 and 0, and so is a feature."""
        true, false = (
            next(one for one in values.strip("{}").split(",") if one.strip().lower() == word)
            for word in ("true", "false")
        )
        text = FLAT.replace("class {0,1}", f"class {values}").replace("f1 numeric", f"f1 {values}")
        text = text.replace(",1.5,0.2,1", f",{true},0.2,{true}").replace(",2.5,?,1", f",{true},?,{true}")
        data = read(arff(text.replace(",7,3,0", f",{false},3,{false}")))
        assert (data.weak.tolist(), data.X[:, 0].tolist()) == ([1, 0], [1, 1, 0])

    def test_true_and_false_are_indicators(self, arff):
        """Several attributes of true and false are label sets as those of 0 and 1 are."""
        text = (
            LABEL_SETS.replace("{0,1}", "{true,false}")
            .replace("{0, 1}", "{false,true}")
            .replace("{1,0}", "{True,False}")
        )
        text = text.replace(",1,1,0", ",true,true,False").replace("0, 0, 0", "false, false, False")
        data = read(arff(text.replace(",0,1,0", ",false,true,False")))
        assert data.weak.tolist() == [{"cat", "dog"}, frozenset(), {"dog"}]

    @pytest.mark.parametrize("kind", ["string", "{'cat|dog','',dog,'cat;dog','cat,dog',cat}"])
    def test_names_in_one_attribute_are_label_sets(self, arff, kind):
        """An attribute of text is split as the same column of a table, and what is no separator for sure is refused."""
        text = FLAT.replace("class {0,1}", f"class {kind}")
        text = text.replace(",1.5,0.2,1", ",1,2,'cat|dog'").replace(",2.5,?,1", ",1,2,'cat|dog'")
        data = read(arff(text.replace(",7,3,0", ",7,3,''")))
        assert (data.regime, data.weak.tolist()) == ("multiclass-mil", [{"cat", "dog"}, set()])
        semicolons = text.replace("cat|dog'\n", "cat;dog'\n").replace(",7,3,0", ",7,3,dog")
        assert read(arff(semicolons)).weak.tolist() == [{"cat", "dog"}, {"dog"}]
        more = "'bag 3',1,1,cat\n"
        commas = arff(text.replace("cat|dog'\n", "cat,dog'\n").replace(",7,3,0", ",7,3,dog") + more)
        assert "the label 'cat,dog' is made of 'cat', 'dog'" in refusal(commas)
        assert read(commas, separator=",").weak.tolist() == [{"cat", "dog"}, {"dog"}, {"cat"}]
        assert read(commas, label_sets=False).weak.tolist() == ["cat,dog", "dog", "cat"]

    def test_a_position_stands_once_in_a_sparse_row(self, arff):
        """A position that is there twice is refused with its line, in any order and in the rows of a bag too."""
        for row in ("{0 'bag 1', 1 5, 1 6, 3 1}", "{1 5, 0 'bag 1', 3 1, 1 5}"):
            assert "line 8: the position 1 is there twice" in refusal(arff(FLAT.replace("'bag 1',1.5,0.2,1", row)))
        inner = RELATIONAL.replace('"42,-198\\n40,-191"', r'"{0 42}\n{1 5, 0 1, 1 5}"')
        assert "line 9, instance 2: the position 1 is there twice" in refusal(arff(inner))
        outer = RELATIONAL.replace('m2,"7,3",0', '{0 m2, 1 "7,3", 0 m2}')
        assert "line 10: the position 0 is there twice" in refusal(arff(outer))

    def test_a_missing_bag_id_is_no_bag(self, arff):
        """The "?" of the format is no bag in a flat file either."""
        assert "line 10, attribute \"bag\": '?' is no bag id" in refusal(arff(FLAT.replace('"it\'s"', "?")))

    def test_other_encodings_are_named(self, tmp_path):
        """A file that is not UTF-8, or no text, is refused with what to do."""
        path = tmp_path / "latin.arff"
        path.write_bytes(FLAT.replace("f1", "größe").encode("latin-1"))
        assert "is not UTF-8 text" in refusal(path)
        path.write_bytes(FLAT.replace("mil", "m\0").encode())
        assert "line 2: a NUL character" in refusal(path)
        assert "cannot be read" in refusal(tmp_path / "gone.arff")


ids = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=5).filter(
    lambda name: name not in ("?", "nan", "NaN", "NaT", "<NA>", "#N/A")
)
numbers = st.one_of(st.just(float("nan")), st.floats(allow_nan=False, allow_infinity=False))
data_sets = st.dictionaries(
    ids,
    st.tuples(
        st.lists(st.tuples(numbers, numbers), min_size=1, max_size=3), st.sets(st.sampled_from(["cat", "dog", "a b"]))
    ),
    min_size=1,
    max_size=4,
)


def quoted(text: str, quote: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return quote + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + quote


def row_text(row) -> str:
    return ",".join("?" if np.isnan(value) else repr(value) for value in row)


def sparse_text(row) -> str:
    cells = [f"{i} {'?' if np.isnan(value) else repr(value)}" for i, value in enumerate(row) if value != 0]
    return f"{{{', '.join(cells)}}}"


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data_sets, st.sampled_from("'\""), st.booleans(), st.booleans())
def test_what_is_written_is_read(tmp_path, bags, quote, relational, sparse):
    """Any bags, with any names and missing values, come back from either form as they were written."""
    labels = ["cat", "dog", "a b"]
    declared = "".join(f"@attribute '{label}' {{0,1}}\n" for label in labels)
    lines = []
    for bag, (rows, label_set) in bags.items():
        written = [sparse_text(row) if sparse and relational else row_text(row) for row in rows]
        flags = ",".join(str(int(label in label_set)) for label in labels)
        cells = [quoted("\n".join(written), quote)] if relational else written
        lines += [f"{quoted(bag, quote)}, {cell} ,{flags}" for cell in cells]
    features = "@attribute f1 numeric\n@attribute f2 real\n"
    instances = f"@attribute rows relational\n{features}@end rows\n" if relational else features
    path = tmp_path / "written.arff"
    header = f"@relation r\n@attribute id string\n{instances}{declared}@data\n"
    path.write_bytes((header + "\n".join(lines)).encode())
    data = read(path, label=labels)
    assert data.bags.tolist() == [bag for bag, (rows, _) in bags.items() for _ in rows]
    assert np.array_equal(data.X, [row for rows, _ in bags.values() for row in rows], equal_nan=True)
    assert data.weak.tolist() == [label_set for _, label_set in bags.values()]


def test_the_contract_is_kept(arff):
    """The conformance kit of readers passes, and sniff looks at name and first bytes."""
    for text in (RELATIONAL, FLAT, LABEL_SETS):
        check_reader(ArffReader(), arff(text))
    assert ArffReader().sniff(arff(FLAT, "toy.ARFF"))
    assert not ArffReader().sniff(arff(FLAT, "toy.txt"))
    assert not ArffReader().sniff(arff("\0", "toy.arff"))


def test_musk1_is_the_reference(shared):
    """MUSK1 in both forms has the rows, bags and weak labels of the reference arrays, value for value."""
    folder = shared / "data" / "mil"
    with np.load(folder / "musk1.npz") as arrays:
        X, bag, y = arrays["X"], arrays["bag"], arrays["y"]
    for name in ("weka_flat_musk1", "weka_relational_musk1_rebuilt"):
        data = read(folder / "raw" / f"{name}.arff")
        assert np.array_equal(data.X, X)
        assert Bags.from_ids(data.bags).index.tolist() == bag.tolist()
        assert data.weak.tolist() == y.tolist()
        assert data.bags[0] == "MUSK-188"


def test_label_sets_of_birds_are_the_reference(shared):
    """The 257 bags of birds have the rows (in single precision) and the label sets of the reference arrays."""
    folder = shared / "data" / "mil"
    with np.load(folder / "miml_birds.npz") as arrays:
        X, bag, Y, names = (arrays[key] for key in ("X", "bag", "Y", "label_names"))
    data = read(folder / "raw" / "weka_relational_miml_birds.arff")
    assert np.array_equal(data.X.astype(np.float32), X)
    assert Bags.from_ids(data.bags).index.tolist() == bag.tolist()
    assert data.label_names == tuple(names)
    assert data.weak.tolist() == [set(names[row == 1]) for row in Y]


def test_the_toy_of_the_toolbox_is_read(shared):
    """Indented declarations, an empty line, CRLF in part of the lines and blanks at the end do no harm."""
    data = read(shared / "data" / "mil" / "raw" / "weka_relational_toy.arff")
    assert data.X.tolist() == [
        [42, -198, -109],
        [41.9, -191, -142],
        [35, 14.2, 6.33],
        [11.25, -98, 10],
        [31, 40.5, 7.85],
    ]
    assert data.bags.tolist() == ["bag1"] * 3 + ["bag2"] * 2
    assert data.weak.tolist() == [{"label1", "label4"}, {"label2", "label3"}]
