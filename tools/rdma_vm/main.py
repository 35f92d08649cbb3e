"""The command line of tools/rdma-vm, and the loop that carries output out of the machines."""

import argparse
import os
import platform
import selectors
import shutil
import signal
import socket
import sys
import time

import kernel
import machine
import siw

USER_ERROR, TIMED_OUT, UNAVAILABLE, FAILED = 2, 124, 77, 125
# After the command of one of two machines failed, the other's gets so many seconds to find out.
GRACE = 10
PASSED_ON = ("PATH", "HOME", "USER", "TERM", "LANG", "LD_LIBRARY_PATH")
NEEDED = ("qemu-system-x86_64", "setpriv", "dpkg-deb", "rdma")

DESCRIPTION = """\
Runs COMMAND on RDMA verbs without RDMA hardware: in a virtual machine with Debian's kernel and rdma_rxe (device rxe0), as root. It sees the
host's files at their own paths, read-only but for the current folder and each --share; /tmp, /var/tmp and /run are empty and end with it.
"""
EPILOG = """\
With --hosts 2, a lone `:` parts the command of the first machine from that of the second. Each finds RDMA_VM_HOST (1 or 2),
RDMA_VM_ADDRESS and RDMA_VM_PEER (addresses of its own device and of the other's) in its environment.

Exit status: that of COMMAND (with two machines, the first that is not 0), or 2: wrong use; 77: what it needs cannot be had here;
124: --time was over; 125: the machine failed. docs/real-verbs.md tells more.
"""


def say(text):
    print(f"rdma-vm: {text}", file=sys.stderr, flush=True)


class Ended(Exception):
    """The run is over, with an exit status."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def whole(smallest, largest):
    def convert(text):
        if not text.isdecimal() or not smallest <= int(text) <= largest:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {smallest} to {largest}")
        return int(text)

    return convert


def memlock(text):
    return text if text == "unlimited" else whole(0, 1 << 40)(text)


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="rdma-vm", usage="rdma-vm [OPTIONS] COMMAND...", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    add = parser.add_argument
    add("--check", action="store_true", help="fetch what is needed and run no command; 77 and a reason if it cannot be had")
    add("--time", type=whole(1, 10**6), default=300, metavar="SECONDS", help="end the machine then (300)")
    add("--share", action="append", default=[], metavar="DIR", help="another folder that COMMAND may write to")
    add("--env", action="append", default=[], metavar="NAME[=VALUE]", help="set a variable, or pass on this one of the caller's")
    add("--hosts", type=whole(1, 2), default=1, metavar="N", help="machines, joined by a network (1)")
    add("--cpus", type=whole(1, 64), metavar="N", help="processors of a machine (2; with --count 1)")
    add("--memory", type=whole(192, 1 << 20), default=1024, metavar="MB", help="memory of a machine (1024)")
    add("--hugepages", type=whole(0, 1 << 19), default=0, metavar="N", help="huge pages of 2 MiB set aside (0)")
    add("--memlock", type=memlock, default="unlimited", metavar="KB", help="RLIMIT_MEMLOCK (unlimited)")
    add("--mtu", type=whole(1280, 65000), default=1500, metavar="BYTES", help="of the network card; 4200 gives a path MTU of 4096 (1500)")
    add("--kernel", choices=kernel.SERIES, default=kernel.SERIES[0], help="series of Debian's kernel (6.1)")
    add("--siw", action="store_true", help="iWARP in software, device siw0, instead of rxe0; its module is built once for each kernel")
    add("--update", action="store_true", help="fetch the newest kernel of the series, even if the cache has one")
    add("--count", action="store_true", help="time inside is a count of instructions, 2 ns each, whatever else the host does")
    add("--kvm", action="store_true", help="let the processor's virtualization run the machine, not emulation")
    add("command", nargs=argparse.REMAINDER, metavar="COMMAND...", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        del options.command[0]
    if not options.command and not options.check:
        parser.error("a COMMAND is needed")
    if options.count and (options.kvm or options.hosts != 1):
        parser.error("--count is for one machine that is emulated")
    options.cpus = options.cpus or (1 if options.count else 2)
    options.commands = [options.command] * options.hosts
    if options.hosts == 2 and ":" in options.command:
        middle = options.command.index(":")
        options.commands = [options.command[:middle], options.command[middle + 1 :]]
    for command in options.commands:
        if not options.check and (not command or "=" in command[0]):
            parser.error("a COMMAND is needed" if not command else f"'{command[0]}' is no command: variables are given by --env")
    complete(options, parser)
    return options


def complete(options, parser):
    """Adds what follows from the options and the caller's surroundings: folder, shares, environment, one_stream, rdma."""
    options.folder = os.path.realpath(os.getcwd())
    options.shares = []
    for share in [options.folder, *options.share]:
        path = os.path.realpath(share)
        if not os.path.isdir(path):
            parser.error(f"--share {share}: no such folder")
        if path == "/" or path.split("/")[1] in ("dev", "proc", "sys"):
            if share == options.folder:
                # Starting there is fine; writing there is not.
                continue
            parser.error(f"--share {share}: / and what is in /dev, /proc and /sys cannot be shared")
        if path not in options.shares:
            options.shares.append(path)
    options.environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    options.environment.update({name: value for name, value in os.environ.items() if name.startswith(("MTSIM_", "LC_"))})
    for entry in options.env:
        name, equals, value = entry.partition("=")
        if not name:
            parser.error(f"--env {entry}: a name is needed")
        if equals:
            options.environment[name] = value
        elif name in os.environ:
            options.environment[name] = os.environ[name]
    # Then the order of the two is as the command wrote them.
    options.one_stream = os.path.sameopenfile(1, 2)
    options.rdma = shutil.which("rdma", path="/usr/bin:/bin:/usr/sbin:/sbin")


def check_host():
    if platform.machine() not in ("x86_64", "AMD64"):
        raise kernel.Unavailable(f"the machine runs the host's programs, and this host is no x86-64 but {platform.machine()}")
    path = os.environ.get("PATH", "") + ":/usr/bin:/bin:/usr/sbin:/sbin"
    for program in NEEDED:
        if not shutil.which(program, path=path):
            raise kernel.Unavailable(f"{program} is missing")


class Output:
    """Where a stream of a machine goes: as it comes, or line by line with the machine's number before each."""

    def __init__(self, descriptor, prefix=b""):
        self.descriptor = descriptor
        self.prefix = prefix
        self.line = b""

    def write(self, data):
        if self.prefix:
            *lines, self.line = (self.line + data).split(b"\n")
            data = b"".join(self.prefix + line + b"\n" for line in lines)
        while data:
            data = data[os.write(self.descriptor, data) :]

    def close(self):
        if self.line:
            self.write(b"\n")


def carry(machines, options, deadline):
    """Passes output on until the commands have ended. Returns the exit status; throws Ended if it comes to no good end."""
    selector = selectors.DefaultSelector()
    outputs = {}
    for guest in machines:
        for name, channel in guest.channels.items():
            selector.register(channel, selectors.EVENT_READ, (guest, name))
        for name, descriptor in (("out", 1), ("err", 2)):
            outputs[guest, name] = Output(descriptor, f"{guest.number}: ".encode() if len(machines) > 1 else b"")
    code, limit = 0, deadline
    pending = list(machines)
    while pending:
        left = limit - time.monotonic()
        if left <= 0:
            if limit < deadline:
                for guest in pending:
                    say(f"command {guest.number} was ended {GRACE} s after the other had failed")
                return code
            up = all(guest.ready for guest in machines)
            say(f"ended after {options.time} s (--time)" + ("" if up else ": the machine was not up yet"))
            show_consoles(machines)
            raise Ended(TIMED_OUT)
        for key, _ in selector.select(left):
            guest, name = key.data
            data = key.fileobj.recv(1 << 16)
            if not data:
                selector.unregister(key.fileobj)
                if name == "status" and not guest.finished:
                    say("the machine ended by itself")
                    show_consoles([guest])
                    raise Ended(FAILED)
                continue
            if name == "status":
                take_status(guest, data, machines)
            elif name in guest.streams:
                outputs[guest, name].write(guest.received(name, data))
            else:
                guest.received(name, data)
        for guest in [guest for guest in pending if guest.finished]:
            pending.remove(guest)
            for name in guest.streams:
                outputs[guest, name].close()
            if guest.code and not code:
                code, limit = guest.code, min(deadline, time.monotonic() + GRACE)
    return code


def take_status(guest, data, machines):
    """Acts on what the init script told: `up`, `exit CODE` or `fail REASON`."""
    *lines, guest.status = (guest.status + data).split(b"\n")
    for line in lines:
        word, _, rest = line.decode(errors="replace").partition(" ")
        if word == "up":
            guest.ready = True
            if len(machines) > 1 and all(each.ready for each in machines):
                for each in machines:
                    each.channels["status"].sendall(b"go\n")
        elif word == "exit":
            guest.code = int(rest)
        else:
            say(f"the machine did not come up: {rest}")
            show_consoles([guest])
            raise Ended(FAILED)


def show_consoles(machines):
    for guest in machines:
        lines = guest.console.decode(errors="replace").replace("\r", "").splitlines()
        for line in lines[-40:]:
            print(f"  | {line}", file=sys.stderr)


def run(options):
    """Exit status of the command line's commands."""
    check_host()
    folder = kernel.prepare(options.kernel, options.update, say)
    options.siw = siw.prepare(folder, options.kernel, say) if options.siw else None
    if options.check:
        return 0
    deadline = time.monotonic() + options.time
    # Ends what carry() cannot, as it waits for somebody to read our output.
    signal.alarm(options.time + 5)
    machines, ends = [], []
    try:
        if options.hosts == 2:
            ends = list(socket.socketpair())
        for number, command in enumerate(options.commands, start=1):
            machines.append(machine.Machine(options, folder, number, command, ends[number - 1] if ends else None))
        for end in ends:
            end.close()
        return carry(machines, options, deadline)
    finally:
        for guest in machines:
            guest.kill()


def end_by_signal(number, _frame):
    raise Ended(TIMED_OUT if number == signal.SIGALRM else 128 + number)


def main():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, end_by_signal)
    try:
        return run(parse(sys.argv[1:]))
    except Ended as end:
        return end.code
    except kernel.Unavailable as error:
        say(f"cannot be had here: {error}")
        return UNAVAILABLE
    except BrokenPipeError:
        return 128 + signal.SIGPIPE


if __name__ == "__main__":
    sys.exit(main())
