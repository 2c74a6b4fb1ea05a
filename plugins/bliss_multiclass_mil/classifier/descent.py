"""Limited-memory BFGS on several problems side by side, which may go on from where an earlier descent stopped.

Source: Nocedal and Wright, Numerical Optimization (2006), algorithms 7.4 and 3.1, with one matrix product for all
problems in each evaluation. No problem sees the others: each has its own steps and its own memory.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from bliss_framework.plugin import Rows

Function = Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]
MEMORY = 8
DECREASE = 1e-4
MOST_CUTS = 8


@frozen(eq=False)
class State:
    """Where P descents are.

    Attributes:
        point: (P, D).
        steps: (m, P, D) latest steps, the newest last.
        changes: (m, P, D) what each of them changed in the gradient; 0 where a step told nothing.
    """

    point: NDArray[np.float64] = field()
    steps: NDArray[np.float64] = field()
    changes: NDArray[np.float64] = field()

    @classmethod
    def at(cls, point: NDArray[np.float64]) -> "State":
        """Start at points (P, D) without a memory."""
        return cls(point, np.empty((0, *point.shape)), np.empty((0, *point.shape)))

    def take(self, problems: NDArray[np.intp]) -> "State":
        """Keep, reorder or repeat problems."""
        return State(self.point[problems], self.steps[:, problems], self.changes[:, problems])

    def put(self, problems: NDArray[np.intp], state: "State") -> "State":
        """Replace some problems by those of a later state; a longer memory of one is empty in the others."""
        m = max(len(self.steps), len(state.steps))
        steps, changes = (_longer(part, m) for part in (self.steps, self.changes))
        point = self.point.copy()
        point[problems] = state.point
        steps[:, problems], changes[:, problems] = _longer(state.steps, m), _longer(state.changes, m)
        return State(point, steps, changes)


def _longer(memory: NDArray[np.float64], m: int) -> NDArray[np.float64]:
    return np.concatenate([np.zeros((m - len(memory), *memory.shape[1:])), memory])


def descend(function: Function, state: State, n_steps: int, first_step: float, tolerance: float) -> tuple[State, int]:
    """Take steps of L-BFGS on P problems.

    Args:
        function: (P, D) points to (P,) values and (P, D) gradients, each problem on its own.
        state: where to start, with the memory of earlier descents on like problems.
        n_steps: at most.
        first_step: length of the first step in units of the gradient where there is no memory.
        tolerance: problems whose largest gradient entry is below it are done.

    Returns:
        The new state, and the number of steps.
    """
    value, gradient = function(state.point)
    for step in range(n_steps):
        active = np.abs(gradient).max(axis=1) > tolerance
        if not active.any():
            return state, step
        direction = np.where(active[:, None], -_newton_like(state, gradient, first_step), 0.0)
        moved, value, changed = _searched(function, state.point, value, gradient, direction)
        if np.array_equal(moved, state.point):
            return state, step  # What is left to gain is below the rounding of values.
        state = _remembered(state, moved, changed - gradient)
        gradient = changed
    return state, n_steps


def _newton_like(state: State, gradient: NDArray[np.float64], first_step: float) -> NDArray[np.float64]:
    """Multiply gradients with the inverse Hessian that the memory suggests (the two-loop recursion)."""
    products = np.einsum("mpd,mpd->mp", state.steps, state.changes)
    inverse = np.divide(1.0, products, out=np.zeros_like(products), where=products > 0)
    result, shares = gradient.copy(), np.zeros_like(products)
    for i in reversed(range(len(products))):
        shares[i] = inverse[i] * np.einsum("pd,pd->p", state.steps[i], result)
        result -= shares[i][:, None] * state.changes[i]
    result *= _scale(state, products, first_step)[:, None]
    for i in range(len(products)):
        back = inverse[i] * np.einsum("pd,pd->p", state.changes[i], result)
        result += (shares[i] - back)[:, None] * state.steps[i]
    return result


def _scale(state: State, products: NDArray[np.float64], first_step: float) -> NDArray[np.float64]:
    scale = np.full(state.point.shape[0], first_step)
    for product, change in zip(products, state.changes, strict=True):
        square = np.einsum("pd,pd->p", change, change)
        scale = np.divide(product, square, out=scale, where=product > 0)
    return scale


def _searched(
    function: Function,
    point: NDArray[np.float64],
    value: NDArray[np.float64],
    gradient: NDArray[np.float64],
    direction: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Cut the step of each problem until its value falls enough; one that never does stays where it is."""
    slope = np.einsum("pd,pd->p", gradient, direction)
    length = np.where(slope < 0, 1.0, 0.0)
    new_point, new_value, new_gradient = point.copy(), value.copy(), gradient.copy()
    open_ = length > 0
    for _ in range(MOST_CUTS):
        if not open_.any():
            break
        trial = point + (length * open_)[:, None] * direction
        there, change = function(trial)
        accepted = open_ & (there <= value + DECREASE * length * slope)
        new_point[accepted], new_value[accepted], new_gradient[accepted] = (
            trial[accepted],
            there[accepted],
            change[accepted],
        )
        open_ &= ~accepted
        length = _cut(length, slope, value, there)
    return new_point, new_value, new_gradient


def _cut(
    length: NDArray[np.float64], slope: NDArray[np.float64], value: NDArray[np.float64], there: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Go to the lowest point of the parabola through what is known, within a tenth and a half of the length."""
    bend = there - value - length * slope
    lowest = np.divide(-slope * length**2, 2 * bend, out=np.zeros_like(length), where=bend > 0)
    return np.clip(lowest, 0.1 * length, 0.5 * length)


def _remembered(state: State, point: NDArray[np.float64], change: NDArray[np.float64]) -> State:
    step = point - state.point
    # A step without positive curvature is rounding noise, and would turn the next direction uphill.
    useful = np.einsum("pd,pd->p", step, change) > 1e-12 * np.einsum("pd,pd->p", step, step)
    change = np.where(useful[:, None], change, 0.0)
    steps, changes = (np.concatenate([old, [new]]) for old, new in ((state.steps, step), (state.changes, change)))
    return evolve(state, point=point, steps=steps[-MEMORY:], changes=changes[-MEMORY:])


SMALL = 1e-3


def with_precision(rows: Any, precision: str) -> Any:
    """Return rows (n, d) as floats of a precision; memory-mapped rows stay on disk, at their own."""
    given = Rows(rows)
    return rows if given.is_mapped and given.dtype.kind == "f" else given.as_type(precision).array


def start(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw small coefficients (L, d + 1): at 0, labels of one group would all be the same."""
    return rng.normal(0.0, SMALL, shape)


def first_step(rows: Any, l2: float) -> float:
    """Return a step, in units of the gradient, that cannot overshoot: the softmax bends no more than |x|^2 / 2."""
    return float(1.0 / (0.5 * (Rows(rows).sum_of_squares() / rows.shape[0] + 1.0) + l2))
