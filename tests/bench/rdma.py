"""Shared by the benchmarks over verbs: the local RDMA device or the Soft-RoCE guest, and options."""
import argparse
import os
import re
import subprocess
import tempfile

import rounds

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ["perftest", "qperf", "ucx-utils"]


def options(text, messages):
    """Parse the command line; `messages`: the default of --messages."""
    p = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", default=f"{ROOT}/build", type=os.path.realpath)
    p.add_argument("--out", metavar="FILE")
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--messages", type=int, default=messages)
    p.add_argument("--only", metavar="TEXT", action="append", default=[], help="cases with this in their names")
    p.add_argument("--device")
    p.add_argument("--address", help="an address of the device, at which the programs connect")
    p.add_argument("--cpus", type=lambda text: tuple(map(int, text.split(","))), default=(1, 2) if (os.cpu_count() or 1) > 2 else (0, 1))
    return p.parse_args()


def active_port():
    """A device with an active port and its address, or None."""
    for name in sorted(os.listdir("/sys/class/infiniband")) if os.path.isdir("/sys/class/infiniband") else []:
        if "ACTIVE" not in (rounds.first_match(f"/sys/class/infiniband/{name}/ports/1/state", r"(.*)") or ""):
            continue
        netdev = rounds.first_match(f"/sys/class/infiniband/{name}/ports/1/gid_attrs/ndevs/0", r"(\S+)")
        said = subprocess.run(["ip", "-4", "-o", "addr", "show", "dev", netdev or "none"], capture_output=True, text=True, check=False).stdout
        address = re.search(r"inet ([0-9.]+)", said)
        if address:
            return name, address[1]
    return None


def in_guest(script, o, *more, vm=()):
    """Run `script` in the guest with the same options, and `more`; `vm`: options of the guest. Returns its exit status."""
    with tempfile.TemporaryDirectory() as out:
        command = [f"{ROOT}/tests/vm/guest", *vm, "--timeout", "3600", "--out", out, "--", os.path.realpath(script), "--build", o.build,
                   "--rounds", str(o.rounds), "--messages", str(o.messages), "--out", f"{out}/made.json", *map(str, more)]
        for text in o.only:
            command += ["--only", text]
        status = subprocess.run(command, check=False).returncode
        if os.path.exists(f"{out}/made.json") and o.out:
            with open(f"{out}/made.json", "rb") as made, open(o.out, "wb") as kept:
                kept.write(made.read())
        return status


def bench(script, o, title, make_cases):
    """Measure all cases of `make_cases`(o), over the local device if there is one, otherwise in the guest. Returns the exit status."""
    if not o.device or not o.address:
        found = active_port()
        if not found:
            return in_guest(script, o)
        o.device, o.address = o.device or found[0], o.address or found[1]
    chosen = [c for c in make_cases(o) if not o.only or any(text in c.name for text in o.only)]
    rounds.say(f"{title}, {o.device}: {len(chosen)} cases, {o.rounds} rounds")
    done = rounds.run_cases(chosen, o.rounds)
    guest = os.uname().nodename == "kblat-guest"
    return rounds.finish(done, o.out, title + (", in the Soft-RoCE guest" if guest else f", {o.device}"), "make bench", PACKAGES, o.rounds)


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"
