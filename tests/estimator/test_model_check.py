"""A model from a file is whole and safe to predict with, or it is refused when it is loaded."""

import io
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bliss_framework import RunError, load_model, save_model
from bliss_framework.estimator.model_check import check_model
from bliss_mil.baselines.simple_svms import InheritedLabelSvm


@pytest.fixture
def fitted(toy, bliss):
    """A function that fits a model with a final classifier, on dense or sparse rows."""

    def fit(final="svm-rbf", sparse=False):
        X, bags, weak = toy()
        return bliss(final_classifier=final, n_rounds=2, n_inferences=1).fit(
            sp.csr_matrix(X) if sparse else X, weak, bags=bags
        )

    return fit


def machine_of(model):
    """The SVC in a model."""
    found = model.members_[0].final.fitted_
    return getattr(found, "svc_", found)


SPOILT = {
    "support_ out of range": ("support_", lambda a: np.full_like(a, 10**7)),
    "support_ negative": ("support_", lambda a: np.full_like(a, -1)),
    "support_ too long": ("support_", lambda a: np.concatenate([a] * 4)),
    "support_ too short": ("support_", lambda a: a[:1]),
    "support_ of another type": ("support_", lambda a: a.astype(np.float64)),
    "counts out of range": ("_n_support", lambda a: np.full_like(a, 10**7)),
    "counts that overflow": ("_n_support", lambda a: np.array([2**31 - 1, 2**31 - 1], dtype=a.dtype)),
    "counts that do not add up": ("_n_support", lambda a: a + 1),
    "a class too many": ("_n_support", lambda a: np.append(a, a[:1] * 0)),
    "dual too short": ("_dual_coef_", lambda a: a[:, :1]),
    "dual NaN": ("_dual_coef_", lambda a: a * np.nan),
    "dual is no array": ("_dual_coef_", lambda a: None),
    "intercept too short": ("_intercept_", lambda a: a[:0]),
    "pairs of probabilities": ("_probA", lambda a: np.ones(7)),
    "no classes": ("classes_", lambda a: a[:1]),
    "classes of another number": ("classes_", lambda a: np.arange(5)),
    "another implementation": ("_impl", lambda a: "one_class"),
    "sparse in words": ("_sparse", lambda a: not a),
    "shape of training": ("shape_fit_", lambda a: (1, 1)),
}


class TestSupportVectorMachines:
    @pytest.mark.parametrize("final", ["svm-rbf", "svm-linear", "sklearn.svm.SVC"])
    @pytest.mark.parametrize(("name", "spoil"), SPOILT.values(), ids=SPOILT)
    def test_arrays_that_libsvm_would_believe(self, fitted, final, name, spoil):
        """Every array has the length, the type and the values that libsvm takes for granted, or is refused."""
        model = fitted(final)
        check_model(model)
        machine = machine_of(model)
        setattr(machine, name, spoil(getattr(machine, name)))
        with pytest.raises(ValueError, match=r"SVC|support"):
            check_model(model)

    def test_sparse_vectors(self, fitted):
        """A support vector with a column that is not there is refused; so are too few of them."""
        model = fitted("sklearn.svm.SVC", sparse=True)
        check_model(model)
        machine = machine_of(model)
        machine.support_vectors_.indices[0] = 10**7
        with pytest.raises(ValueError, match="does not fit together"):
            check_model(model)
        model = fitted("sklearn.svm.SVC", sparse=True)
        machine_of(model).support_vectors_ = machine_of(model).support_vectors_[:1]
        with pytest.raises(ValueError, match="support_vectors_ of SVC has the shape"):
            check_model(model)


class TestOtherArrays:
    def test_sparse_rows_of_a_kernel(self, fitted):
        """Rows that a kernel compares with are within their columns."""
        model = fitted("kernel-ridge", sparse=True)
        model.members_[0].final.fitted_.X_fit_.indices[0] = 10**6
        with pytest.raises(ValueError, match="a sparse matrix in it does not fit together"):
            check_model(model)

    @pytest.mark.parametrize("classes", [[10**7], [-1], [0.5], []])
    def test_classes_of_neighbours(self, fitted, classes):
        """Neighbours have classes that are there, one each."""
        model = fitted(KNeighborsClassifier(3, algorithm="brute"))
        check_model(model)
        neighbours = model.members_[0].final.fitted_
        neighbours._y = np.resize(classes, len(neighbours._y)) if classes else neighbours._y[:2]
        with pytest.raises(ValueError, match="classes of neighbours"):
            check_model(model)

    @pytest.mark.parametrize(
        ("name", "value", "why"),
        [
            ("bag_index_", lambda a: a + 100, "bag_index_ holds numbers that cannot be"),
            ("bag_index_", lambda a: a[:3], "class_indices_ has the shape"),
            ("labels_", lambda a: a.tolist(), "labels_ is no array"),
            ("classes_", lambda a: a[:1], "classes_ are no classes"),
            ("label_means_", lambda a: a[:, :1], "label_means_ has the shape"),
            ("weak_labels_", lambda a: a[:2], "weak_labels_ are of 2 bags, not of 12"),
            ("bag_threshold_", lambda a: float("nan"), "bag_threshold_ is no number"),
            ("probability_slope_", lambda a: "x", "probability_slope_ is no number"),
            ("members_", lambda a: [], "it has no members"),
            ("members_", lambda a: [1], "a member is none"),
            ("plugins_", lambda a: {"regime:mil": {"plugin": "mil"}}, "plugins_ does not say"),
            ("n_features_in_", lambda a: 10**12, "it has 1000000000000 features"),
            ("n_features_in_", lambda a: 3, "broadcast|features|shape"),
            ("reward", ..., "it lacks the parameter reward"),
            ("known_", ..., "missing or of the wrong kind"),
        ],
    )
    def test_attributes_of_a_model(self, fitted, name, value, why):
        """What predict and explain need is there, and fits together."""
        model = fitted("kernel-ridge")
        if value is ...:
            delattr(model, name)
        else:
            setattr(model, name, value(getattr(model, name)))
        with pytest.raises(ValueError, match=why):
            check_model(model)

    def test_a_classifier_that_does_not_fit(self, fitted):
        """Any array of any classifier is tried by predicting one row."""
        model = fitted("logistic")
        model.members_[0].final.fitted_.coef_ = np.zeros((1, 7))
        with pytest.raises(ValueError, match="size 7 is different from 2"):
            check_model(model)
        del model.members_[0].final.fitted_.coef_
        with pytest.raises(ValueError, match="it cannot predict: AttributeError"):
            check_model(model)


class TestFiles:
    @pytest.mark.parametrize("root", [SVC, {"a": 1}, [1, 2], "text", None, np.ones(3)])
    def test_a_root_that_is_no_model(self, root):
        """A class, a table, a list and an array are no models."""
        with pytest.raises(ValueError, match="which is no model"):
            check_model(root)

    def test_a_file_of_a_class(self, tmp_path):
        """A file that names a class alone is refused by load_model."""
        save_model(InheritedLabelSvm, tmp_path / "a.skops")
        with pytest.raises(
            RunError, match=r"a\.skops is damaged, or no model of ours .it holds the class InheritedLabelSvm"
        ):
            load_model(tmp_path / "a.skops")

    def test_a_spoilt_array_in_a_file(self, fitted, tmp_path):
        """A file in which an array is replaced is refused with its name."""
        path = tmp_path / "a.skops"
        save_model(fitted("sklearn.svm.SVC"), path)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        arrays = {name: np.load(io.BytesIO(data)) for name, data in members.items() if name.endswith(".npy")}
        counts = next(name for name, a in arrays.items() if a.dtype == np.int32 and a.shape == (2,))
        stream = io.BytesIO()
        np.save(stream, np.full(2, 10**7, dtype=np.int32))
        members[counts] = stream.getvalue()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        with pytest.raises(RunError, match=r"a\.skops is damaged.*_n_support of SVC"):
            load_model(path)

    def test_a_file_that_fills_the_memory(self, fitted, tmp_path):
        """A model whose arrays claim more than a file of its size may hold is not opened."""
        path = tmp_path / "a.skops"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("schema.json", json.dumps({}))
            archive.writestr("1.npy", bytes(300_000_000))
        with pytest.raises(RunError, match="says that it holds 300 MB"):
            load_model(path)
