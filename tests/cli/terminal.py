"""Runs every subcommand of both programs on a terminal of 80 and of 120 columns, and looks for lines that are wider.

terminal.py ROOT KBLAT KBTUNE: in the current directory, which is empty. What is run is listed below by subcommand; a subcommand
that the programs' help names and this table does not is a failure, so that a new one is not forgotten. A word that is wider than
the terminal by itself (a path) may be.
"""
import fcntl
import glob
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import unicodedata

ROOT, KBLAT, KBTUNE = sys.argv[1:4]
WIDTHS = (80, 120)

SPEC = """kblat: 1
name: scripted
title: A title that is longer than the terminal is wide, with words that may be broken into two lines at any of its blanks
settings: {kernel: oneway, transport: scripted, messages: 2000, burst: 2000, repetitions: 2}
matrix: [{delay: [1us, 2us], size: [32B, 1KiB]}]
claims:
  - id: short
    claim: "Messages of the shortest size take less than ten microseconds, whatever else may be the case on this machine or another"
    source: "Somebody, A Very Long Title of a Paper That Was Written Long Ago, section 4.2, figure 17"
    measured_by_source: "2 us"
    metric: lat_ns.p50
    points: {size: 32B}
    value: {max: 10us}
  - id: other-transport
    claim: "Over another transport that this spec does not have it is the same"
    measured_by_source: "2 us"
    metric: lat_ns.p50
    points: {delay: 2us}
    against: {delay: 1us}
    ratio: {max: 0.6}
"""
IMPOSSIBLE = """kblat: 1
name: impossible
settings: {kernel: oneway, transport: verbs, device: nosuchdevice0, messages: 100, repetitions: 1}
matrix: [{qp: [rc, uc, ud], size: [32B, 64B]}]
"""

# By subcommand: command lines; the words in capitals are filled in.
TABLE = {
    "kblat": {
        "run": ["run SPEC --out runs", "run SPEC --out runs --verbose", "run SPEC --dry-run", "run SPEC --dry-run --only size=32B",
                "run STUDY --out studies", "run STUDY --dry-run", "run SPEC --hosts a,b,c --dry-run", "run nosuchexperiment",
                "run BROKEN", "run --foreign cyclictest --reps 2 --dry-run -- cyclictest --some-long-option --another-long-option 12345"],
        "list": ["list", "list experiments", "list kernels", "list kernels oneway", "list settings", "list transports",
                 "list transports verbs", "list statistics", "list features", "list devices", "list nosuchtopic"],
        "verify": ["verify A1", "verify QUICKSTART"],
        "summary": ["summary A1", "summary A1 A2 A3", "summary QUICKSTART", "summary FLOWS", "summary RATE"],
        "explain": ["explain A1", "explain CAUSES"],
        "report": ["report A1", "report CAMPAIGN"],
        "claims": ["claims A1", "claims A1 A2 A3"],
        "compare": ["compare A1 A2 A3 --with B1 B2 B3", "compare A1 --with B1", "compare A1 A2 A3", "compare A1 --with QUICKSTART"],
        "history": ["history A", "history A1 A2"],
        "index": ["index A"],
        "knobs": ["knobs SPEC --profile isolated --dry-run"],
        "boots": ["boots start SPEC --old 6.1.0-40-amd64 --new 6.12.0-1-amd64 --loader guest --dry-run", "boots status nosuchdirectory"],
        "export": ["export nosuchdirectory --csv"],
        "import": ["import --list", "import cyclictest --out imported CYCLICTEST"],
        "bundle": ["bundle A1 A2 --out bundle.tar.gz"],
        "reproduce": ["reproduce bundle.tar.gz", "reproduce REFERENCE"],
        "state": ["state diff A1/state BSTATE", "state sources"],
        "doctor": ["doctor"],
        "noise": ["noise --seconds 1"],
        "trace": ["trace --stamps -- ./nosuchprogram", "trace"],
    },
    "kbtune": {
        "status": ["status --sysroot M"],
        "plan": [f"plan {p} --sysroot M" for p in ("isolated", "thesis", "low-latency-laptop", "network-card", "baseline")],
        "apply": ["apply isolated --sysroot M --dry-run", "apply isolated --sysroot M"],
        "verify": ["verify --sysroot M"],
        "restore": ["restore --sysroot M --dry-run", "restore --sysroot M"],
        "run": ["run nosuchprofile -- true"],
        "hold": ["hold isolated --sysroot M --dry-run"],
        "cpuset": ["cpuset list --sysroot M", "cpuset destroy nosuchcpuset --sysroot M"],
        "irq": ["irq list --sysroot M"],
        "card": ["card list --sysroot M"],
        "dma-latency": ["dma-latency show --sysroot M"],
        "tuned": ["tuned show --sysroot M", "tuned verify --sysroot M"],
        "profiles": ["profiles", "profiles --settings"],
    },
}


def columns(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def on_terminal(width, argv, environment=None):
    """What it prints to a terminal of that width, standard error included."""
    pid, fd = pty.fork()
    if pid == 0:
        try:
            os.environ.pop("COLUMNS", None)
            os.environ.update(environment or {})
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 0 if environment else width, 0, 0))
            os.execv(argv[0], argv)
        finally:
            os._exit(127)
    out = b""
    while True:
        try:
            part = os.read(fd, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(fd)
    return status, out.decode("utf-8", "replace").replace("\r\n", "\n")


def too_wide(text, width):
    # what is updated in place: each state of that line by itself
    lines = [part for line in text.split("\n") for part in line.split("\r\x1b[K")]
    return [line for line in lines if columns(line) > width and " " in line.strip()]


def prepare():
    """Runs, a study and a machine, by name."""
    def write(path, text):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    write("spec.yaml", SPEC)
    write("broken.yaml", SPEC.replace("burst: 2000", "birst: 2000, nosuchsetting: 3, size: [1, 2, 3], transport: tpc"))
    write("study/a/spec.yaml", SPEC.replace("name: scripted", "name: a"))
    write("study/impossible/spec.yaml", IMPOSSIBLE)
    for arm in "AB":
        for _ in range(3):
            subprocess.run([KBLAT, "run", "spec.yaml", "--out", arm, "--quiet", "--reps", "2", "--no-state"], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([KBLAT, "state", "capture", "bstate"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([KBLAT, "state", "capture", "astate", "--sysroot", "M"], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    subprocess.run([f"{ROOT}/tests/sysroots/machine", "unpack", "guest-v2", "M"], check=True)
    os.makedirs("M/run", exist_ok=True)
    subprocess.run([KBLAT, "run", "study", "--out", "campaign", "--quiet"], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    names = {"SPEC": "spec.yaml", "BROKEN": "broken.yaml", "STUDY": "study", "M": "M", "A": "A", "BSTATE": "bstate",
             "A1/state": "astate", "CYCLICTEST": f"{ROOT}/tests/imports/cyclictest.txt",
             "REFERENCE": f"{ROOT}/experiments/infiniswap/reference.tar.gz",
             "CAMPAIGN": (glob.glob("campaign/*/study.json") or ["nosuchcampaign/study.json"])[0].rsplit("/", 1)[0]}
    for arm in "AB":
        for i, run in enumerate(sorted(glob.glob(f"{arm}/*/"))):
            names[f"{arm}{i + 1}"] = run.rstrip("/")
    for name in ("quickstart", "flows", "rate", "causes"):
        names[name.upper()] = f"{ROOT}/tests/runs/1.0.0/made/{name}"
    return names


def described(path):
    return json.loads(subprocess.run([path, "help", "--json"], capture_output=True, check=True).stdout)


def main():
    os.environ.update({"KBTUNE_PROFILES": f"{ROOT}/profiles", "KBLAT_EXPERIMENTS": f"{ROOT}/experiments"})
    names, failed, count = prepare(), 0, 0
    for path in (KBLAT, KBTUNE):
        program = described(path)
        table = TABLE[program["name"]]
        commands = [c["name"] for c in program["commands"]]
        for missing in sorted(set(commands) ^ set(table)):
            print(f"{program['name']} {missing}: in the program's help or in {os.path.basename(__file__)}, but not in both")
            failed += 1
        lines = ["", "help", "--version", "nosuchcommand"] + [f"{c} --help" for c in commands] + [f"{c} --nosuchflag" for c in commands]
        lines += [line for c in commands for line in table.get(c, [])]
        for line in lines:
            argv = [path] + [names.get(word, word) for word in line.split()]
            for width in WIDTHS:
                status, text = on_terminal(width, argv)
                wide = too_wide(text, width)
                count += 1
                if status < 0 or not text.strip() or wide:
                    failed += 1
                    print(f"{program['name']} {line}: {width} columns, status {status}, {len(text.splitlines())} lines, {len(wide)} too wide")
                    for w in wide[:3]:
                        print(f"  {columns(w)}: {w}")
    # COLUMNS is what the user wants, whatever the terminal says; in a pipe lines stay as they are, for programs
    _, text = on_terminal(0, [KBLAT, "list", "statistics"], {"COLUMNS": "60"})
    failed += bool(too_wide(text, 60)) or not too_wide(text, 50)
    plain = subprocess.run([KBLAT, "list", "experiments"], capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "60"})
    failed += not too_wide(plain.stdout, 80)
    # documents stay as they are, too
    for line in ["list --json", "export A1 --csv", "export A1 --samples --point 0", *(f"claims A1 --format {f}" for f in ("tmt", "ktap", "junit", "kcidb"))]:
        argv = [KBLAT] + [names.get(word, word) for word in line.split()]
        _, text = on_terminal(80, argv)
        if text.replace("\r", "") != subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout:
            failed += 1
            print(f"kblat {line}: not the same on a terminal as in a pipe")
    print(f"{count} outputs, {failed} failures")
    return 1 if failed or count < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
