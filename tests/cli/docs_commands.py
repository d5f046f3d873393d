#!/usr/bin/python3
"""docs_commands.py ROOT KBLAT KBTUNE: checks that every command (in blocks indented by four blanks) of every page works: README.md,
CONTRIBUTING.md, docs/, and the READMEs of experiments, profiles and the guest.

For each, the form is checked: the program exists, so does the subcommand, and each --flag is in its
help; targets and variables of `make` are in the Makefile. In addition, each command is in one of
two tables below: RUN, if it is run here, with substitutions for its arguments, or NEEDS, with what
it requires; `kblat run experiments/…` needs no row, and is run with --dry-run. A command in neither is an error, and so is a row that no page contains any more.
Commands that only show a form, with […], … or a word in capitals for a user's value, may be in
neither table. With --table, all of them are printed, with what became of each.
"""
import glob
import os
import re
import shutil
import sqlite3
import subprocess
import sys

RUN = {
    # command in a page -> what is run here ("": the command itself), and the expected exit statuses
    "build/kblat list": ("", 0),
    "build/kblat list transports": ("", 0),
    "build/kblat list devices": ("", 0, 77),
    "build/kblat doctor": ("", 0, 3),
    "sudo experiments/launch/netns build/kblat run experiments/quickstart/card.yaml":
        ("build/kblat run experiments/quickstart/card.yaml --dry-run", 0),
    "sudo experiments/launch/rdma-netns mlx5_0 mlx5_1 build/kblat run experiments/thesis/roundtrip-mtu":
        ("build/kblat run experiments/thesis/roundtrip-mtu --dry-run", 0),
    "sudo experiments/launch/netns build/kblat run experiments/cards/wait-limit --only transport=tcp":
        ("build/kblat run experiments/cards/wait-limit --only transport=tcp --dry-run", 0),
    "guest/kblat-guest --out runs -- build/kblat run experiments/quickstart --quick --out runs":
        ("build/kblat run experiments/quickstart --quick --out runs --dry-run", 0),
    "build/kblat run experiments/quickstart --only transport=shmem --set size=4KiB": ("{} --dry-run", 0),
    "build/kblat run experiments/quickstart --only transport=shmem": ("{} --dry-run", 0),
    "build/kblat run experiments/quickstart --only transport=shmem --only poll=busy --set size=4KiB": ("{} --dry-run", 0),
    "kblat run experiments/quickstart --only transport=shmem --set explain=yes": ("{} --dry-run", 0),
    "build/kblat run experiments/thesis --quick": ("{} --dry-run", 0),
    "build/kblat run experiments/thesis": ("{} --dry-run", 0),
    "build/kblat run experiments/ramcloud --quick": ("{} --dry-run", 0),
    "build/kblat run experiments/ramcloud": ("{} --dry-run", 0),
    "build/kblat run experiments/infiniswap --quick": ("{} --dry-run", 0),
    "build/kblat run experiments/infiniswap": ("{} --dry-run", 0),
    "build/kblat run experiments/via --quick": ("{} --dry-run", 0),
    "build/kblat run experiments/via": ("{} --dry-run", 0),
    "build/kblat run experiments/libraries --quick --only size=64B": ("{} --dry-run", 0),
    "build/kblat run experiments/libraries/pairs --quick": ("{} --dry-run", 0),
    "build/kblat run experiments/observatory/jucx --quick --only size=64B --set warmup=20000": ("{} --dry-run", 0),
    "build/kblat run experiments/thesis/oneway-busy --set environment=none": ("{} --dry-run", 0),
    "build/kblat run config.json --dry-run": ("", 0),
    "build/kblat run config.json --quick": ("{} --dry-run", 0),
    "build/kblat run config.json --set transport=tcp": ("{} --dry-run", 0),
    "build/kblat run config.json --set transport=ucx": ("{} --dry-run", 0),
    "build/kblat export config.json --spec [--transport tcp]": ("build/kblat export config.json --spec --transport tcp", 0),
    "build/kblat import sockperf --out base sockperf-*.log": ("build/kblat import sockperf --out base tests/imports/sockperf.log", 0),
    "build/kblat import cyclictest-json --out new cyclic-*.json":
        ("build/kblat import cyclictest-json --out new tests/imports/cyclictest.json", 0),
    "build/kblat import csv --column lat_us --name rpc --out base rpc-*.csv":
        ("echo lat_us >rpc.csv && echo 1.5 >>rpc.csv && build/kblat import csv --column lat_us --name rpc --out base rpc.csv", 0),
    "build/kblat import --list": ("", 0),
    "build/kblat import csv --column lat_us --out runs app.csv":
        ("echo lat_us >app.csv && echo 1.5 >>app.csv && build/kblat import csv --column lat_us --out imported app.csv", 0),
    "build/kblat import csv --column 3 --unit ns --out runs vegeta.csv":
        ("echo 1,200,1500 >vegeta.csv && build/kblat import csv --column 3 --unit ns --out imported vegeta.csv", 0),
    "build/kblat compare polled/base --with polled/new": ("build/kblat compare BASELINE --with UPGRADED", 3),
    "build/kblat run --foreign cyclictest-json --out runs --reps 20 -- cyclictest -q -l 20000 -i 1000 -h 100000 --json={file}":
        ("build/kblat run --foreign cyclictest-json --out runs --reps 2 --no-state -- cyclictest -q -l 200 -i 1000 -h 1000000 --json={{file}}", 0),
    'build/kblat run --foreign perftest --out polled --reps 20 --base "ib_send_lat -e -U HOST" -- ib_send_lat -U HOST':
        ('build/kblat run --foreign perftest --out polled --reps 20 --base "ib_send_lat -e -U HOST" --dry-run -- ib_send_lat -U HOST', 0),
    "build/kblat run --foreign sockperf --out quiet --reps 20 --environment none,isolated -- sockperf ping-pong -i HOST --full-log {file}":
        ("build/kblat run --foreign sockperf --out quiet --reps 20 --environment none,isolated --dry-run -- sockperf ping-pong -i HOST", 0),
    "kblat bundle runs/ramcloud-20261125T081500Z-2f9c11d0 --out ramcloud.tar.gz": ("kblat bundle RUN --out b.tar.gz", 0),
    "kblat reproduce ramcloud.tar.gz": ("kblat reproduce b.tar.gz", 0),
    "kblat reproduce b.tar.gz": ("", 0),
    "build/kblat explain RUN": ("", 0, 3),
    "build/kblat report RUN": ("", 0, 77),
    "build/kblat verify RUN": ("", 0),
    "build/kblat claims RUN…": ("build/kblat claims RUN", 0, 3),
    "build/kblat compare BASELINE --with UPGRADED": ("", 3),
    "kblat compare baseline --with upgraded": ("", 3),
    "kblat compare baseline --with upgraded --format junit": ("", 3),
    "kblat claims RUN": ("", 0, 3),
    "kblat report RUN…": ("kblat report RUN", 0, 77),
    "kblat report DIR": ("", 0),
    "kblat index DIR": ("", 0),
    "kblat state sources [--json]": ("kblat state sources --json", 0),
    "kblat run wake-up --dry-run": ("", 0),
    "kblat run wake-up --quick": ("{} --dry-run", 0),
    "kblat run wake-up": ("{} --dry-run", 0),
    "build/kbtune plan thesis": ("{} --sysroot machine", 0),
    "build/kbtune plan isolated": ("{} --sysroot machine", 0, 77),
    "kbtune plan thesis": ("{} --sysroot machine", 0),
    "kbtune plan isolated": ("{} --sysroot machine", 0, 77),
    "kbtune plan network-card": ("{} --sysroot machine", 0),
    "kbtune status": ("{} --sysroot machine", 0),
    "kbtune verify": ("{} --sysroot machine", 3),
    "sudo kbtune verify": ("kbtune verify --sysroot machine", 3),
    "kbtune irq list": ("{} --sysroot machine", 0),
    "kbtune card list": ("{} --sysroot machine", 0),
    "kbtune dma-latency show": ("", 0, 77),
    "kbtune profiles": ("", 0),
    "tests/campaign/campaign --list": ("", 0),
    "tests/campaign/campaign --table tests/campaign/kept/states.tsv": ("", 0),
    "tests/campaign/campaign --table tests/campaign/kept/kbtune.tsv": ("", 0),
    "tests/campaign/campaign --table tests/campaign/kept/kblat.tsv": ("", 0),
    "tests/campaign/campaign --table tests/campaign/kept/more.tsv": ("", 0),
    "tests/campaign/campaign --table tests/campaign/kept/studies.tsv": ("", 0),
    "tests/campaign/campaign --table tests/campaign/kept/guest.tsv": ("", 0),
    "tests/fuzz/run --table tests/fuzz/kept/executions.tsv": ("", 0),
}

NEEDS = {
    "root": [
        "sudo experiments/launch/netns build/kblat run experiments/cards --quick",
        "sudo kbtune restore --give-up 5", "sudo build/kblat noise", "sudo build/kbtune run thesis --in real-time-0 -- COMMAND",
        "sudo build/kblat run experiments/quickstart --only transport=shmem --set explain=yes",
        "sudo build/kblat run experiments/quickstart --only transport=shmem --set environment=isolated", "sudo build/kblat run SPEC --set environment=thesis", "sudo kbtune apply thesis", "sudo kbtune restore",
        "sudo kbtune cpuset exec real-time-0 -- COMMAND", "sudo kbtune run thesis --in real-time-0 -- COMMAND",
        "kbtune apply thesis", "kbtune restore", "sudo kbtune card bind 0000:03:00.0", "sudo kbtune card restore", "kblat noise --cpus 1 --seconds 10",
        "sudo kblat knobs experiments/quickstart --profile isolated --dry-run",
        "sudo kblat knobs experiments/quickstart --profile isolated --only transport=shmem --budget 30min",
        "sudo kbtune apply quickstart-knobs-20261122T091648Z-3ecb21b9/smallest/profile.yaml",
        "sudo build/kblat trace --from PLACE --to PLACE -- COMMAND",
        "sudo kblat trace --from redis-server:processCommand --to redis-server:processCommand%return --for 16s -- redis-server",
        "sudo kblat trace --from redis-server:processCommand --to redis-server:processCommand%return --limit 1ms "
        "--buffer 128MiB --for 14s --pid PID", "sudo tests/bench/trace-truth build/kblat --first",
        "sudo tests/bench/trace-truth build/kblat --quiet --seconds 6", "tests/bench/stamps-memcached build/kblat",
        "sudo apt install ./kblat_*.deb ./kbtune_*.deb", "sudo kbtune run network-card -- COMMAND",
    ],
    "an adapter": ["build/kblat run experiments/thesis/oneway-busy --device mlx5_0 --quick --set environment=none"],
    "a page's spec": ["build/kblat run mpi.yaml", "experiments/launch/slurm build/kblat run mpi.yaml"],
    "a second host": [
        "build/kblat doctor --sink 'ssh beta'", "build/kblat run two-hosts.yaml --sink 'ssh beta'", "build/kblat report runs/two-hosts-*",
        "build/kblat run two-hosts.yaml --sink 'ssh beta' --set clock=system", "build/kblat run two-hosts.yaml --sink 'ssh beta' --set clock=ptp",
    ],
    "minutes": [
        "tests/vm/guest --no-rdma --cards --timeout 3600 --out build/campaign/guest -- tests/campaign/kbtune_guest.py",
        "tests/campaign/campaign --table build/campaign/guest/sums", "sudo tests/bench/trace-harmless build/kblat --seed 55",
        "tests/bench/peers-libraries --rounds 25", "build/bench/bench_ucx -r 4 api=am tls=posix size=32 depth=1",
        "make", "make run", "make test", "make sanitized-test", "make check", "make lint", "make docs-test", "make rehearsal", "make studies-page", "make SAN=1", "make deps all", "make elsewhere", "make elsewhere STEPS='guest cli:wakeup'", "make fresh", "make bench", "make fuzz", 'make fuzz SECONDS=1800 TARGETS="spec run"', "make deps",
        "make coverage", "make coverage SUITES='unit cli:kbtune-restore'", "tests/coverage/table build/cov",
        "tests/bench/import-alarms", "tests/bench/claim-flips --judged ramcloud", "tests/bench/peers-wakeup", "tests/bench/peers-wakeup --priority 80", "tests/bench/peers-wakeup --guest",
        "build/bench/bench_request_stamps",
        "tests/bench/explain-truth build/kblat --wakeups",
        "sudo kblat run experiments/wakeups", "make campaign", "make campaign HOURS=1 ONLY=kbtune-write,kblat-time",
        "make kernel-ab OLD=6.1.0-47-amd64 NEW=6.1.0-56-amd64", "make two-kernels", "tests/vm/two-kernels --wrong", "tests/vm/two-kernels --full",
        "tests/vm/two-kernels --loader bootctl", "tests/vm/two-kernels --loader kexec", "tests/fuzz/run --seconds 600 --keep build/fuzz/fuzz",
        "kblat run wakeups/methods --out baseline", "kblat run wakeups/methods --out upgraded",
        "make fuzz SECONDS=240 ROUNDS=100 JOBS=2", "tests/fuzz/run --table build/fuzz/fuzz",
        "tests/vm/guest -- sh -c 'build/kblat run tests/bench/ring-memory --out runs; build/kblat summary runs/* --pattern'",
        "tests/vm/guest -- rdma link", "tests/vm/guest --no-rdma --cards --iommu -- sh -ec 'modprobe -a e1000e virtio_net vfio-pci; "
        "build/kbtune card list; build/kbtune card bind 0000:00:05.0 0000:00:06.0; build/kblat run experiments/quickstart/dpdk.yaml --quick --out "
        "/tmp/runs --set source_device=0000:00:05.0 --set sink_device=0000:00:06.0; build/kbtune card restore'",
        "tests/vm/guest --out results -- sh -c 'ib_send_lat -d rxe0 & sleep 1; ib_send_lat -d rxe0 192.0.2.1 >$KBLAT_OUT/rc.txt'",
        "tests/vm/guest --cgroup v1 --cpus 8 --nodes 2 --append 'isolcpus=6,7' -- build/kbtune status",
        "tests/vm/guest -- bats tests/vm/faults.bats", "tests/vm/guest --no-rdma --count-time -- tests/vm/lean-bats tests/vm/trace.bats", "tests/vm/guest --no-rdma -- bats tests/vm/tuned.bats",
        "tests/vm/guest --no-rdma --cpus 3 --nodes 1 -- sh -c 'tests/vm/hold-events; tests/bench/explain-truth build/kblat --quiet --messages 400000'",
        "tests/vm/siw && tests/vm/guest -- bats tests/vm/siw.bats",
        "tests/vm/pair --env KBLAT=$PWD/build/kblat -- bats tests/vm/links.bats",
        "kblat boots start quickstart --loader guest --old 6.1.0-47-amd64 --new 6.1.0-56-amd64 --count-time --boots 4 --runs 1 "
        "--judge p50 --only transport=shmem --set poll=event --set source_cpu=0 --set sink_cpu=0",
        "kblat boots start quickstart --loader guest --kernel 6.1.0-47-amd64 --kernel 6.1.0-50-amd64 --kernel 6.1.0-56-amd64 "
        "--kernel 6.1.0-56-rt-amd64 --count-time --out series --only transport=shmem --set poll=event --set source_cpu=0 --set sink_cpu=0",
        "guest/kblat-guest --no-rdma -- sh -c 'build/kbtune apply thesis; build/kbtune verify; build/kbtune restore'",
        "guest/kblat-guest --timeout 3000 --in-memory --out runs -- build/kblat run experiments/thesis --quick --out runs",
        "tests/vm/guest --in-memory --timeout 3600 --out runs -- build/kblat reproduce FILE --run --out runs/again", "make reproduce-thesis",
        "build/kblat run experiments/ramcloud --quick --out runs", "tests/consumers", "tests/cli/browser.py --open $(command -v chromium) PAGE", "build/bench/compare_rates 400", "build/bench/history_rates 2000", "build/bench/compare_looks 200", "build/bench/compare_bisect 100",
    ],
    "install.bats and make package-test, which do it": [
        "make install", "make install PREFIX=/opt/kblat", "make install-kbtune", "dpkg-buildpackage -us -uc",
    ],
}

PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "experiments/**/README.md", "profiles/**/README.md", "tests/vm/README.md")
PROGRAMS = r"(build/|tests/|experiments/|guest/)?(kblat-guest|kblat|kbtune|make|ssh|sqlite3|apt|dpkg-\w+|tests/\S+|experiments/\S+|build/bench/\S+)"
COMMAND = re.compile(rf" {{4,8}}(?:[$#] )?((?:sudo )?{PROGRAMS}(?: .*)?)$")
# What an experiment's README says to run: checked, and not measured.
EXPERIMENT = re.compile(r"(?:sudo )?(?:experiments/launch/netns (?:--rate \S+ )?|tests/vm/(?:guest|pair) .*-- )?(?:build/)?(kblat run experiments/.*)")
FORM = re.compile(r"\[|…|\b(SPEC|RUN|NAME\.json|DIR|OUT|PROFILE|KERNEL|BASE|OLD|A B)\b|\{host\}|<")


def commands(root):
    """(page, line, command): without comments and explanations; continued lines are joined."""
    for page in [p for pattern in PAGES for p in sorted(glob.glob(os.path.join(root, pattern), recursive=True))]:
        lines = open(page).read().split("\n")
        for number, line in enumerate(lines):
            if number and lines[number - 1].endswith("\\"):
                continue
            while line.endswith("\\"):
                number += 1
                line = line[:-1] + lines[number].strip()
            found = COMMAND.match(line)
            if found:
                yield os.path.relpath(page, root), number + 1, re.split(r"  +", found.group(1))[0].strip()


def missing(what, flags, text):
    """The first flag that the text lacks, or only has as the beginning of another one."""
    return next((f"{what} has no {flag}" for flag in flags if not re.search(rf"{flag}(?![\w-])", text)), None)


class Checker:
    def __init__(self, root, programs):
        self.root, self.programs, self.helps = root, programs, {}
        self.makefile = open(os.path.join(root, "Makefile")).read()

    def help(self, program, *words):
        key = (program, *words)
        if key not in self.helps:
            said = subprocess.run([self.programs[program], *words, "--help"], capture_output=True, text=True)
            self.helps[key] = said.stdout if said.returncode == 0 else None
        return self.helps[key]

    def form(self, command):
        """An error, or None."""
        words = command.removeprefix("sudo ").split()
        own = " ".join(words).split(" -- ")[0]
        flags = re.findall(r"(?<![\w-])(--[a-z][a-z-]*)", own)
        name = os.path.basename(words[0])
        if name in self.programs and not words[0].startswith("experiments"):
            if len(words) > 1 and words[1].startswith("--"):
                return None if words[1] == "--version" else f"{name} has no {words[1]}"
            text = self.help(name, words[1])
            if text is None:
                return f"{name} has no subcommand {words[1]}"
            return missing(f"{name} {words[1]}", flags, text)
        if name == "make":
            for word in words[1:]:
                stem = word.rpartition("-")[0]
                wanted = rf"^{word.split('=')[0]}\s*:?=" if "=" in word else rf"^{word}:|^[\w -]*\b{word}\b[\w -]*:|: {stem}-%:"
                if re.fullmatch(r"[\w-]+(=.*)?", word) and not re.search(wanted, self.makefile, re.M):
                    return f"the Makefile has no {word}"
            return None
        if words[0].startswith(("tests/", "experiments/", "guest/")):
            path = os.path.join(self.root, words[0])
            if not os.access(path, os.X_OK):
                return f"there is no {words[0]}"
            text = open(path).read()
            if re.search(r"^import (rdma|rounds)$", text, re.M):  # most of its options are theirs
                text += subprocess.run([path, "--help"], capture_output=True, text=True).stdout
            passes_on = words[0].startswith("experiments/launch/")
            return None if passes_on else missing(words[0], flags, text)
        return None

    def run(self, command):
        instead, *right = RUN.get(command) or ("", 0)
        line = instead.format(command) if instead else command
        if command not in RUN:
            line = EXPERIMENT.match(command).group(1).replace(" [--quick]", " --quick").replace("_address=A", "_address=127.0.0.1").replace("_address=B", "_address=127.0.0.1") + " --dry-run"
        said = subprocess.run(["bash", "-c", line], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return None if said.returncode in right else f"{line}: exit status {said.returncode}: {said.stderr[-300:]}{said.stdout[-200:]}"


def queries_of(page):
    """The SQL of the sqlite3 commands, which may have several lines until the closing quote."""
    return re.findall(r'    sqlite3 \S+ "(.*?)"', open(page).read(), re.S)


def place(root, programs):
    """A folder in which the names in the pages exist."""
    made = os.path.join(root, "tests/runs/1.0.0/made/scripted")
    os.makedirs("bin")
    os.makedirs("build")
    for name, path in programs.items():
        os.symlink(path, f"bin/{name}")
        os.symlink(path, f"build/{name}")
    os.environ["PATH"] = os.path.abspath("bin") + ":" + os.environ["PATH"]
    for name in ("experiments", "tests", "docs", "plots", "profiles"):
        os.symlink(os.path.join(root, name), name)
    shutil.copytree(os.path.join(root, "tests/runs/1.0.0/made/quickstart"), "DIR/run")
    shutil.copytree(made, "RUN")
    boots = os.path.join(root, "tests/cli/boots.py")
    subprocess.check_call([sys.executable, boots, "DIR/run", "baseline"])
    subprocess.check_call([sys.executable, boots, "DIR/run", "upgraded", "prefix=c", "kernel=6.1.0-56-amd64", "slower=0.3"])
    os.symlink("baseline", "BASELINE")
    os.symlink("upgraded", "UPGRADED")
    with open("config.json", "w") as f:
        subprocess.check_call([sys.executable, os.path.join(root, "tests/cli/observatory_config.py"), "config"], stdout=f)
    subprocess.check_call([os.path.join(root, "tests/sysroots/machine"), "unpack", "two-cpus", "machine"])
    spec = re.search(r"((?:    .*\n|\n)*    kblat: 1\n(?:    .*\n|\n)*)", open(os.path.join(root, "docs/write-an-experiment.md")).read()).group(1)
    os.makedirs("wake-up")
    open("wake-up/spec.yaml", "w").write("\n".join(line[4:] for line in spec.split("\n")))


def main():
    wants_table = "--table" in sys.argv
    root, kblat, kbtune = map(os.path.abspath, [a for a in sys.argv[1:] if a != "--table"])
    programs = {"kblat": kblat, "kbtune": kbtune}
    checker = Checker(root, programs)
    place(root, programs)
    needs = {command: why for why, all_ in NEEDS.items() for command in all_}
    seen, faults, counts = set(), [], dict.fromkeys(("run", "shown as a form", *NEEDS), 0)
    for page, line, command in commands(root):
        said = checker.form(command)
        can_run = command in RUN or command not in needs and EXPERIMENT.fullmatch(command) and "RUN" not in command
        if command not in seen and can_run:
            said = said or checker.run(command)
            counts["run"] += 1
        elif command in needs:
            counts[needs[command]] += command not in seen
        elif not can_run and FORM.search(command):
            counts["shown as a form"] += 1
        elif command.startswith("sqlite3 "):
            subprocess.check_call([kblat, "index", "DIR"], stdout=subprocess.DEVNULL)
            for query in queries_of(os.path.join(root, page)):
                if not sqlite3.connect("DIR/kblat-index.sqlite").execute(query).fetchall():
                    said = said or "the query finds nothing"
            counts["run"] += 1
        elif not can_run:
            said = said or "neither run by this test nor in its table of what commands need"
        if wants_table:
            became = said or ("run" if can_run or command.startswith("sqlite3 ") else
                              f"needs {needs[command]}" if command in needs else "shown as a form")
            print(f"{page}:{line}\t{became}\t{command}")
        seen.add(command)
        if said:
            faults.append(f"{page}:{line}: {command}: {said}")
    faults += [f"no page has: {command}" for command in {**RUN, **needs} if command not in seen]
    print("\n".join(faults))
    print(", ".join(f"{count} {what if what in ('run', 'shown as a form') else 'need ' + what}" for what, count in counts.items()))
    sys.exit(1 if faults else 0)


main()
