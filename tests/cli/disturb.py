#!/usr/bin/python3
"""Holds somebody up on purpose, and says when: a line "FROM TO" on CLOCK_MONOTONIC, in ns, for each time.

    disturb.py task CPU LENGTH_US PERIOD_MS COUNT [fifo]    takes the CPU; fifo: as a task of a real-time class
    disturb.py timers CPU TIMERS PERIOD_MS COUNT            so many timers of the kernel expire there at once
    disturb.py packets CPU PACKETS PERIOD_MS COUNT          so many packets go over loopback, sent from that CPU
    disturb.py stop PID LENGTH_US PERIOD_MS COUNT           stops a process
"""
import ctypes
import os
import signal
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)


class Timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def spin_until(ns):
    while time.monotonic_ns() < ns:
        pass


def task(length_us):
    spin_until(time.monotonic_ns() + length_us * 1000)


def stop(pid, length_us):
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(length_us / 1e6)
    finally:
        os.kill(pid, signal.SIGCONT)


def make_timers(count):
    return [libc.timerfd_create(time.CLOCK_MONOTONIC, 0) for _ in range(count)]


def timers(fds):
    """All a millisecond from now: the CPU is left until they expire, which nobody waits for."""
    at = time.monotonic_ns() + 1000000
    for fd in fds:
        libc.timerfd_settime(fd, 1, (Timespec * 2)(Timespec(0, 0), Timespec(at // 10**9, at % 10**9)), None)
    time.sleep(0.002)


def packets(sender, address, count):
    for _ in range(count):
        sender.sendto(b"x" * 64, address)


def main(kind, who, amount, period_ms, count, *options):
    amount = int(amount)
    if kind != "stop":
        os.sched_setaffinity(0, {int(who)})
    if "fifo" in options:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    if kind == "timers":
        fds = make_timers(amount)
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    for _ in range(int(count)):
        time.sleep(float(period_ms) / 1000)
        begin = time.monotonic_ns()
        if kind == "task":
            task(amount)
        elif kind == "timers":
            timers(fds)
        elif kind == "packets":
            packets(receiver, receiver.getsockname(), amount)
        else:
            try:
                stop(int(who), amount)
            except ProcessLookupError:
                return
        print(begin, time.monotonic_ns(), flush=True)


main(*sys.argv[1:])
