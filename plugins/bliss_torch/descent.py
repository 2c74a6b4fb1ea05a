"""Limited-memory BFGS on several problems side by side, on a device; it may go on where an earlier descent stopped.

Source: Nocedal and Wright, Numerical Optimization (2006), algorithms 7.4 and 3.1. The steps are those of the
cooperative softmax on NumPy: no problem sees the others, and each evaluation serves all of them.
"""

from collections.abc import Callable
from typing import Any

from attrs import evolve, field, frozen

Function = Callable[[Any], tuple[Any, Any]]
MEMORY = 8  # Steps that are remembered.
DECREASE = 1e-4  # Of what the slope promises, that a step must bring.
MOST_CUTS = 8
ROUNDING = 1e-12  # Of a step's square, below which curvature along it is noise.


@frozen(eq=False)
class Descents:
    """Where P descents are, as tensors of doubles.

    Attributes:
        points: (P, D).
        steps: (P, D) each, the latest last.
        changes: (P, D) each, by which those changed the gradient; 0 where a step told nothing.
    """

    points: Any = field()
    steps: tuple[Any, ...] = field(default=())
    changes: tuple[Any, ...] = field(default=())

    def take(self, problems: Any) -> "Descents":
        """Keep, reorder or repeat problems."""
        steps, changes = (tuple(one[problems] for one in part) for part in (self.steps, self.changes))
        return Descents(self.points[problems], steps, changes)

    def put(self, problems: Any, later: "Descents") -> "Descents":
        """Replace some problems by those of later descents; what others do not remember is 0."""
        points = self.points.clone()
        points[problems] = later.points
        return Descents(points, self._put(problems, "steps", later), self._put(problems, "changes", later))

    def _put(self, problems: Any, name: str, later: "Descents") -> tuple[Any, ...]:
        own, new = getattr(self, name), getattr(later, name)
        longest = max(len(own), len(new))
        merged = []
        for place in range(-longest, 0):
            one = own[place].clone() if -place <= len(own) else self.points.new_zeros(self.points.shape)
            one[problems] = new[place] if -place <= len(new) else 0.0
            merged.append(one)
        return tuple(merged)

    def remembering(self, points: Any, change: Any) -> "Descents":
        """Return the descents at new points, where the gradient has changed."""
        step = points - self.points
        useful = _dot(step, change) > ROUNDING * _dot(step, step)
        steps = (*self.steps, step)[-MEMORY:]
        changes = (*self.changes, change * useful[:, None])[-MEMORY:]
        return evolve(self, points=points, steps=steps, changes=changes)


def descend(
    function: Function, start: Descents, n_steps: int, first_step: float, tolerance: float
) -> tuple[Descents, int]:
    """Take steps of L-BFGS on P problems.

    Args:
        function: (P, D) points to (P,) values and (P, D) gradients, each problem on its own.
        start: where, with the memory of earlier descents on like problems.
        n_steps: at most.
        first_step: length of the first step in units of the gradient where there is no memory.
        tolerance: problems whose largest gradient entry is below it are done.

    Returns:
        Where they are then, and the number of steps.
    """
    now = start
    values, gradients = function(now.points)
    for n_taken in range(n_steps):
        active = gradients.abs().amax(dim=1) > tolerance
        if not bool(active.any()):
            return now, n_taken
        directions = -_newton_like(now, gradients, first_step) * active[:, None]
        points, values, changed = _searched(function, now.points, values, gradients, directions)
        if bool((points == now.points).all()):
            return now, n_taken  # What is left to gain is below the rounding of values.
        now, gradients = now.remembering(points, changed - gradients), changed
    return now, n_steps


def _newton_like(now: Descents, gradients: Any, first_step: float) -> Any:
    """Multiply gradients with the inverse Hessian that the memory suggests (the two-loop recursion)."""
    result, told = gradients.clone(), []
    scale = gradients.new_full((len(gradients),), first_step)
    for step, change in zip(now.steps, now.changes, strict=True):
        product = _dot(step, change)
        known = product > 0
        # Where a step told nothing, the divisor is 1 and the share is 0.
        inverse = known / product.where(known, product.new_ones(()))
        square = _dot(change, change)
        scale = (product / square.where(known, square.new_ones(()))).where(known, scale)
        told.append((step, change, inverse))
    shares = []
    for step, change, inverse in reversed(told):
        shares.append(inverse * _dot(step, result))
        result -= shares[-1][:, None] * change
    result *= scale[:, None]
    for (step, change, inverse), share in zip(told, reversed(shares), strict=True):
        result += (share - inverse * _dot(change, result))[:, None] * step
    return result


def _searched(function: Function, points: Any, values: Any, gradients: Any, directions: Any) -> tuple[Any, Any, Any]:
    """Cut the step of each problem until its value falls enough; one that never does stays where it is."""
    slopes = _dot(gradients, directions)
    unfinished = slopes < 0
    lengths = unfinished.to(points.dtype)
    found = points, values, gradients
    for _ in range(MOST_CUTS):
        if not bool(unfinished.any()):
            break
        trial = points + (lengths * unfinished)[:, None] * directions
        reached, change = function(trial)
        accepted = unfinished & (reached <= values + DECREASE * lengths * slopes)
        column = accepted[:, None]
        tried = (trial, column), (reached, accepted), (change, column)
        found = tuple(new.where(mask, old) for (new, mask), old in zip(tried, found, strict=True))
        unfinished = unfinished & ~accepted
        lengths = _cut(lengths, slopes, values, reached)
    return found


def _cut(lengths: Any, slopes: Any, values: Any, reached: Any) -> Any:
    """Go to the lowest point of the parabola through what is known, within a tenth and a half of the length."""
    bend = reached - values - lengths * slopes
    curved = bend > 0
    lowest = -slopes * lengths.square() / (2 * bend.where(curved, bend.new_ones(())))
    return lowest.where(curved, lowest.new_zeros(())).clamp(0.1 * lengths, 0.5 * lengths)


def _dot(one: Any, other: Any) -> Any:
    return (one * other).sum(dim=1)
