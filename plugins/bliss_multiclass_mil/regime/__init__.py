"""The regime: what weak labels mean."""

from bliss_multiclass_mil.regime.multiclass_mil_regime import MultiClassMilRegime as MultiClassMilRegime
