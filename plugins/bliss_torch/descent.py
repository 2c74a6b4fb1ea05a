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
        steps: (m, P, D) latest steps, the newest last.
        changes: (m, P, D) by which those changed the gradient; 0 where a step told nothing.
    """

    points: Any = field()
    steps: Any = field()
    changes: Any = field()

    @classmethod
    def at(cls, points: Any) -> "Descents":
        """Start at points (P, D) without a memory."""
        nothing = points.new_zeros((0, *points.shape))
        return cls(points, nothing, nothing)

    def take(self, problems: Any) -> "Descents":
        """Keep, reorder or repeat problems."""
        return Descents(self.points[problems], self.steps[:, problems], self.changes[:, problems])

    def put(self, problems: Any, later: "Descents") -> "Descents":
        """Replace some problems by those of later descents; a longer memory of one is empty in the others."""
        m = max(len(self.steps), len(later.steps))
        points, steps, changes = self.points.clone(), _longer(self.steps, m), _longer(self.changes, m)
        points[problems] = later.points
        steps[:, problems], changes[:, problems] = _longer(later.steps, m), _longer(later.changes, m)
        return Descents(points, steps, changes)

    def remembering(self, points: Any, change: Any) -> "Descents":
        """Return the descents at new points, where the gradient has changed."""
        step = points - self.points
        useful = _dot(step, change) > ROUNDING * _dot(step, step)
        steps, changes = _with_latest(self.steps, step), _with_latest(self.changes, change * useful[:, None])
        return evolve(self, points=points, steps=steps, changes=changes)


def _longer(memory: Any, m: int) -> Any:
    """Return a copy of a memory with zeros before it, m in all."""
    longer = memory.new_zeros((m, *memory.shape[1:]))
    longer[m - len(memory) :] = memory
    return longer


def _with_latest(memory: Any, latest: Any) -> Any:
    """Return a copy of a memory that ends with what is new, and has forgotten what is too old."""
    kept = memory[1 - MEMORY :]
    longer = memory.new_empty((len(kept) + 1, *latest.shape))
    longer[:-1], longer[-1] = kept, latest
    return longer


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
    products, squares = (one.sum(dim=2) for one in (now.steps * now.changes, now.changes.square()))
    known, one = products > 0, products.new_ones(())
    # Where a step told nothing, the divisor is 1 and its share is 0.
    inverses = known / products.where(known, one)
    scale = gradients.new_full((len(gradients),), first_step)
    for told, length in zip(known, products / squares.where(known, one), strict=True):
        scale = length.where(told, scale)
    result, shares = gradients.clone(), []
    for step, change, inverse in zip(*(part.flip(0) for part in (now.steps, now.changes, inverses)), strict=True):
        shares.append(inverse * _dot(step, result))
        result -= shares[-1][:, None] * change
    result *= scale[:, None]
    for step, change, inverse, share in zip(now.steps, now.changes, inverses, reversed(shares), strict=True):
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
