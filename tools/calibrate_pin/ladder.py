"""The rungs of a ladder: from the trace that is replayed, through the calls that were measured, to the simulated variants."""

import csv
import random
import re
import statistics
from typing import NamedTuple

KIB = 1024
SUFFIXES = {"K": KIB, "M": KIB**2, "G": KIB**3}


class Rung(NamedTuple):
    """What is registered: `page` is 4K or thp."""

    page: str
    touched: bool
    bytes: int

    @property
    def size(self):
        kib = self.bytes // KIB
        return f"{kib}KiB" if kib < KIB else f"{kib // KIB}MiB"

    @property
    def kind(self):
        return f"{self.page} {'touched' if self.touched else 'untouched'}"

    @property
    def name(self):
        return f"{self.kind}_{self.size}".replace(" ", "_")

    @property
    def fitted(self):
        """Every other size is left to be foretold: 4 KiB, 16 KiB ... 64 MiB are fitted."""
        return (self.bytes // (4 * KIB)).bit_length() % 2 == 1

    @property
    def workload(self):
        return f"{{smallest: {self.size}, page: {self.page}, touched: {str(self.touched).lower()}}}"


class Measured(NamedTuple):
    """Of one call at one rung, in us: the median, and how far the middle half of the repetitions reaches."""

    median: float
    low: float
    high: float


def byte_count(text):
    return int(text[:-1]) * SUFFIXES[text[-1]] if text[-1] in SUFFIXES else int(text)


def rungs_of(trace):
    """The rung that each line of the trace registers or deregisters, by the line's number."""
    out, page, touched, rung = {}, "", False, None
    with open(trace, encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            words = line.split()
            if len(words) < 2 or "." not in words[0]:
                continue
            values = dict(word.split("=", 1) for word in words if "=" in word)
            if words[1] == "mmap":
                page, touched = values["page"], False
            elif words[1] == "touch":
                touched = True
            elif words[1] == "reg_mr":
                rung = Rung(page, touched, byte_count(values["len"]))
            if words[1] in ("reg_mr", "dereg_mr"):
                out[number] = rung
    return out


def shuffled(trace, seed):
    """Text of the trace with its rungs in another order.

    Now and then the kernel has something else to do within a call, such as filling a list of free pages. In one order that would meet the
    same rung in every repetition.
    """
    with open(trace, encoding="utf-8") as file:
        head, *parts = re.split(r"(?m)^(?=.* mmap )", file.read())
    random.Random(seed).shuffle(parts)
    return head + "".join(parts)


def read_calls(path, rungs, into):
    """Adds what a file of --calls says to `into`, a list of us for each call and rung."""
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["call"] in ("reg_mr", "dereg_mr") and row["errno"] == "ok":
                into.setdefault((row["call"], rungs[int(row["line"])]), []).append(float(row["ns"]) / 1000)


def read_probes(path, rungs):
    """Pairs of pages and us: what the driver's own part of each reg_mr of the ladder took, from the kernel's trace of one run."""
    with open(path, encoding="utf-8") as file:
        marks = re.findall(r" ([0-9.]+): (pinned|registered): ", file.read())
    registered = [rung for number, rung in sorted(rungs.items())][::2]
    if [mark for _, mark in marks] != ["pinned", "registered"] * len(registered):
        return []
    ends = [float(time) * 1e6 for time, _ in marks]
    return [(rung.bytes // (4 * KIB), end - begin) for rung, begin, end in zip(registered, ends[::2], ends[1::2])]


def summary(times):
    """Medians and quartiles of the lists that read_calls made."""
    out = {}
    for key, values in times.items():
        quarters = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        out[key] = Measured(statistics.median(values), quarters[0], quarters[2])
    return out


def variants(rungs):
    """Lines of YAML: a variant for each rung."""
    return ["variants:"] + [f"  {rung.name}: {{workload: {rung.workload}}}" for rung in rungs]
