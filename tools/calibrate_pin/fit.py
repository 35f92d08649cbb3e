"""The costs that are fitted, and the fit: least squares of the relative error, one value each, none below 0.

A simulated time is a sum of costs times counts, so the simulator itself says what each cost counts for: it runs the ladder with all of
them at 0, and once for each that is not.
"""

from typing import NamedTuple


class Cost(NamedTuple):
    """A parameter. What is fitted is `unit` times the parameter, or, for a rate, `unit` divided by it."""

    call: str
    path: str
    nothing: str  #: value for next to no cost
    some: str  #: value for a cost of `amount` ns
    amount: float
    means: str
    rate: bool = False

    def text(self, cost):
        """The parameter's value for so many ns."""
        if self.rate:
            return f"{8 / max(cost, 0.001):.3g}Gb/s"
        return f"{cost / 1000:.3g}us" if cost >= 1000 else f"{cost:.3g}ns"


REG, DEREG = "reg_mr", "dereg_mr"
COSTS = (
    Cost(REG, "kernel.registration", "0ns", "1us", 1000, "the same for any size"),
    Cost(REG, "kernel.pin_page", "0ns", "1us", 1000, "of each 4 KiB page: its place in the list, and scans of that"),
    Cost(REG, "kernel.pin_grab", "0ns", "1us", 1000, "of each folio: page table, reference, scatter-gather entry"),
    Cost(REG, "kernel.fault_4k", "0ns", "1us", 1000, "of each absent 4 KiB page, clearing apart"),
    Cost(REG, "kernel.zero_rate", "10Tb/s", "8Gb/s", 1, "clearing, told from the fault by absent huge pages", rate=True),
    Cost(DEREG, "kernel.deregistration", "0ns", "1us", 1000, "the same for any size"),
    Cost(DEREG, "kernel.unpin_run", "0ns", "1us", 1000, "of each scatter-gather entry: reference, dirty mark"),
    Cost(DEREG, "kernel.unpin_page", "0ns", "1us", 1000, "of each 4 KiB page"),
)
#: Costs that are set otherwise, and why, by path.
HELD = {"kernel.fault_2m": ("0ns", "beside clearing, it cannot be seen")}


def solve(matrix, right):
    """x of the square system matrix * x = right, by elimination; a column of nothing gives 0."""
    n = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for column in range(n):
        pivot = max(range(column, n), key=lambda r: abs(rows[r][column]))
        if abs(rows[pivot][column]) < 1e-12:
            rows[column] = [1.0 if i == column else 0.0 for i in range(n + 1)]
            continue
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for r in range(n):
            if r != column:
                factor = rows[r][column] / rows[column][column]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[column])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def least_squares(rows, right):
    """x >= 0 with the least sum of (row * x - right)^2: whatever would be below 0 is left out, the lowest first."""
    free = list(range(len(rows[0])))
    while free:
        normal = [[sum(row[i] * row[j] for row in rows) for j in free] for i in free]
        x = solve(normal, [sum(row[i] * value for row, value in zip(rows, right)) for i in free])
        if min(x) >= 0:
            break
        del free[x.index(min(x))]
    return [x[free.index(i)] if i in free else 0.0 for i in range(len(rows[0]))]


def settings_for(cost, held):
    """What the simulator is told to let that cost alone count; of None: none of them. held: as HELD."""
    out = {path: value for path, (value, _) in held.items()}
    for each in COSTS:
        out[each.path] = each.some if each is cost else each.nothing
    return out


def fitted(call, measured, held, simulate):
    """Values of the call's costs in ns, by path.

    measured: us by rung; held: as HELD; simulate: from settings to us by rung.
    """
    costs = [cost for cost in COSTS if cost.call == call]
    base = simulate(settings_for(None, held))
    each = [simulate(settings_for(cost, held)) for cost in costs]
    rungs = [rung for rung in measured if rung.fitted]
    rows = [[(time[rung] - base[rung]) / cost.amount / measured[rung] for cost, time in zip(costs, each)] for rung in rungs]
    right = [1 - base[rung] / measured[rung] for rung in rungs]
    return dict(zip((cost.path for cost in costs), least_squares(rows, right)))


def of_a_page(times):
    """ns of each page, of pairs of pages and us: the slope of the line through them that has the least relative error."""
    rows = [[1 / us, pages / us] for pages, us in times]
    return 1000 * least_squares(rows, [1.0] * len(rows))[1]
