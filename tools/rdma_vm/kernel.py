"""The kernel of the virtual machine: fetched from Debian by apt, unpacked into the cache, nothing of it installed.

A folder of the cache holds `vmlinux` (the kernel unpacked), `modules/NAME.ko`, `modules/order` (one name a line, each after those that it
needs) and `release`. A folder is made under another name and renamed, so it is whole or not there.
"""

import contextlib
import fcntl
import hashlib
import lzma
import os
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile

# Those that a kernel has built in, or has no more, are left out. crc32_generic: rdma_rxe asks for it by name when a device is added,
# libcrc32c, which siw needs, for the other when it is loaded.
MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "virtio_net", "dummy", "crc32_generic", "ib_uverbs", "rdma_ucm")
MODULES += ("rdma_rxe", "crc32c_generic", "libcrc32c")
# Where these and what they need are among the 4000 of a package.
PLACES = re.compile(r"/kernel/(arch|crypto|lib|net|fs/(9p|netfs|fscache|configfs)|drivers/(infiniband|net|char|virtio))/")
SERIES = ("6.1", "6.12")


class Unavailable(Exception):
    """Something that the machine needs cannot be had here."""


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "mtsim", "rdma-vm")


@contextlib.contextmanager
def locked_cache():
    """The cache folder, made if there is none, with nobody else at work in it."""
    cache = cache_folder()
    try:
        os.makedirs(cache, exist_ok=True)
        lock = open(os.path.join(cache, "lock"), "w", encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"no cache folder: {error}") from None
    with lock:
        # Of two runs at once the second waits and finds the work done.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield cache


@contextlib.contextmanager
def work_folder(cache):
    work = tempfile.mkdtemp(prefix="new-", dir=cache)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def prepare(series, update=False, say=lambda text: None):
    """Folder with the kernel of a series (one of SERIES), fetched if the cache has none or a newer one is asked for."""
    # Another choice of modules needs another look into the package.
    name = f"{series}-{hashlib.sha256(' '.join(MODULES).encode()).hexdigest()[:8]}"
    folder = os.path.join(cache_folder(), name)
    if os.path.isdir(folder) and not update:
        return folder
    with locked_cache() as cache:
        if os.path.isdir(folder) and not update:
            return folder
        with work_folder(cache) as work:
            [package] = download(lambda options: package_names(series, options), work, say)
            say(f"unpacking {os.path.basename(package)}")
            made = os.path.join(work, "made")
            unpack(package, made)
            if os.path.isdir(folder):
                os.rename(folder, os.path.join(work, "old"))
            os.rename(made, folder)
        for other in os.listdir(cache):
            if other.startswith(series + "-") and other != name:
                shutil.rmtree(os.path.join(cache, other), ignore_errors=True)
    return folder


def download(choose, work, say):
    """Paths of packages, downloaded into the folder `work`. choose(options of apt): their names, or throws Unavailable."""
    if not shutil.which("apt-get"):
        raise Unavailable("the kernel comes from Debian by apt-get, which is not here")
    # Lists of one's own when the host's are old or absent: this needs no root and changes nothing on the host.
    state = os.path.join(work, "apt")
    own_lists = [f"-oDir::State={state}", f"-oDir::State::lists={state}/lists", f"-oDir::Cache={state}/cache"]
    own_lists += ["-oDir::State::status=/var/lib/dpkg/status"]
    reasons = []
    for options in ([], own_lists):
        if options and not os.path.isdir(state):
            say("fetching package lists")
            os.makedirs(os.path.join(state, "lists", "partial"))
            os.makedirs(os.path.join(state, "cache", "archives", "partial"))
            subprocess.run(["apt-get", *options, "-qq", "update"], capture_output=True, check=False)
        try:
            names = choose(options)
        except Unavailable as error:
            reasons.append(str(error))
            continue
        say(f"fetching {', '.join(name.split('=')[0] for name in names)}")
        folder = tempfile.mkdtemp(prefix="packages-", dir=work)
        result = subprocess.run(["apt-get", *options, "-qq", "download", *names], cwd=folder, capture_output=True, text=True, check=False)
        packages = [os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.endswith(".deb")]
        if result.returncode == 0 and len(packages) == len(names):
            return packages
        reasons.append(f"{', '.join(names)} cannot be downloaded: {result.stderr.strip()}")
    raise Unavailable("; then, with new package lists, ".join(reasons))


def package_names(series, options):
    """The newest package of a kernel series that apt knows, alone in a list. Its name moves with the kernel's ABI."""
    escaped = re.escape(series)
    wanted = re.compile(rf"linux-image-{escaped}\.\d+(-\d+|\+deb\d+)-amd64")

    def ask(*words):
        return subprocess.run(["apt-cache", *options, *words], capture_output=True, text=True, check=False).stdout

    for word in ask("depends", "linux-image-amd64").split():
        if wanted.fullmatch(word):
            return [word]
    names = [line.split(" ")[0] for line in ask("search", "--names-only", f"^linux-image-{escaped}").splitlines()]
    names = [name for name in names if wanted.fullmatch(name)]
    if not names:
        raise Unavailable(f"apt knows no kernel {series} for amd64")
    return [max(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])]


def unpack(package, folder):
    """Takes the kernel and the modules that are needed out of a package."""
    os.makedirs(os.path.join(folder, "modules"))
    images, modules, release = [], {}, ""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as files:
            for member in files:
                image = re.fullmatch(r"\./boot/vmlinuz-(.*)", member.name)
                module = re.fullmatch(r"\./(?:usr/)?lib/modules/.*/([^/]*)\.ko(\.xz)?", member.name)
                if image:
                    release = image[1]
                    images.append(files.extractfile(member).read())
                elif module and PLACES.search(member.name):
                    content = files.extractfile(member).read()
                    modules[module[1].replace("-", "_")] = (content, bool(module[2]))
    if not images or "rdma_rxe" not in modules:
        raise Unavailable(f"{os.path.basename(package)} holds no kernel with rdma_rxe")

    order = []
    texts = {}

    def take(name):
        if name in texts or name not in modules:
            return
        content, packed = modules[name]
        texts[name] = lzma.decompress(content) if packed else content
        depends = re.search(rb"\0depends=([^\0]*)\0", texts[name])
        for other in depends[1].decode().split(",") if depends else []:
            take(other.replace("-", "_"))
        order.append(name)

    for name in MODULES:
        take(name)
    for name in order:
        with open(os.path.join(folder, "modules", name + ".ko"), "wb") as file:
            file.write(texts[name])
    with open(os.path.join(folder, "modules", "order"), "w", encoding="utf-8") as file:
        file.writelines(name + "\n" for name in order)
    with open(os.path.join(folder, "release"), "w", encoding="utf-8") as file:
        file.write(f"{release} {os.path.basename(package)}\n")
    write_sparse(os.path.join(folder, "vmlinux"), unpacked_kernel(images[0]))


def unpacked_kernel(image):
    """The ELF file within a bzImage: unpacking it in the machine, under emulation, would take most of the time that booting takes."""
    # The kernel's boot protocol: sectors of the setup code, then offset and length of the packed file from where these end.
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    packed = image[start : start + length]
    kernel = b""
    if packed.startswith(b"\xfd7zXZ\0"):
        kernel = lzma.LZMADecompressor().decompress(packed)
    elif packed.startswith(b"\x28\xb5\x2f\xfd") and shutil.which("zstd"):
        # Complains about the file's size that the kernel's build has put behind it.
        kernel = subprocess.run(["zstd", "-dcq"], input=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    # A bzImage does as well, but slowly.
    return kernel if kernel.startswith(b"\x7fELF") else image


def write_sparse(path, content):
    block = 4096
    zeros = bytes(block)
    with open(path, "wb") as file:
        for start in range(0, len(content), block):
            piece = content[start : start + block]
            if piece == zeros:
                file.seek(block, os.SEEK_CUR)
            else:
                file.write(piece)
        file.truncate(len(content))
