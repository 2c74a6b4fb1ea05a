"""Groups above bags in a run: slides of one patient are on one side of every split, and never a feature."""

import numpy as np
import pytest

from bliss_framework.errors import DataError
from bliss_framework.extension.loading.plugins import load_plugins
from bliss_framework.report.tested import ratio_of
from bliss_framework.runs.evaluation.methods import bliss_method
from bliss_framework.runs.evaluation.plan import drawn_bags, plan_fits
from bliss_framework.runs.evaluation.tests_table import read_tests
from bliss_framework.runs.experiment import run
from bliss_framework.runs.folder.run_folder import RunFolder
from bliss_framework.runs.prepared import fold_notes, prepare
from bliss_framework.runs.settings.records import DataSettings, EvaluationSettings, RunSettings

N_SLIDES = 16
PATIENT = {f"s{slide}": f"p{slide // 2}" for slide in range(N_SLIDES)}


@pytest.fixture
def slides(tmp_path):
    """Write a table of instances with a patient column, or one without it and a table of slides that has it."""

    def write(where="rows", patients=PATIENT):
        rng = np.random.default_rng(0)
        own = where == "rows"
        lines = [f"slide,a,b{',patient' if own else ''}{',label' if own else ''}"]
        for slide, patient in patients.items():
            for _ in range(3):
                a, b = rng.normal(size=2)
                extra = f",{patient},{int(slide[1:]) % 2}" if own else ""
                lines.append(f"{slide},{a:.4f},{b:.4f}{extra}")
        path = tmp_path / "rows.csv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if not own:
            bags = [f"{slide},{patient},{int(slide[1:]) % 2}" for slide, patient in reversed(patients.items())]
            (tmp_path / "slides.csv").write_text("\n".join(["slide,patient,label", *bags]) + "\n", encoding="utf-8")
        return DataSettings(
            str(path), {"bag": "slide", "group": "patient", **({} if own else {"labels": str(tmp_path / "slides.csv")})}
        )

    return write


def prepared(data, evaluation=None, **bliss):
    settings = RunSettings(data, bliss={"n_rounds": 2, **bliss}, evaluation=evaluation or EvaluationSettings())
    return prepare(settings, load_plugins(), [])


@pytest.mark.parametrize("where", ["rows", "bags"])
@pytest.mark.parametrize(
    "evaluation", [EvaluationSettings(cv=3, repeats=2), EvaluationSettings(test_share=0.25)], ids=["cv", "share"]
)
def test_no_patient_is_trained_on_and_tested(slides, where, evaluation):
    """In every fit of an evaluation a patient is on one side; the column is no feature, whichever table has it."""
    run = prepared(slides(where), evaluation)
    assert run.problem.data.columns == ("a", "b")
    patient = np.array([PATIENT[one] for one in run.problem.bags.ids.tolist()])
    fits = plan_fits(run.problem, [bliss_method(run.config)], evaluation, 0)
    for fit in fits:
        tested = np.isin(np.arange(N_SLIDES), fit.test_bags)
        assert 0 < tested.sum() < N_SLIDES
        assert not set(patient[tested]) & set(patient[~tested])
    if evaluation.cv is not None:
        assert sorted(np.concatenate([fit.test_bags for fit in fits]).tolist()) == sorted([*range(N_SLIDES)] * 2)


def test_a_group_that_holds_all_or_splits_a_bag_is_refused(slides):
    """One patient leaves nothing to hold out; a slide has one patient; a column that is not there is named."""
    with pytest.raises(DataError, match="one group"):
        prepared(slides(patients=dict.fromkeys(PATIENT, "p")))
    data = slides()
    data = DataSettings(data.source, {**data.options, "group": "ward"})
    with pytest.raises(DataError, match='no column "ward", which the option group names'):
        prepared(data)
    data = slides(patients={**PATIENT, "s3": "NaN"})
    with pytest.raises(DataError, match='column "patient": no group'):
        prepared(data)


def test_groups_of_one_bag_each_change_nothing(slides, tmp_path):
    """Where every slide has a patient of its own, the folds are those without patients."""
    evaluation = EvaluationSettings(cv=4)
    with_groups = prepared(slides(patients={slide: f"p{slide}" for slide in PATIENT}), evaluation)
    assert with_groups.problem.bags.groups is None


def test_fewer_patients_than_folds_are_said():
    """A share of the groups is drawn whole, at least one and never all."""
    strata, groups = np.array([0, 1] * 4), np.repeat(np.arange(4), 2)
    for seed in range(5):
        drawn = drawn_bags(strata, groups, 0.25, np.random.default_rng(seed))
        assert len(drawn) == 2
        assert len(set(groups[drawn].tolist())) == 1


def test_folds_are_reduced_to_the_number_of_patients(slides):
    """More folds than patients are made as many as there are, with a note."""
    run = prepared(slides(), EvaluationSettings(cv=12))
    assert fold_notes(run) == ["cv was reduced from 12 to 8, the number of groups."]


def test_a_run_says_which_bags_are_of_one_group(slides, tmp_path):
    """tests.csv has the group of each bag, and result.json how many there are: intervals are over groups."""
    run_of = prepared(slides(), EvaluationSettings(cv=2), n_folds=2)
    document = run(run_of, lambda event: None, RunFolder(tmp_path / "out")).document
    assert document["data"]["n_groups"] == len(set(PATIENT.values()))
    for method in read_tests(tmp_path / "out" / "tests.csv"):
        group = dict(zip(method.bags.tolist(), method.groups.tolist(), strict=True))
        together = {(a, b) for a in group for b in group if group[a] == group[b]}
        assert together == {(a, b) for a in PATIENT for b in PATIENT if PATIENT[a] == PATIENT[b]}
        ratio = ratio_of("bag_accuracy", method)
        assert (len(ratio.above), ratio.unit) == (len(set(PATIENT.values())), "groups")
        assert ratio.value == pytest.approx((method.truth == method.predicted).mean())
