"""The marginal-effect reward of MIL, whose bag sums are made on a device."""

from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import (
    BlockMarginalEffect,
    BlockReward,
    Fold,
    MarginalEffect,
    Outcome,
    Reward,
    RewardFunction,
    influence,
    positive,
)
from bliss_torch.device import Device, device_name
from bliss_torch.sums import TorchSums

CERTAIN = 1e-6  # A positive bag of probability 0 would pull without end.


@frozen
class TorchMilMarginalReward(Reward):
    """The reward `mil-marginal`, whose logistic curves and noisy-or of bags are computed on a torch device.

        g_x' = (1 - P_B) / P_B * s_x'   in positive bags,      g_x' = -s_x'   in negative ones,

    with s and P_B as there. It pays beside a classifier on the same device, whose influence is an operator there.

    Args:
        steepness: of the logistic curve, in standard deviations of the output; above 0.
        gain: how soon a marginal effect above the mean counts in full; above 0.
        device: "auto", "cpu", "cuda" or "cuda:0" and so on; "auto" is CUDA where there is such a device.
    """

    steepness: float = field(default=3.4, validator=positive)
    gain: float = field(default=0.7, validator=positive)
    device: str = field(default="auto", validator=device_name)

    def __attrs_post_init__(self) -> None:
        """Refuse a device that is not there, before any work."""
        self._device.check()

    @property
    def _device(self) -> Device:
        return Device(self.device, "float32", "torch-mil-marginal")

    def prepare(self, fold: Fold, classifier: Any) -> RewardFunction:
        """Take the influence of training labels on held-out outputs from the classifier."""
        return MarginalEffect(influence(fold, classifier), self._slopes, self.gain)

    def in_blocks(self) -> BlockReward:
        """Return the same reward for bags that come in blocks."""
        return BlockMarginalEffect(_outputs, self._slopes, self.gain)

    def _slopes(self, outcome: Outcome, spread: float | None = None) -> NDArray[np.float64]:
        """Return g of each held-out instance, (m,); `spread` is that of all outputs, where these are not all."""
        heldout, device = outcome.fold.heldout, self._device
        with device.computing() as torch:
            outputs = device.tensor(_outputs(outcome)).double()
            unit = float(outputs.std(correction=0)) if spread is None else spread
            steep = outputs * (self.steepness / unit) if unit > 0 else torch.zeros_like(outputs)
            # log(1 - s) stays finite where s rounds to 1.
            nobody = (
                TorchSums(device).bag_sums(-torch.nn.functional.softplus(steep, threshold=700.0), heldout.bags).exp()
            )
            is_positive = device.indices(heldout.weak.values == 1).bool()
            of_bag = torch.where(is_positive, nobody / (1.0 - nobody).clamp(min=CERTAIN), -1.0)
            return np.asarray((of_bag[device.indices(heldout.bags.index)] * steep.sigmoid()).cpu().numpy())


def _outputs(outcome: Outcome) -> NDArray[np.floating]:
    return outcome.output(1)[1]
