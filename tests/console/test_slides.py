"""The engineer's story: a folder with a file for each slide and a table, to predictions for new slides."""

import csv
import json

import numpy as np
import pytest

SHORT = ["--n-rounds", "2", "--n-folds", "2", "--n-inferences", "1", "--classifier", "ridge", "--output", "out"]


@pytest.fixture
def slides(here):
    """Write ten slides and two new ones as .h5 files, and a table; return the folder, which is the current one."""
    h5py = pytest.importorskip("h5py", reason="needs the extra files")
    rng = np.random.default_rng(0)
    for name in ("slides", "new_slides"):
        (here / name).mkdir()
    for number in range(12):
        rows = rng.normal(size=(6, 4)).astype(np.float32)
        rows[:2] += 4.0 * (number % 2)
        folder = "slides" if number < 10 else "new_slides"
        with h5py.File(here / folder / f"{number:03d}.h5", "w") as file:
            file["features"], file["coords"] = rows, rng.integers(0, 100, (6, 2))
    lines = [f"{number:03d},{'tumor' if number % 2 else 'normal'},p{number // 2}" for number in range(10)]
    (here / "labels.csv").write_text("slide,label,patient\n" + "\n".join(lines))
    return here


def test_a_run_and_predictions_of_new_slides(cli, slides):
    """Two commands: the folder is run, and slides without labels are predicted by their ids."""
    done = cli("run", "slides/", "--labels", "labels.csv", "--group", "patient", *SHORT)
    assert done.code == 0, done.err
    assert "slides: 10 bags, 60 instances, 4 features" in done.out
    with (slides / "out" / "bags.csv").open() as file:
        assert [row["bag"] for row in csv.DictReader(file)] == [f"{number:03d}" for number in range(10)]
    said = cli("predict", "out", "new_slides/", "--json", "--quiet")
    assert [one["bag"] for one in json.loads(said.out)["bags"]] == ["010", "011"]


def test_a_pattern_is_a_source_and_a_run_can_be_repeated(cli, slides):
    """A pattern gives the same labels as the folder, and run.toml finds the slides again."""
    assert cli("run", "slides/*.h5", "--labels", "labels.csv", *SHORT).code == 0
    again = cli("run", "out/run.toml", *SHORT[:-1], "again")
    assert again.code == 0, again.err
    assert (slides / "again" / "labels.csv").read_text() == (slides / "out" / "labels.csv").read_text()


def test_a_slide_that_disagrees(cli, slides):
    """A slide that is cut short stops the run, named; with --skip-bad the run goes on and says so."""
    place = slides / "slides" / "003.h5"
    place.write_bytes(place.read_bytes()[:300])
    words = ["run", "slides", "--labels", "labels.csv", *SHORT]
    done = cli(*words)
    assert done.code == 1
    assert "1 of 10 bags cannot be used" in done.err
    assert "003.h5 is damaged" in done.err
    assert not (slides / "out").exists()
    done = cli(*words, "--skip-bad")
    assert done.code == 0
    assert "1 of 10 bags were left out" in done.err


def test_a_folder_hides_no_data_set(cli, slides):
    """A folder of arrays that is called like a data set is taken where labels are told, and not otherwise."""
    (slides / "slides").rename(slides / "musk1")
    done = cli("run", "musk1", *SHORT)
    assert "musk1: 92 bags" in done.out
    done = cli("run", "musk1", "--labels", "labels.csv", *SHORT[:-1], "own")
    assert "musk1: 10 bags" in done.out


def test_tables_of_bags_without_labels(cli, here):
    """A model of Parquet files, one for each bag, predicts others without labels, which alone would be one table."""
    pandas = pytest.importorskip("pandas", reason="needs the extra files")
    pytest.importorskip("pyarrow", reason="needs the extra files")
    rng = np.random.default_rng(0)
    for number in range(12):
        folder = here / ("slides" if number < 10 else "new")
        folder.mkdir(exist_ok=True)
        frame = pandas.DataFrame(rng.normal(size=(6, 3)) + 4.0 * (number % 2), columns=["a", "b", "c"])
        frame.assign(stain=["x", "y"] * 3).to_parquet(folder / f"{number:03d}.parquet")
    (here / "labels.csv").write_text("bag,label\n" + "\n".join(f"{number:03d},{number % 2}" for number in range(10)))
    assert cli("run", "slides", "--labels", "labels.csv", *SHORT).code == 0
    assert json.loads((here / "out" / "result.json").read_text())["data"]["reader"] == "bag-files"
    said = cli("predict", "out", "new", "--json", "--quiet")
    assert [(one["bag"], one["predicted"]) for one in json.loads(said.out)["bags"]] == [("010", 0), ("011", 1)], (
        said.err
    )
