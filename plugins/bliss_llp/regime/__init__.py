"""The regime: what weak labels mean."""

from bliss_llp.regime.llp_regime import LlpRegime as LlpRegime
