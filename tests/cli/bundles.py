#!/usr/bin/python3
"""Bundles as kblat would not make them.

    bundles.py unpack FILE DIR            the members, as files; bundle.json, too
    bundles.py pack DIR FILE [CHANGE…]    a bundle of them, whole in itself: sizes and hashes are computed again

CHANGE spoils it in one way:
    name=NAME   its last file has this name          type=2      a header says that it is a link
    twice       its last file is there twice          schema=N    it is of this schema
    size=N      the index says so of the last file    cut=N       without its last N bytes
    tail        with bytes behind its end             keep        hashes of files stay as the index says
    add=NAME    with another file of this name        huge        with 16384 files whose sizes sum to 2^64
    alien       with the files of a run that the index does not list
"""
import gzip
import hashlib
import json
import os
import re
import sys
import tarfile
import zlib

FIXED = bytes([0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 0, 3, 36, 0]) + b"kb" + bytes([32, 0])


def unpack(file, folder):
    with gzip.open(file) as f, tarfile.open(fileobj=f) as tar:
        for member in tar:
            path = os.path.join(folder, member.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(tar.extractfile(member).read())


def header(name, size, kind="0"):
    name = name.encode()
    prefix = b""
    if len(name) > 100:
        at = name.index(b"/", len(name) - 101)
        prefix, name = name[:at], name[at + 1 :]
    block = bytearray(512)

    def put(at, data):
        block[at : at + len(data)] = data

    put(0, name)
    put(100, b"0000644\0" b"0000000\0" b"0000000\0")
    put(124, b"%011o\0" % size)
    put(136, b"00000000000\0")
    put(148, b" " * 8)
    put(156, kind.encode())
    put(257, b"ustar\00000")
    put(345, prefix)
    put(148, b"%06o\0 " % sum(block))
    return bytes(block)


def member(name, data, kind="0"):
    return header(name, len(data), kind) + data + bytes(-len(data) % 512)


def pack(folder, file, changes):
    change = dict(c.partition("=")[::2] for c in changes)
    with open(os.path.join(folder, "bundle.json")) as f:
        index = json.load(f)
    data = {}
    for one in index["files"]:
        with open(os.path.join(folder, one["name"]), "rb") as f:
            content = data[one["name"]] = f.read()
        if "keep" not in change:
            one["size"], one["sha256"] = len(content), hashlib.sha256(content).hexdigest()
    more = {change["add"]: b"<script>1</script>"} if "add" in change else {}
    if "alien" in change:
        more = {re.sub("^runs/[^/]*", "runs/alien-20261128T100000Z-00000000", n): d for n, d in data.items() if n.startswith("runs/")}
    for name, content in more.items():
        data[name] = content
        index["files"].append({"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    index["files"].sort(key=lambda one: one["name"].encode())
    last = index["files"][-1]
    if "huge" in change:
        names = ["pages/%05d.html" % i for i in range(16384)]
        index["files"] = [{"name": n, "size": 1 << 50, "sha256": hashlib.sha256().hexdigest()} for n in names]
        data = dict.fromkeys(names, b"")
    if "name" in change:
        data[change["name"]] = data.pop(last["name"])
        last["name"] = change["name"]
    if "twice" in change:
        index["files"].append(last)
    if "size" in change:
        last["size"] = int(change["size"])
    index["schema"] = int(change.get("schema", index["schema"]))
    tar = bytearray(member("bundle.json", json.dumps(index).encode()))
    signature = os.path.join(folder, "bundle.json.sig")
    if os.path.exists(signature):
        with open(signature, "rb") as f:
            tar += member("bundle.json.sig", f.read())
    for one in index["files"]:
        tar += member(one["name"], data[one["name"]], change.get("type", "0") if one is last else "0")
    tar += bytes(1024)
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    body = deflate.compress(tar) + deflate.flush()
    body += zlib.crc32(tar).to_bytes(4, "little") + (len(tar) & 0xFFFFFFFF).to_bytes(4, "little")
    body += b"more" if "tail" in change else b""
    whole = FIXED + hashlib.sha256(body).digest() + body
    with open(file, "wb") as f:
        f.write(whole[: len(whole) - int(change.get("cut", 0))])


if __name__ == "__main__":
    if sys.argv[1] == "unpack":
        unpack(sys.argv[2], sys.argv[3])
    else:
        pack(sys.argv[2], sys.argv[3], sys.argv[4:])
