#!/usr/bin/env bats
# An index of the runs below a folder, and the page of all of them. Runs are those of earlier versions and copies of them;
# boots are multiplied from one run (boots.py).

load helper
load boots_helper
bats_require_minimum_version 1.5.0

setup() {
	kblat_setup
	need_feature SQLite
	mkdir -p runs/old
	cp -r "$ROOT/tests/runs/1.0.0/made/quickstart" "$ROOT/tests/runs/1.0.0/made/rate" runs/old
	cp -r "$ROOT/tests/runs/1.0.0/made/scripted" runs
}

# sql QUERY: what any SQLite client gets from runs/kblat-index.sqlite.
sql() {
	/usr/bin/python3 -c 'import sqlite3, sys
for row in sqlite3.connect("file:runs/kblat-index.sqlite?mode=ro", uri=True).execute(sys.argv[1]):
    print(*row, sep="|")' "$1"
}

# indexed [ARGUMENT…]: runs, read, removed, unreadable, replaced
indexed() {
	"$KBLAT" index runs --json "$@" >said.json
	json said.json '" ".join(str(d[k]) for k in ("runs", "read", "removed", "unreadable", "replaced"))'
}

@test "the index has what the runs' own files say" {
	assert_eq "$(indexed)" "3 3 0 0 False"
	sql 'SELECT path, experiment, status, sealed, valid, points FROM runs ORDER BY path' >rows
	assert_eq "$(cat rows)" "old/quickstart|quickstart|COMPLETED|1|1|2
old/rate|rate|COMPLETED|1|$(json runs/old/rate/run.json 'int(d["valid"])')|$(json runs/old/rate/run.json 'd["points"]["total"]')
scripted|scripted|COMPLETED|1|$(json runs/scripted/run.json 'int(d["valid"])')|$(json runs/scripted/run.json 'd["points"]["total"]')"
	for run in old/quickstart old/rate scripted; do
		json "runs/$run/summary.json" '"\n".join("%d|%s|%s|%s" % (p["id"], m, k, float(v)) for p in d["points"] for m in p["metrics"] for k, v in p["metrics"][m].items() if isinstance(v, (int, float)))' | sort >wanted
		sql "SELECT point, metric, statistic, value FROM metrics JOIN runs ON id = run WHERE path = '$run' AND metric LIKE '%\\_ns' ESCAPE '\\'" | sort >got
		diff wanted got
		json "runs/$run/state/lab/before/state.json" '"\n".join(sorted("%s|%s" % i for i in d["keys"].items()))' >wanted
		sql "SELECT key, value FROM state_keys JOIN runs ON id = run WHERE path = '$run'" | LC_ALL=C sort >got
		LC_ALL=C sort -o wanted wanted
		diff wanted got
	done
	assert_eq "$(sql "SELECT value FROM settings JOIN runs ON id = run WHERE path = 'old/quickstart' AND key = 'poll'")" $'busy\nevent'
}

@test "the index is made anew if a run is new, changed or gone, and is left alone otherwise" {
	assert_eq "$(indexed)" "3 3 0 0 False"
	before=$(stat -c %i runs/kblat-index.sqlite)
	assert_eq "$(indexed)" "3 0 0 0 False"
	assert_eq "$(stat -c %i runs/kblat-index.sqlite)" "$before"
	cp -r runs/scripted runs/again
	touch runs/old/rate/run.json
	rm -r runs/old/quickstart
	assert_eq "$(indexed)" "3 3 1 0 False"
	assert_eq "$(sql 'SELECT path FROM runs ORDER BY path')" $'again\nold/rate\nscripted'
	assert_eq "$(sql 'SELECT count(*) FROM metrics WHERE run NOT IN (SELECT id FROM runs)')" 0
	assert_eq "$(indexed --anew)" "3 3 0 0 False"
	assert_eq "$(echo runs/.kblat* | grep -c tmp)" 0
}

@test "no more users may read the index than the runs" {
	local state=runs/old/rate/state/lab/before/state.json
	umask 022
	assert_eq "$(indexed)" "3 3 0 0 False"
	assert_eq "$(stat -c %a runs/kblat-index.sqlite)" 644
	chmod 600 "$state"
	assert_eq "$(indexed)" "3 3 0 0 False"
	assert_eq "$(stat -c %a runs/kblat-index.sqlite)" 600
	chmod 640 "$state"
	assert_eq "$(indexed)" "3 3 0 0 False"
	assert_eq "$(stat -c %a runs/kblat-index.sqlite)" 640
	chmod 644 "$state"
	chmod 700 runs/old
	assert_eq "$(indexed --anew)" "3 3 0 0 False"
	assert_eq "$(stat -c %a runs/kblat-index.sqlite)" 600
}

@test "a damaged or foreign file in its place is replaced, a link or a folder is refused" {
	indexed
	head -c 3000 /dev/urandom >noise
	dd if=noise of=runs/kblat-index.sqlite bs=1 seek=4096 conv=notrunc 2>/dev/null
	touch runs/scripted/run.json
	assert_eq "$(indexed | cut -d ' ' -f 1-4)" "3 3 0 0"
	/usr/bin/python3 -c 'import sqlite3, struct
c = sqlite3.connect("runs/kblat-index.sqlite")
(page,), (size,) = (c.execute(q).fetchone() for q in ("SELECT rootpage FROM sqlite_schema WHERE name = \"sqlite_autoindex_runs_1\"", "PRAGMA page_size"))
with open("runs/kblat-index.sqlite", "r+b") as f:
    f.seek((page - 1) * size)
    f.write(struct.pack(">BHHHB", 10, 0, 0, size, 0))'
	touch runs/scripted/run.json
	assert_eq "$(indexed | cut -d ' ' -f 1-4)" "3 3 0 0"
	# Although no run has changed.
	/usr/bin/python3 -c 'import sqlite3
c = sqlite3.connect("runs/kblat-index.sqlite")
(page,), (size,) = (c.execute(q).fetchone() for q in ("SELECT rootpage FROM sqlite_schema WHERE name = \"sqlite_autoindex_unreadable_1\"", "PRAGMA page_size"))
with open("runs/kblat-index.sqlite", "r+b") as f:
    f.seek((page - 1) * size)
    f.write(b"\x4c" * 100)'
	assert_eq "$(indexed)" "3 3 0 0 True"
	cp noise runs/kblat-index.sqlite
	run -0 --separate-stderr "$KBLAT" index runs
	assert_contains "$stderr" "has been rebuilt"
	/usr/bin/python3 -c 'import sqlite3
c = sqlite3.connect("runs/kblat-index.sqlite")
c.execute("CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs; END")
c.commit()'
	touch runs/scripted/run.json
	assert_eq "$(indexed)" "3 3 0 0 True"
	mv runs/kblat-index.sqlite elsewhere
	ln -s "$T/elsewhere" runs/kblat-index.sqlite
	for command in index report; do
		run -2 "$KBLAT" "$command" runs
		assert_contains "$output" "expected a file, found a link; remove it"
	done
	rm runs/kblat-index.sqlite
	mkdir runs/kblat-index.sqlite
	run -2 "$KBLAT" index runs
	assert_contains "$output" "expected a file, found a directory"
}

@test "a run that can't be read costs nothing but itself" {
	echo '{' >runs/scripted/run.json
	assert_eq "$(indexed)" "2 3 0 1 False"
	assert_contains "$(sql 'SELECT path, why FROM unreadable')" "scripted|"
	assert_eq "$(indexed)" "2 0 0 1 False"
	run -0 "$KBLAT" report runs
	grep -q 'Could not be read' runs/kblat-runs.html
	ln -s "$ROOT/tests/runs/1.0.0/made" runs/link
	assert_eq "$(indexed)" "2 0 0 1 False"
	mkdir empty
	for command in index report; do
		run -2 "$KBLAT" "$command" empty
		[ -z "$(ls -A empty)" ]
	done
}

@test "who waits for another that writes the index says so, and finds what has come meanwhile" {
	/usr/bin/python3 -c 'import fcntl, os, sys
fcntl.flock(os.open("runs", os.O_RDONLY), fcntl.LOCK_EX)
open("locked", "w").close()
sys.stdin.read()' < <(until [ -e go ]; do sleep 0.1; done) 3>&- &
	holder=$!
	until [ -e locked ]; do sleep 0.1; done
	"$KBLAT" index runs >said 2>waiting 3>&- &
	index=$!
	until [ -s waiting ]; do sleep 0.1; done
	assert_contains "$(cat waiting)" "/runs: waiting for another kblat (process $holder) that is writing its index"
	cp -r runs/scripted runs/again
	touch go
	wait "$index"
	assert_contains "$(cat said)" "4 runs, 4 read now"
	wait "$holder"
	assert_eq "$(indexed)" "4 0 0 0 False"
}

@test "a run that names more hosts than there can be is not compared" {
	/usr/bin/python3 -c 'import json
d = json.load(open("runs/scripted/run.json"))
d["hosts"] = {"h%d" % i: {"boot_id": "b"} for i in range(257)}
json.dump(d, open("runs/scripted/run.json", "w"))'
	assert_eq "$(indexed)" "3 3 0 0 False"
	assert_contains "$(sql "SELECT not_comparable FROM runs WHERE path = 'scripted'")" "257 hosts, more than the maximum of 256"
	assert_eq "$(sql "SELECT hosts IS NULL FROM runs WHERE path = 'scripted'")" 1
}

@test "report DIR lists all runs on one page: valid or not, medians, and what they did over time" {
	boots runs/boots boots=8 runs=2 slower=0.01
	sed -i 's/"title": "[^"]*"/"title": "<b>\&amp;"/' runs/scripted/run.json
	run -0 "$KBLAT" report runs
	assert_eq "$output" "$(realpath runs)/kblat-runs.html"
	/usr/bin/python3 - runs/kblat-runs.html <<-'PY'
		import re, sys
		page = open(sys.argv[1]).read()
		rows = re.findall(r'<tr><td><time>.*?</tr>', page, re.S)
		assert len(rows) == 19, len(rows)
		assert page.count('class="spark"') >= 4
		assert 'median in 16 runs: first' in page, page[:3000]
		assert '<b>' not in page and '&lt;b&gt;' in page
		assert 'href="old/quickstart/"' in page
		assert not re.search(r'(src|href)="(https?:)?//', page)
	PY
	"$KBLAT" report runs/old/quickstart >/dev/null || [ $? -eq 77 ]
	"$KBLAT" report runs
	grep -q 'href="old/quickstart/derived/report.html"' runs/kblat-runs.html
	mkdir runs/kblat-runs.html.tmp
	run -1 --separate-stderr "$KBLAT" report runs
	assert_eq "$output" ""
	assert_contains "$stderr" "kblat-runs.html: cannot write"
}

@test "a history from the index equals that from the directories, and changed runs are not taken from it" {
	boots builds boots=6 runs=2
	"$KBLAT" history builds --json >without
	"$KBLAT" index builds
	"$KBLAT" history builds --json >with
	diff without with
	/usr/bin/python3 -c 'import sqlite3
c = sqlite3.connect("builds/kblat-index.sqlite")
c.execute("UPDATE runs SET kernels = ?", ("taken from the index",))
c.commit()'
	"$KBLAT" history builds --json >with
	assert_eq "$(json with '{b["kernel"] for b in d["points"][0]["builds"]}')" "{'taken from the index'}"
	sed -i 's/"p50": /"p50": 1/' builds/a-3-1/summary.json
	run -2 "$KBLAT" history builds
	assert_contains "$output" "changed since the run was sealed"
}

# A journal beside the file that index writes, which names a file of the caller as its super-journal: SQLite would play it back and
# delete that file.
plant_journals() {
	/usr/bin/python3 - "$T/runs" "$T/precious" <<-'PY'
		import struct, sys
		where, victim = sys.argv[1], sys.argv[2].encode()
		magic = bytes.fromhex("d9d505f920a163d7")
		head = (magic + struct.pack(">IIIII", 0, 1, 1, 512, 4096)).ljust(512, b"\0")
		end = struct.pack(">I", 0x40000000 // 4096 + 1) + victim + struct.pack(">II", len(victim), sum(victim)) + magic
		for name in (".kblat-index.sqlite.tmp", "kblat-index.sqlite"):
		    with open(f"{where}/{name}-journal", "wb") as f:
		        f.write(head + end)
	PY
}

@test "a journal that somebody has put beside the index is not played back" {
	indexed
	echo mine >precious
	plant_journals
	cp runs/kblat-index.sqlite runs/.kblat-index.sqlite.tmp
	for command in index report "index --anew"; do
		touch runs/scripted/run.json
		# shellcheck disable=SC2086
		"$KBLAT" $command runs
		assert_eq "$(cat precious)" mine
	done
	cp -r runs/old/quickstart runs/another
	"$KBLAT" index runs
	"$KBLAT" history runs/*/ >/dev/null || true
	assert_eq "$(cat precious)" mine
}

# change SQL…: executes statements in the index, as another program might.
change() {
	/usr/bin/python3 -c 'import sqlite3, sys
c = sqlite3.connect("runs/kblat-index.sqlite")
for sql in sys.argv[1:]:
    c.execute(sql)
c.commit()' "$@"
}

# dump: all that is in the index
dump() {
	/usr/bin/python3 -c 'import sqlite3
print(*sqlite3.connect("file:runs/kblat-index.sqlite?mode=ro", uri=True).iterdump(), sep="\n")'
}

@test "nothing that another program has written into the index stays once it is made anew" {
	indexed
	dump >made
	change "UPDATE setting_values SET value = 'false'" "INSERT INTO states (id, host) VALUES (4711, 'nowhere')" \
		"INSERT INTO setting_sets VALUES (4711, '{}')" "INSERT INTO metrics VALUES (4711, 0, 'lat_ns', 'p50', 1.5)" \
		"INSERT INTO runs (id, path, stamp) VALUES (9223372036854775807, 'zz', '')" \
		"INSERT INTO unreadable VALUES (NULL, 'x', 'y')" "INSERT INTO unreadable VALUES (X'6162', 'x', 'y')" \
		"INSERT INTO unreadable VALUES ('old' || char(0) || 'x', 'x', 'y')" \
		"INSERT INTO runs (path, stamp) VALUES (X'6e65776572', 'x')"
	assert_eq "$(indexed | cut -d ' ' -f 1,2,4,5)" "3 3 0 False"
	dump | diff made -
	change "UPDATE metrics SET value = 1" "DELETE FROM points"
	touch -d '2020-01-01' runs/scripted/run.json
	indexed
	change "UPDATE runs SET stamp = ''"
	indexed
	assert_eq "$(dump | sed "s/,'[0-9a-f]\{16\}'//")" "$(sed "s/,'[0-9a-f]\{16\}'//" made)"
}

@test "an index that is too large to be ours is made again, and one in WAL mode loses the files beside it" {
	indexed
	truncate -s 3G runs/kblat-index.sqlite
	touch runs/scripted/run.json
	assert_eq "$(indexed | cut -d ' ' -f 1-4)" "3 3 0 0"
	[ "$(stat -c %s runs/kblat-index.sqlite)" -lt 10000000 ]
	/usr/bin/python3 -c 'import shutil, sqlite3
c = sqlite3.connect("runs/kblat-index.sqlite")
c.execute("PRAGMA journal_mode = WAL")
c.execute("PRAGMA wal_autocheckpoint = 0")
c.execute("UPDATE runs SET title = ?", ("from the log",))
c.commit()
for end in "", "-wal", "-shm":
    shutil.copy("runs/kblat-index.sqlite" + end, "kept" + end)'
	for end in '' -wal -shm; do cp "kept$end" "runs/kblat-index.sqlite$end"; done
	touch runs/scripted/run.json
	indexed
	assert_eq "$(sql "SELECT count(*) FROM runs WHERE title = 'from the log'")" 0
	assert_eq "$(find runs -name "*sqlite*")" runs/kblat-index.sqlite
}
