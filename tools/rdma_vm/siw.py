"""The module siw (iWARP in software), which Debian's kernels come without: built from Debian's source for the kernel that the cache holds.

The packages that this takes are unpacked in the cache and removed again; what stays is `siw.ko` in the kernel's folder. So a new
kernel is a new build.
"""

import os
import re
import subprocess
import tarfile

import kernel

HERE = os.path.dirname(os.path.abspath(__file__))
WHERE = "drivers/infiniband/sw/siw/"


def prepare(folder, series, say=lambda text: None):
    """Path of the module for the kernel in `folder`, as kernel.prepare() gave it; built if it is not there yet."""
    module = os.path.join(folder, "siw.ko")
    if os.path.exists(module):
        return module
    if subprocess.run([os.path.join(HERE, "..", "install-dependencies"), "siw"], check=False).returncode != 0:
        raise kernel.Unavailable("siw has to be built, and the packages for that are missing")
    with kernel.locked_cache() as cache, kernel.work_folder(cache) as work:
        if not os.path.exists(module):
            os.rename(build(folder, series, work, say), module)
    return module


def build(folder, series, work, say):
    with open(os.path.join(folder, "release"), encoding="utf-8") as file:
        release, package = file.read().split()
    # The version of the kernel itself: a module fits no other.
    version = package.split("_")[1]

    def fetch(*names):
        try:
            return kernel.download(lambda options: [f"{name}={version}" for name in names], work, say)
        except kernel.Unavailable as error:
            raise kernel.Unavailable(f"siw for the cached kernel, of which Debian may have newer ones by now (--update): {error}") from None

    [headers] = fetch(f"linux-headers-{release}")
    depends = subprocess.run(["dpkg-deb", "-f", headers, "Depends"], capture_output=True, text=True, check=True).stdout
    others = re.findall(r"(?:^|, )(linux-(?:headers|kbuild|compiler)-[^\s,]+)", depends)
    *tools, source = sorted(fetch(*others, f"linux-source-{series}"), key=lambda path: "linux-source-" in path)
    root = os.path.join(work, "root")
    for part in (headers, *tools):
        subprocess.run(["dpkg-deb", "-x", part, root], check=True)

    say("building siw")
    tree = os.path.join(root, "usr", "src", f"linux-headers-{release}")
    makefile = os.path.join(tree, "Makefile")
    with open(makefile, encoding="utf-8") as file:
        text = file.read()
    with open(makefile, "w", encoding="utf-8") as file:
        file.write(text.replace("/usr/src/", f"{root}/usr/src/"))
    place = os.path.join(work, "siw")
    take_source(source, place)
    # Without types for BPF, which would take another program to write.
    options = ["CONFIG_RDMA_SIW=m", "CONFIG_DEBUG_INFO_BTF_MODULES=", f"-j{os.cpu_count()}"]
    words = ["make", "-C", tree, f"M={place}", *options, "modules"]
    made = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    module = os.path.join(place, "siw.ko")
    if made.returncode != 0 or not os.path.exists(module):
        last = "\n".join(f"  | {line}" for line in made.stdout.splitlines()[-15:])
        raise kernel.Unavailable(f"siw does not build for {release}:\n{last}")
    subprocess.run(["strip", "-g", module], check=True)
    return module


def take_source(package, place):
    """Writes the module's source, a part of an archive within the package, into the folder `place`."""
    os.makedirs(place)
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as process:
        with tarfile.open(fileobj=process.stdout, mode="r|") as outer:
            for member in outer:
                if not member.name.endswith(".tar.xz"):
                    continue
                # xz itself unpacks the 1.3 GB faster than Python does.
                reader = subprocess.Popen(
                    ["tar", "-xJ", "-C", place, "--strip-components=5", "--wildcards", f"*/{WHERE}*"],
                    stdin=subprocess.PIPE,
                )
                source = outer.extractfile(member)
                while piece := source.read(1 << 20):
                    reader.stdin.write(piece)
                reader.stdin.close()
                if reader.wait() != 0:
                    raise kernel.Unavailable(f"{os.path.basename(package)} has no {WHERE}")
                break
        process.stdout.close()
        # The rest of the package is not read.
        process.kill()
