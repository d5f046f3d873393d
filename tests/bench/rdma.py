"""Shared by the benchmarks over verbs: the local RDMA device or the Soft-RoCE guest, and options."""
import dataclasses
import os
import re
import shutil
import subprocess

import rounds

GUEST_MORE = 600  # seconds: to boot, and for the rounds that each case has in any case
GUEST_ROUNDS = 1
PACKAGES = ["perftest", "qperf", "ucx-utils"]


def options(text, messages):
    """Parse the command line; `messages`: the default of --messages."""
    p = rounds.options(text, (1, 2) if (os.cpu_count() or 1) > 2 else (0, 1), messages=messages)
    p.add_argument("--device")
    p.add_argument("--address", help="an address of the device, at which the programs connect")
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
    out = f"{o.out or f'{o.build}/bench/guest'}.dir"
    command = [f"{rounds.ROOT}/tests/vm/guest", *vm, "--timeout", str(int(o.seconds or 3600) + GUEST_MORE), "--out", out, "--", os.path.realpath(script),
               "--build", o.build, "--messages", o.messages, "--out", f"{out}/made.json", *more]
    for name in ("rounds", "seconds"):
        command += [f"--{name}", getattr(o, name)] if getattr(o, name) else []
    for text in o.only:
        command += ["--only", text]
    if o.resume:
        command.append("--resume")
    else:
        shutil.rmtree(out, ignore_errors=True)
    status = subprocess.run(list(map(str, command)), check=False).returncode
    if os.path.exists(f"{out}/made.json") and o.out:
        shutil.copyfile(f"{out}/made.json", o.out)
    return status


def shown_only(cases):
    """Without limits: an emulated CPU decides nothing."""
    for case in cases:
        yield dataclasses.replace(case, programs=[dataclasses.replace(p, limit=None) for p in case.programs], limited=(), beyond={}, most={})


def bench(script, o, title, make_cases):
    """Measure all cases of `make_cases`(o), over the local device if there is one, otherwise in the guest. Returns the exit status."""
    if not o.device or not o.address:
        found = active_port()
        if not found:
            return in_guest(script, o)
        o.device, o.address = o.device or found[0], o.address or found[1]
    if os.uname().nodename != "kblat-guest":
        return rounds.bench(o, f"{title}, {o.device}", make_cases(o), PACKAGES)
    o.rounds = o.rounds or GUEST_ROUNDS
    return rounds.bench(o, f"{title}, in the emulated Soft-RoCE guest: shown, not judged", shown_only(make_cases(o)), PACKAGES)


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"
