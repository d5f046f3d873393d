#!/usr/bin/python3
"""Delays a process or a CPU on purpose, and prints when: for each time a line "FROM TO", in ns of CLOCK_MONOTONIC. Times in which other
programs had the CPU for a fifth of a task or of packets are left out, as are interrupts that took three times as long as another one.

    disturb.py task CPU LENGTH_US PERIOD_MS COUNT [fifo]    takes the CPU; fifo: in a real-time class
    disturb.py timers CPU TIMERS PERIOD_MS COUNT            lets this many timers of the kernel expire there at once
    disturb.py ipis CPU CALLS PERIOD_MS COUNT               interrupts, from that CPU, all that run a process which asked for it (membarrier)
    disturb.py packets CPU PACKETS PERIOD_MS COUNT          sends this many packets over loopback, from that CPU
    disturb.py stop PID LENGTH_US PERIOD_MS COUNT           stops a process
"""
import contextlib
import ctypes
import glob
import os
import signal
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
MEMBARRIER = {"x86_64": 324}.get(os.uname().machine, 283)


class Timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def spin_until(ns):
    while time.monotonic_ns() < ns:
        pass


def task(length_us):
    spin_until(time.monotonic_ns() + length_us * 1000)


def is_stopped(pid):
    """Have all of its threads stopped? One that has no CPU at the moment only stops when it gets one."""
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(path) as file:
            if file.read().rpartition(")")[2].split()[0] != "T":
                return False
    return True


def stop(pid, length_us, thread=None):
    """Stop a process, from the moment when all of it has stopped; which the given thread does first."""
    libc.tgkill(pid, thread or pid, signal.SIGSTOP)
    try:
        while not is_stopped(pid):
            time.sleep(0.0001)
        begin = time.monotonic_ns()
        time.sleep(length_us / 1e6)
        return [(begin, time.monotonic_ns())]
    finally:
        os.kill(pid, signal.SIGCONT)


def make_timers(count):
    return [libc.timerfd_create(time.CLOCK_MONOTONIC, 0) for _ in range(count)]


def arm_timers(fds):
    """Arm all timers for the same time, late enough for an emulated CPU to finish before."""
    at = time.monotonic_ns() + 1000000 + 50000 * len(fds)
    for fd in fds:
        libc.timerfd_settime(fd, 1, (Timespec * 2)(Timespec(0, 0), Timespec(at // 10**9, at % 10**9)), None)
    return at


def timers_take(fds):
    """For how long they take the CPU: the longest gap that a program there sees. The shortest of nine attempts, because other programs take the CPU, too."""
    gaps = []
    for _ in range(9):
        at, last, longest = arm_timers(fds), time.monotonic_ns(), 0
        while last < at + 1000000:
            now = time.monotonic_ns()
            longest, last = max(longest, now - last if now > at else 0), now
        gaps.append(longest)
    return min(gaps)


def timers(fds, take_ns):
    """Let all expire at the same time; sleeps until then."""
    at = arm_timers(fds)
    time.sleep(max(0, at - time.monotonic_ns()) / 1e9 + 0.001)
    return [(at, at + take_ns)]


def ipis(calls, most_ns=None):
    """Each call counts by itself. One that took too long is left out, because a virtual CPU that was not running answers late."""
    found = []
    for _ in range(calls):
        begin = time.monotonic_ns()
        libc.syscall(MEMBARRIER, 2, 0, 0)  # MEMBARRIER_CMD_GLOBAL_EXPEDITED
        found.append((begin, time.monotonic_ns()))
        spin_until(begin + 50000)
    return [(begin, end) for begin, end in found if most_ns is None or end - begin <= most_ns]


def packets(sender, address, count):
    for _ in range(count):
        sender.sendto(b"x" * 64, address)


@contextlib.contextmanager
def pinned(who, options=()):
    """Run on that CPU meanwhile; None: no change."""
    cpus = os.sched_getaffinity(0)
    if who is not None:
        os.sched_setaffinity(0, {int(who)})
    if "fifo" in options:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, cpus)


def alone(act, *words):
    """When it ran; nothing if other programs had the CPU for a fifth of the time."""
    begin, ran = time.monotonic_ns(), time.thread_time_ns()
    act(*words)
    end, ran = time.monotonic_ns(), time.thread_time_ns() - ran
    return [(begin, end)] if ran > 0.8 * (end - begin) else []


def prepare(kind, who, amount):
    """A function that does it once, and returns when."""
    if kind == "task":
        return lambda: alone(task, amount)
    if kind == "packets":
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind(("127.0.0.1", 0))
        return lambda: alone(packets, receiver, receiver.getsockname(), amount)
    if kind == "timers":
        fds = make_timers(amount)
        take_ns = 4 * timers_take(fds)  # in a run, the kernel also records each of them
        return lambda: timers(fds, take_ns)
    if kind == "ipis":
        most_ns = 3 * min(end - begin for begin, end in ipis(50))
        return lambda: ipis(amount, most_ns)
    return lambda: stop(int(who), amount)


def main(kind, who, amount, period_ms, count, *options):
    with pinned(None if kind == "stop" else who, options):
        once = prepare(kind, who, int(amount))
        for _ in range(int(count)):
            time.sleep(float(period_ms) / 1000)
            try:
                for when in once():
                    print(*when, flush=True)
            except (FileNotFoundError, ProcessLookupError):
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
