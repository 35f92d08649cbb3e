"""What comes of a calibration: the overlay of the host, the row of the validation, and the table."""

import json
import os
import textwrap

import fit
import ladder

SCHEMA = "# yaml-language-server: $schema=../schema.json"
CALLS = (fit.REG, fit.DEREG)


def comment(text):
    return [f"# {line}" for line in textwrap.wrap(text, 138)]


def spread_in_words(measured, sessions):
    """How far repetitions of a point lie from its median, and medians of sessions. sessions: the points of each alone."""
    halves = sorted((max(m.high / m.median - 1, 1 - m.low / m.median), key) for key, m in measured.items())
    apart, where = max((abs(alone[key].median / m.median - 1), key) for alone in sessions for key, m in measured.items())
    usual, (widest, widest_where) = halves[len(halves) // 2][0], halves[-1]
    return (
        f"the middle half of a point's repetitions reaches {usual:.1%} from its median at half of the points and {widest:.0%} at the worst"
        f" ({point(widest_where)}), the medians of single sessions lie {apart:.0%} from it at most ({point(where)})"
    )


def point(key):
    call, rung = key
    return f"{call} of {rung.size}, {rung.kind}"


def overlay(machine, spread, values, held, base, misses):
    """Text of the host's overlay.

    machine, spread: what was measured and how well, in words; values: ns by path of a cost; held: as fit.HELD; base: the driver's overlay;
    misses: as table() tells them.
    """
    lines = [SCHEMA]
    lines += comment(
        f"{machine} Written by tools/calibrate-pin, laid over {base}. Figures are one for all sizes, fitted by least squares of the"
        " relative error over every other size of the ladder, 4 KiB, 16 KiB ... 64 MiB, of 4 KiB and transparent huge pages, touched before"
        " and not. Of the medians that they are fitted to: {spread}."
    )
    met = "Within 25 % at every size, also at those between, which were not fitted."
    lines += comment(f"Beyond 25 % at: {'; '.join(misses)}." if misses else met)
    sections = {}
    for cost in fit.COSTS:
        section, key = cost.path.split(".")
        sections.setdefault(section, []).append((f"{key}: {cost.text(values[cost.path])}", f"fitted ({cost.call}): {cost.means}"))
    for path, (value, why) in held.items():
        section, key = path.split(".")
        sections.setdefault(section, []).append((f"{key}: {value}", why))
    for section, entries in sections.items():
        lines.append(f"{section}:")
        lines += [f"  {entry:<26} # {means}" for entry, means in entries]
    return "\n".join(lines) + "\n"


def row(name, extends, machine, measured):
    """Text of the row of the validation: the medians in us, each rung a variant."""
    rungs = sorted({rung for _, rung in measured})
    lines = [SCHEMA, f"extends: [{', '.join(extends)}]", ""]
    lines += ["# One repetition: they are all alike.", "workload: {kind: ladder, repeats: 1}", "", *ladder.variants(rungs), ""]
    lines += ["# Medians, written by tools/calibrate-pin.", "validation:", f"  row: {name}", "  group: registration"]
    lines += [f"  title: Registering and deregistering by size and kind of page, {name}"]
    lines += [f"  source: {json.dumps(machine)}", "  tolerance: 25%", "  series:"]
    for call in CALLS:
        for fitted in (True, False):
            points = {rung: m for (c, rung), m in measured.items() if c == call and rung.fitted == fitted}
            if not points:
                continue
            lines += [f"    {call}{'' if fitted else '_between'}:", f"      measure: {call}_mean", "      unit: us"]
            lines += [f"      fitted: {str(fitted).lower()}", "      published:"]
            lines += [f"        {rung.name}: {points[rung].median:.5g}" for rung in sorted(points)]
    return "\n".join(lines) + "\n"


def table(measured, simulated):
    """The table of all points, as lines, and those of its points that are beyond 25 %."""
    lines = ["| call | memory | size | measured, us | middle half | simulated, us | ratio | |"]
    lines += ["| --- | --- | --: | --: | --: | --: | --: | --- |"]
    misses = []
    for (call, rung), m in sorted(measured.items(), key=lambda item: (CALLS.index(item[0][0]), item[0][1])):
        time = simulated[call][rung]
        ratio = time / m.median
        far = abs(ratio - 1) > 0.25
        if far:
            misses.append(f"{point((call, rung))}: {ratio:.2f}")
        marks = ", ".join(word for word, wanted in (("fitted", rung.fitted), ("MISS", far)) if wanted)
        half = f"{m.low:,.1f} to {m.high:,.1f}"
        lines.append(f"| `{call}` | {rung.kind} | {rung.size} | {m.median:,.1f} | {half} | {time:,.1f} | {ratio:.2f} | {marks} |")
    return lines, misses


def write(path, text):
    """Whole or not at all."""
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)
