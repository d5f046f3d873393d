#!/usr/bin/env bats
# Runs that earlier versions made (tests/runs/) mean what they meant: what is data is the same, byte for byte.

load helper

setup_file() {
	local root version
	root=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	RUNS=$root/tests/runs
	SAID=$(scratch)
	export RUNS SAID
	for version in "$RUNS"/*/; do
		"$RUNS/outputs" "${KBLAT:-$root/build/kblat}" "$version" "$SAID/$(basename "$version")" 2>"$SAID/errors"
	done
}

teardown_file() {
	rm -rf "$SAID"
}

# same FILE...: each is what it was, of every version; globs below VERSION/expected.
same() {
	local expected file
	local -i compared=0
	for expected in "$RUNS"/*/expected; do
		for file in $(cd "$expected" && compgen -G "$1"); do
			diff "$expected/$file" "$SAID/$(basename "${expected%/expected}")/$file"
			compared+=1
		done
	done
	[ "$compared" -gt 0 ]
}

# same_as_sealed FILE: what is printed is what the run was sealed with.
same_as_sealed() {
	local run said
	for run in "$RUNS"/*/made/*; do
		said=${run#"$RUNS/"}
		diff "$run/$1" "$SAID/${said/made\//}/$1"
	done
}

@test "every question has the exit status that it had" {
	same statuses.tsv
}

@test "old runs are verified: every file, and the summary computed again" {
	same '*/verify'
}

@test "their numbers are the same, as JSON and as CSV" {
	same_as_sealed summary.json
	same_as_sealed summary.csv
}

@test "their claims have the verdicts that they had" {
	same '*/claims.json'
}

@test "compared, and in a history, they give the same numbers" {
	run /usr/bin/python3 - "$RUNS" "$SAID" <<-'PY'
		import json, pathlib, sys
		runs, said = map(pathlib.Path, sys.argv[1:])
		# What was measured; the rules by which that is judged may change (docs/compare.md).
		facts = ("quantity", "unit", "base", "with", "effect", "effect_percent", "p_alone")
		def measured(path):
		    d = json.loads(path.read_text())
		    return {k: d[k] for k in ("schema", "experiment", "unit", "base", "with", "relabellings")}, [
		        [{k: p[k] for k in ("id", "label", "params", "metric", "left_out")}, [{k: q[k] for k in facts} for q in p["quantities"]]]
		        for p in d["points"]]
		compared = 0
		for old in runs.glob("*/expected/compare.json"):
		    version = old.relative_to(runs).parts[0]
		    was, now = measured(old), measured(said / version / "compare.json")
		    assert was == now, (str(old), was, now)
		    compared += len(was[1])
		print("same" if compared > 1 else "none")
	PY
	echo "$output"
	[ "$output" = same ]
	same 'history.json'
	same '*/history.json'
}

@test "a report can be made of them, and its figures are drawn from the same numbers" {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	same '*/report'
	run /usr/bin/python3 - "$RUNS" "$SAID" <<-'PY'
		import csv, pathlib, sys
		runs, said = map(pathlib.Path, sys.argv[1:])
		compared = 0
		def columns(path):
		    head, *rows = csv.reader(path.open(), delimiter="\t", quoting=csv.QUOTE_NONE)
		    return {name: [row[i] for row in rows] for i, name in enumerate(head)}
		# Bins may be others: below each edge are no fewer messages than below a lower one of the
		# other table, so as many below one that both have.
		def below(table):
		    edges = [float(edge or "inf") for edge in table["to_ns"]]
		    return {name: [(edge, sum(map(int, counts[:i + 1]))) for i, edge in enumerate(edges)]
		            for name, counts in table.items() if name not in ("from_ns", "to_ns")}
		for old in runs.glob("*/expected/*/figures/*.tsv"):
		    version, _, *rest = old.relative_to(runs).parts
		    was, now = columns(old), columns(said.joinpath(version, *rest))
		    if "from_ns" in was:
		        was, now = below(was), below(now)
		        for name, counts in was.items():
		            if name not in now and not counts[-1][1]:
		                continue
		            for edge, count in counts:
		                for other, messages in now[name]:
		                    assert edge > other or count <= messages, (str(old), name, edge, other)
		                    assert edge < other or count >= messages, (str(old), name, edge, other)
		            compared += 1
		        continue
		    for name, values in was.items():
		        # Of a series that the point does not have nothing need be told.
		        if name not in now and name.endswith("_ns") and set(values) <= {"0", ""}:
		            continue
		        assert now.get(name) == values, (str(old), name, values, now.get(name))
		        compared += 1
		print("same" if compared > 20 else "none")
	PY
	echo "$output"
	[ "$output" = same ]
}
