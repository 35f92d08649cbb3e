"""The machine's first file system: busybox, modules, the init script, and what is of this run alone. Written anew for each run."""

import os
import shlex

BUSYBOX = "/bin/busybox"
INIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "init")


def archive(kernel, job, command, siw=None):
    """cpio archive (newc) as the kernel unpacks it.

    kernel: folder as kernel.prepare() makes it; job: text of /job, which init reads; command: text of /command, a shell script;
    siw: path of a module that /modules/order does not name.
    """
    entries = [(name, 0o040755, b"") for name in ("bin", "dev", "proc", "sys", "modules")]
    entries.append(("bin/busybox", 0o100755, contents(BUSYBOX)))
    entries.append(("init", 0o100755, contents(INIT)))
    modules = os.path.join(kernel, "modules")
    for name in sorted(os.listdir(modules)):
        entries.append((f"modules/{name}", 0o100644, contents(os.path.join(modules, name))))
    if siw:
        entries.append(("modules/siw.ko", 0o100644, contents(siw)))
    entries.append(("job", 0o100644, os.fsencode(job)))
    entries.append(("command", 0o100755, os.fsencode(command)))
    entries.append(("TRAILER!!!", 0, b""))
    pieces = []
    for number, (name, mode, content) in enumerate(entries, start=1):
        path = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
        pieces.append(padded(b"070701" + b"".join(b"%08X" % field for field in fields) + path))
        pieces.append(padded(content))
    return b"".join(pieces)


def padded(piece):
    return piece + bytes(-len(piece) % 4)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def job_text(values, shares):
    """Shell text that sets `values` and defines mount_shares for the folders `shares` (each at its same path, tag share0, share1, ...)."""
    lines = [f"{name}={shlex.quote(str(value))}" for name, value in values.items()]
    lines.append("mount_shares() {\n  :")
    # A folder comes before those within it.
    for number, share in sorted(enumerate(shares), key=lambda item: item[1]):
        target = shlex.quote("/host" + share)
        lines.append(f"  mkdir -p {target} 2>/dev/null")
        lines.append(
            f'  mount -t 9p -o "trans=virtio,version=9p2000.L,rw,$share_options" share{number} {target}'
            f" || fail {shlex.quote(f'{share} cannot be mounted')}"
        )
    lines.append("}")
    return "\n".join(lines) + "\n"


def command_text(command, environment, folder):
    """Shell script that runs a command with exactly that environment, in that folder."""
    words = ["exec", "/usr/bin/env", "-i", *(f"{name}={value}" for name, value in environment.items()), *command]
    return f"cd {shlex.quote(folder)} || exit 125\n" + " ".join(shlex.quote(word) for word in words) + "\n"
