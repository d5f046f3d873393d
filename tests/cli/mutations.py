#!/usr/bin/python3
"""Does `kblat reproduce` find each change of an unpacked bundle, or say that it did not check it?

    mutations.py KBLAT DIR HOW_MANY SEED

Changes one number or text of one file at a time, as somebody would who also makes all hashes right: the manifest of the run,
the sizes and hashes of bundle.json, the SHA-256 of the file. Then kblat must have found it (status 3, and the file is named) or
must not have claimed that it would: the file is among those that it names as not checked or made again.
"""
import fnmatch
import hashlib
import json
import os
import random
import subprocess
import sys

import bundles

SENTENCES = {"why", "reasons", "warnings", "label", "measured"}
NEVER = ("summary.json", "summary.csv", "data.json", "claims.json", "params.json")  # of a bundle with columns


def scalars(value, path=()):
    """(path, is it a sentence?) of each number, text, boolean and null."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inner is None:
        yield path, bool(SENTENCES.intersection(path))
    for key, one in inner or ():
        yield from scalars(one, path + (key,))


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return "x" if value is None else value + "x"


def change(document, path):
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = other(document[path[-1]])


def places(folder, files, r):
    """(file, what is changed, its new content, is it a sentence?)"""
    for name in files:
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
        if name.endswith(".json"):
            for path, is_sentence in scalars(json.loads(data)):
                if name == "bundle.json" and path[0] == "files":
                    continue
                document = json.loads(data)
                change(document, path)
                yield name, path, json.dumps(document, indent=1).encode() + b"\n", is_sentence
        elif not name.endswith("manifest-sha256.txt"):
            for at in {r.randrange(len(data)) for _ in range(6)} if data else ():
                changed = bytearray(data)
                changed[at] = changed[at] + 1 if 32 <= changed[at] < 126 else 65
                yield name, at, bytes(changed), False


def seal(folder, run):
    path = os.path.join(folder, "runs", run)
    with open(os.path.join(path, "manifest-sha256.txt")) as f:
        names = [line[66:].rstrip("\n") for line in f]
    with open(os.path.join(path, "manifest-sha256.txt"), "w") as out:
        for name in names:
            with open(os.path.join(path, name), "rb") as f:
                out.write("%s  %s\n" % (hashlib.sha256(f.read()).hexdigest(), name))


def reproduce(kblat, folder, name):
    if name.startswith("runs/"):
        seal(folder, name.split("/")[1])
    bundles.pack(folder, "mutated.tar.gz", [])
    done = subprocess.run([kblat, "reproduce", "mutated.tar.gz", "--json"], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def main():
    kblat, folder, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    r = random.Random(seed)
    with open(os.path.join(folder, "bundle.json")) as f:
        files = ["bundle.json"] + [one["name"] for one in json.load(f)["files"]]
    status, said, _ = reproduce(kblat, folder, "")
    assert status == 0, said
    answer = json.loads(said)
    open_files = [one["files"] for one in answer["not_checked"]] + answer["made_again"]
    for name in files:
        assert not name.endswith(NEVER) or not any(fnmatch.fnmatch(name, p) for p in open_files), (name, open_files)
    # Of each file, and then of what it has, one at random: there are far more columns and counters than claims.
    by_file = {}
    for one in places(folder, files, r):
        by_file.setdefault(os.path.basename(one[0]), []).append(one)
    everything = [one for of_file in by_file.values() for one in of_file]
    chosen = everything if count >= len(everything) else [r.choice(by_file[r.choice(sorted(by_file))]) for _ in range(count)]
    found = 0
    for name, where, content, is_sentence in chosen:
        path = os.path.join(folder, name)
        with open(path, "rb") as f:
            before = f.read()
        if content == before:
            continue
        with open(path, "wb") as f:
            f.write(content)
        status, said, errors = reproduce(kblat, folder, name)
        with open(path, "wb") as f:
            f.write(before)
        if name.startswith("runs/"):
            seal(folder, name.split("/")[1])
        what = (seed, name, where, status, errors)
        assert status in (0, 2, 3), what
        if status:
            found += 1
            assert errors or status == 3, what
        else:
            is_open = any(fnmatch.fnmatch(name, p) for p in open_files)
            assert is_open or (is_sentence and not answer["sentences_checked"]), what
            assert not name.endswith(NEVER) or is_sentence, what
    print("%d changes, %d found; seed %s" % (len(chosen), found, seed))


if __name__ == "__main__":
    main()
