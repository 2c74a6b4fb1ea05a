"""The regime: what weak labels mean."""

from bliss_mil.regime.mil_regime import MilRegime as MilRegime
