"""One virtual machine: its qemu process and the streams that come out of it."""

import os
import secrets
import socket
import subprocess

import initramfs

# Enough to see why a kernel did not come up.
CONSOLE_TAIL = 16384
ROOT_OPTIONS = "cache=loose,msize=262144"
# mmap: a program in the folder can be run, and what one side writes the other sees at once.
SHARE_OPTIONS = "cache=mmap,msize=262144"
KERNEL_OPTIONS = "console=ttyS0 quiet panic=-1 nokaslr mitigations=off random.trust_cpu=on"


class Stream:
    """Bytes from the machine until an end mark, which is no part of them."""

    def __init__(self, mark):
        self.mark = mark
        self.held = b""
        self.done = False

    def feed(self, data):
        """What can be passed on now: everything but what may be the head of the mark."""
        if self.done:
            return b""
        data = self.held + data
        end = data.find(self.mark)
        if end >= 0:
            self.held, self.done = b"", True
            return data[:end]
        keep = min(len(self.mark) - 1, len(data))
        while not data.endswith(self.mark[:keep]):
            keep -= 1
        self.held = data[len(data) - keep :]
        return data[: len(data) - keep]


class Machine:
    """A running machine. `channels` maps a name (status, out, err, console) to the socket that it is read from."""

    def __init__(self, options, kernel, number, command, network=None):
        """options: of the command line, see main.py; number: 1 or 2; network: socket to the other machine."""
        self.number = number
        self.code = None
        self.ready = False
        self.console = b""
        # Head of a line of the status channel.
        self.status = b""
        mark = secrets.token_hex(16)
        self.streams = {"out": Stream(mark.encode()), "err": Stream(mark.encode())}
        self.channels = {}
        theirs = {}
        for name in ("console", "status", "out", "err"):
            self.channels[name], theirs[name] = socket.socketpair()
        job = initramfs.job_text(
            {
                "host": number,
                "address": address(number),
                "mtu": options.mtu,
                "hugepages": options.hugepages,
                "memlock": options.memlock,
                "rdma": options.rdma,
                "driver": "siw" if options.siw else "rxe",
                "root_options": ROOT_OPTIONS,
                "share_options": SHARE_OPTIONS,
                "one_stream": "yes" if options.one_stream else "",
                "wait_for_peer": "yes" if network else "",
                "end_mark": mark,
            },
            options.shares,
        )
        environment = dict(options.environment, RDMA_VM_HOST=str(number), RDMA_VM_ADDRESS=address(number))
        if network:
            environment["RDMA_VM_PEER"] = address(3 - number)
        text = initramfs.command_text(command, environment, options.folder)
        # A file without a name: nothing is left behind, however this ends.
        image = os.memfd_create("initramfs")
        with open(image, "wb", closefd=False) as file:
            file.write(initramfs.archive(kernel, job, text, options.siw))
        descriptors = [end.fileno() for end in theirs.values()] + [image] + ([network.fileno()] if network else [])
        self.process = subprocess.Popen(
            # The kernel ends qemu when we are ended without a chance to do so.
            ["setpriv", "--pdeathsig", "KILL", *qemu(options, kernel, number, image, theirs, network)],
            stdin=subprocess.DEVNULL,
            stdout=theirs["console"],
            stderr=theirs["console"],
            pass_fds=descriptors,
            # A Ctrl-C at the terminal is ours to handle.
            start_new_session=True,
        )
        os.close(image)
        for end in theirs.values():
            end.close()

    def received(self, name, data):
        """Takes in what was read from a channel and returns what of it is the command's output."""
        if name in self.streams:
            return self.streams[name].feed(data)
        if name == "console":
            self.console = (self.console + data)[-CONSOLE_TAIL:]
        return b""

    @property
    def finished(self):
        return self.code is not None and all(stream.done for stream in self.streams.values())

    def kill(self):
        self.process.kill()
        self.process.wait()
        for channel in self.channels.values():
            channel.close()


def address(number):
    return f"10.0.0.{number}"


def qemu(options, kernel, number, image, theirs, network):
    words = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-monitor", "none"]
    accel = "kvm" if options.kvm else "tcg,thread=single" if options.count else "tcg,thread=multi"
    words += ["-accel", accel, "-M", "q35", "-m", str(options.memory), "-smp", str(options.cpus)]
    if options.count:
        # 2^1 ns for each. While nothing is to be done, time jumps to the next timer.
        words += ["-icount", "shift=1,sleep=off"]
    words += ["-kernel", os.path.join(kernel, "vmlinux"), "-initrd", f"/proc/self/fd/{image}", "-append", KERNEL_OPTIONS]
    words += ["-device", "virtio-serial-pci"]
    for port, name in enumerate(("status", "out", "err"), start=1):
        words += ["-chardev", f"socket,id={name},fd={theirs[name].fileno()}", "-device", f"virtserialport,chardev={name},nr={port}"]
    words += ["-chardev", f"socket,id=console,fd={theirs['console'].fileno()}", "-serial", "chardev:console"]
    words += ["-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"]
    words += ["-device", "virtio-9p-pci,fsdev=root,mount_tag=root"]
    for index, share in enumerate(options.shares):
        # A comma within a value is written twice.
        path = share.replace(",", ",,")
        words += ["-fsdev", f"local,id=share{index},path={path},security_model=none,multidevs=remap"]
        words += ["-device", f"virtio-9p-pci,fsdev=share{index},mount_tag=share{index}"]
    if network:
        words += ["-netdev", f"socket,id=net,fd={network.fileno()}"]
        words += ["-device", f"virtio-net-pci,netdev=net,mac=52:54:00:00:00:{number:02x},romfile="]
    return words
