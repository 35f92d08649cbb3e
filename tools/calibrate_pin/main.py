"""The command line of tools/calibrate-pin: measures, fits, writes, and tells how well the simulation follows."""

import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import fit
import ladder
import output

ROOT = pathlib.Path(__file__).resolve().parents[2]
MTSIM = os.path.abspath(os.environ.get("MTSIM", ROOT / "build/release/tools/mtsim/mtsim"))
TRACE = ROOT / "traces/calibration/registration_ladder.mtrace"
CONFIGS = ROOT / "configs"

DESCRIPTION = f"""\
Registers memory of 4 KiB to 64 MiB on real verbs, of 4 KiB and huge pages, touched before and not, over and over; fits the simulator's
costs of pinning to the medians; writes them as configs/hosts/NAME.yaml, and the medians as the validation's row NAME; and prints measured
against simulated. Without --device it measures rxe in the virtual machine of tools/rdma-vm, whose time is a count of instructions.
"""
EPILOG = """\
The mtsim command is the one that tools/run has built, or the one that the environment variable MTSIM names.
Exit status: 0: the simulation is within 25 % at every point; 1: it is not, and what was fitted is written all the same; 2: wrong use, or
what was to be measured could not be.
"""
# One process after the other: each is a repetition. The first finds the kernel cold and is left out.
SCRIPT = """\
set -eu
# Until the kernel's random numbers are ready, that of an rxe key takes another 17 us: reading one waits for that.
head -c 1 /dev/random >/dev/null
{ uname -r; sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1; } >machine
for run in $(seq 0 $RUNS); do
  "$MTSIM" replay --device "$DEVICE" --calls "calls.$run" "$run.mtrace" >/dev/null
done
rm calls.0
"""
# What of a reg_mr is rxe's own is told by where rxe gets the pinned memory and where it ends. Only in a machine of our own.
PROBES = """\
cd /sys/kernel/tracing
echo 'r:pinned ib_uverbs:ib_umem_get' >kprobe_events
echo 'r:registered rdma_rxe:rxe_mr_init_user' >>kprobe_events
echo 1 >events/kprobes/enable
"$MTSIM" replay --device "$DEVICE" "$TRACE" >/dev/null
cat trace >"$OLDPWD/probes"
"""
PROBED = "rxe_mr_init_user after ib_umem_get returned, by kprobes: of each 4 KiB page"


def say(text):
    print(f"calibrate-pin: {text}", file=sys.stderr, flush=True)


def fail(text):
    say(text)
    sys.exit(2)


def whole(smallest):
    def convert(text):
        if not text.isdecimal() or int(text) < smallest:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {smallest} on")
        return int(text)

    return convert


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="calibrate-pin", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )  # fmt: skip
    add = parser.add_argument
    add("--device", metavar="DEV", help="measure this device of this machine, not rxe in a virtual machine")
    add("--host-clock", action="store_true", help="in the virtual machine, measure by the host's clock instead of counting instructions")
    add("--kernel", default="6.1", metavar="SERIES", help="of the virtual machine (6.1)")
    add("--driver", default="rxe", metavar="NAME", help="overlay of configs/drivers that the costs are laid over (rxe)")
    add("--name", metavar="NAME", help="of what is written (rxe-tcg; with --device: the device's)")
    add("--configs", type=pathlib.Path, default=CONFIGS, metavar="DIR", help="where hosts/NAME.yaml and validation/NAME.yaml are written")
    add("--runs", type=whole(1), default=11, metavar="N", help="repetitions in a session (11)")
    add("--sessions", type=whole(1), default=2, metavar="N", help="times that the whole is done, each on a machine just booted (2)")
    options = parser.parse_args(arguments)
    if options.device and options.host_clock:
        parser.error("--host-clock is for the virtual machine")
    options.name = options.name or options.device or "rxe-tcg"
    if not os.access(MTSIM, os.X_OK):
        fail(f"there is no {MTSIM}: tools/run builds it, or MTSIM names another")
    if not (CONFIGS / "drivers" / f"{options.driver}.yaml").exists():
        known = ", ".join(sorted(path.stem for path in (CONFIGS / "drivers").glob("*.yaml")))
        fail(f"--driver: there is no overlay '{options.driver}'; known: {known}")
    return options


def measure(options, times, probes, rungs):
    """One session: adds its times to `times` and `probes`. Returns the kernel and the CPU."""
    with tempfile.TemporaryDirectory(prefix="calibrate-pin.") as folder:
        words = {"RUNS": str(options.runs), "MTSIM": MTSIM, "DEVICE": options.device or "rxe0", "TRACE": str(TRACE)}
        for run in range(options.runs + 1):
            (pathlib.Path(folder) / f"{run}.mtrace").write_text(ladder.shuffled(TRACE, run), encoding="utf-8")
        command = ["sh", "-c", SCRIPT]
        if not options.device:
            # Without counting, the clock of the emulated kernel's trace goes in steps of 4 ms.
            clock, probing = ([], "") if options.host_clock else (["--count"], PROBES)
            command = ["sh", "-c", "".join(f"{name}={shlex.quote(value)}\n" for name, value in words.items()) + SCRIPT + probing]
            command = [str(ROOT / "tools/rdma-vm"), "--kernel", options.kernel, "--time", "3600", *clock, *command]
        done = subprocess.run(command, cwd=folder, env={**os.environ, **words}, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            fail(f"the ladder could not be measured: {shlex.join(command[:2])} ... ended with exit status {done.returncode}")
        for path in sorted(pathlib.Path(folder).glob("calls.*")):
            ladder.read_calls(path, ladder.rungs_of(path.with_name(f"{path.suffix[1:]}.mtrace")), times)
        if (pathlib.Path(folder) / "probes").exists():
            probes += ladder.read_probes(pathlib.Path(folder) / "probes", rungs)
        kernel, cpu = (pathlib.Path(folder) / "machine").read_text(encoding="utf-8").splitlines()[:2]
        return kernel, cpu


class Simulator:
    """Runs the ladder in the simulator with a driver's overlay, and maybe a host's."""

    def __init__(self, rungs, overlays):
        self.rungs = rungs
        text = [f"extends: [{', '.join(map(str, overlays))}]", "workload: {kind: ladder, repeats: 1}", *ladder.variants(rungs)]
        self.text = "\n".join(text) + "\n"
        self.kept = {}

    def times(self, settings):
        """us by rung, by call."""
        key = tuple(settings.items())
        if key not in self.kept:
            with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
                file.write(self.text)
                file.flush()
                sets = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
                command = [MTSIM, "run", file.name, "--quiet", "--json", "-", *sets]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                fail(f"the simulation ended with exit status {done.returncode}\n{done.stderr}")
            reports = json.loads(done.stdout)["variants"]
            self.kept[key] = {
                call: {rung: reports[rung.name]["registration"][call]["latency"]["mean_ns"] / 1000 for rung in self.rungs}
                for call in output.CALLS
            }
        return self.kept[key]


def machine_of(options, kernel, cpu):
    if options.device:
        return f"Device {options.device} under Linux {kernel} on {cpu}."
    clock = "the host's clock" if options.host_clock else "counted in instructions of 2 ns, without caches or waiting"
    return f"rdma_rxe of Linux {kernel} on an emulated machine ({cpu}; time is {clock}: the shape, not the figures, is a machine's)."


def main():
    options = parse(sys.argv[1:])
    rungs = ladder.rungs_of(TRACE)
    times, medians, probes = {}, [], []
    for session in range(1, options.sessions + 1):
        say(f"measuring: session {session} of {options.sessions}, {options.runs} repetitions")
        own = {}
        kernel, cpu = measure(options, own, probes, rungs)
        medians.append(ladder.summary(own))
        for key, values in own.items():
            times.setdefault(key, []).extend(values)
    measured = ladder.summary(times)
    if len({rung for _, rung in measured}) != len(set(rungs.values())):
        fail("some registrations of the ladder failed: is RLIMIT_MEMLOCK too low?")

    say("fitting")
    every = sorted(set(rungs.values()))
    simulator = Simulator(every, [CONFIGS / "base.yaml", CONFIGS / "drivers" / f"{options.driver}.yaml"])
    held, values = dict(fit.HELD), {}
    if probes:
        held["driver.store_entry"] = (f"{fit.of_a_page(probes):.3g}ns", PROBED)
    for call in output.CALLS:
        of_call = {rung: m.median for (c, rung), m in measured.items() if c == call}
        values |= fit.fitted(call, of_call, held, lambda settings, call=call: simulator.times(settings)[call])
    settings = {path: value for path, (value, _) in held.items()} | {cost.path: cost.text(values[cost.path]) for cost in fit.COSTS}
    lines, misses = output.table(measured, simulator.times(settings))

    machine = machine_of(options, kernel, cpu)
    shipped = options.configs.resolve() == CONFIGS
    extends = [f"../{name}" if shipped else f"mtsim:{name}" for name in ("base.yaml", f"drivers/{options.driver}.yaml")]
    for folder in ("hosts", "validation"):
        (options.configs / folder).mkdir(parents=True, exist_ok=True)
    host = options.configs / "hosts" / f"{options.name}.yaml"
    spread = output.spread_in_words(measured, medians)
    output.write(host, output.overlay(machine, spread, values, held, f"configs/drivers/{options.driver}.yaml", misses))
    row = options.configs / "validation" / f"{options.name}.yaml"
    output.write(row, output.row(options.name, [*extends, f"../hosts/{host.name}"], machine, measured))
    print("\n".join(lines))
    print(f"\n{len(measured) - len(misses)} of {len(measured)} points within 25 %.")
    print(f"{options.sessions} sessions of {options.runs} repetitions: {spread}.")
    say(f"written: {host}, {row}")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
