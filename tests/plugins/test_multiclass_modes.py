"""What negative labels stand for, in a fitted model."""

import sys

import numpy as np
import pytest

from bliss_framework import BlissClassifier, DataError, MissingExtraError
from bliss_multiclass_mil.datasets.generator import make_bags
from bliss_multiclass_mil.regime.modes import Modes


class TestModes:
    """Negative labels of a fitted model."""

    def fitted(self, **parameters):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 5, 240)
        X = rng.normal(size=(240, 5)) * 0.3 + 5 * np.eye(5)[y]
        data = make_bags(X, y, [3, 4], (2, 4))
        shown = np.argmax(data.X, axis=1)
        model = BlissClassifier(
            **{
                "regime": {"name": "multiclass-mil", "n_negative": 3},
                "classifier": "cooperative-softmax",
                "reward": {"name": "multiclass-mil", "alpha": 0.7},
                "final_classifier": "same",
                "n_inferences": 1,
                "n_folds": 2,
                "n_rounds": 30,
                "scaling": "none",
                "random_state": 0,
                **parameters,
            },
        )
        return model.fit(data.X, data.weak, data.bags), data, shown

    def test_counts_and_means(self, tmp_path):
        """Each negative instance is in one mode of its own fold, and tables count and average those."""
        model, data, shown = self.fitted()
        modes = Modes.of(model)
        values, counts = modes.counts(shown)
        assert values.tolist() == [0, 1, 2, 3, 4]
        assert modes.labels.tolist() == [0, 1, 2] * 2
        negative = model.class_indices_ == 0
        assert np.array_equal(counts.sum(axis=0), np.bincount(shown[negative], minlength=5))
        for row, (fold, label) in enumerate(zip(modes.folds, modes.labels, strict=True)):
            own = [
                i
                for i in range(len(shown))
                if negative[i] and model.fold_[i] == fold and np.nanargmax(model.label_means_[i, :3]) == label
            ]
            assert counts[row].tolist() == [sum(shown[i] == value for i in own) for value in range(5)]
            if own:
                assert modes.means(data.X)[row] == pytest.approx(np.mean([data.X[i] for i in own], axis=0))
        pytest.importorskip("matplotlib")
        from matplotlib.image import imread

        modes.draw(data.X, (1, 5), tmp_path / "modes.png")
        assert imread(tmp_path / "modes.png").shape[:2] == (2, 15)

    def test_folds_are_whole_bags(self):
        """Every instance of a bag is inferred by one fold; trained on the rest, by several, which is told as -1."""
        model, data, _ = self.fitted()
        folds = {(bag, fold) for bag, fold in zip(data.bags.tolist(), model.fold_.tolist(), strict=True)}
        assert len(folds) == len(set(data.bags.tolist()))
        assert set(model.fold_.tolist()) == {0, 1}
        assert set(self.fitted(train_on="rest", n_folds=3)[0].fold_.tolist()) == {-1}

    def test_refusals(self):
        """Averages have no modes, and one negative label is one mode."""
        with pytest.raises(DataError, match="n_inferences=1"):
            Modes.of(self.fitted(n_inferences=2)[0])
        with pytest.raises(DataError, match="There is one negative label"):
            Modes.of(self.fitted(regime="multiclass-mil")[0])

    def test_pictures_need_an_extra(self, monkeypatch):
        """Without matplotlib the message says what to install."""
        modes = Modes.of(self.fitted()[0])
        monkeypatch.setitem(sys.modules, "matplotlib.image", None)
        with pytest.raises(MissingExtraError, match=r"pip install .*matplotlib"):
            modes.draw(np.zeros((1, 5)), (1, 5), "x.png")
