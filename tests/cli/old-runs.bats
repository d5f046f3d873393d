#!/usr/bin/env bats
# Runs that earlier versions made (tests/runs/) mean what they meant: what is data is the same.

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

# Labels are words for people: which settings they name, and how, may change.
data_of() {
	sed -E '/"label": /d'
}

# same FILE...: each is unchanged, for every version; patterns below VERSION/expected.
same() {
	local expected file
	local -i compared=0
	for expected in "$RUNS"/*/expected; do
		for file in $(cd "$expected" && compgen -G "$1"); do
			diff <(data_of <"$expected/$file") <(data_of <"$SAID/$(basename "${expected%/expected}")/$file")
			compared+=1
		done
	done
	[ "$compared" -gt 0 ]
}

# same_as_sealed FILE: the output is the same as the file in the sealed run.
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

@test "their claims have the verdicts that they had, for reasons with the same numbers" {
	run /usr/bin/python3 - "$RUNS" "$SAID" <<-'PY'
		import json, pathlib, re, sys
		runs, said = map(pathlib.Path, sys.argv[1:])
		compared = 0
		# Words may differ.
		def numbers(claim):
		    return {key: re.findall(r"[\d.]+", value) if key in ("why", "label", "measured") else value for key, value in claim.items()}
		def read(path):
		    claims = json.loads(path.read_text())
		    claims["claims"] = [{**numbers(c), "cases": [numbers(k) for k in c["cases"]]} for c in claims["claims"]]
		    return claims
		for old in runs.glob("*/expected/*/claims.json"):
		    version, _, *rest = old.relative_to(runs).parts
		    was, now = read(old), read(said.joinpath(version, *rest))
		    assert was == now, (str(old), was, now)
		    compared += len(was["claims"])
		print("same" if compared > 3 else "none")
	PY
	echo "$output"
	[ "$output" = same ]
}

# without_levels FILE: a history without what changepoints() found.
without_levels() {
	/usr/bin/python3 -IS - "$1" <<-'PY'
		import json, sys
		h = json.load(open(sys.argv[1]))
		del h["answer"]
		for p in h["points"]:
		    del p["changes"]
		    for b in p["builds"]:
		        b.pop("level"), b.pop("odd", None)
		print(json.dumps(h, indent=1, sort_keys=True))
	PY
}

@test "compared, and in a history, they give the same numbers" {
	run /usr/bin/python3 - "$RUNS" "$SAID" <<-'PY'
		import json, pathlib, re, sys
		runs, said = map(pathlib.Path, sys.argv[1:])
		# Only what was measured, because the rules for verdicts may change (docs/compare.md).
		facts = ("quantity", "unit", "base", "with", "effect", "effect_percent", "p_alone")
		def measured(path):
		    d = json.loads(path.read_text())
		    for p in d["points"]:
		        p["label"] = re.findall(r"[\d.]+", p["label"])
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
	# Levels are found in another way since: values, builds and the rest are the same, and when a run began, unless its boot is simulated.
	for old in "$RUNS"/*/expected/history.json "$RUNS"/*/expected/*/history.json; do
		new=$SAID/${old#"$RUNS"/} && new=${new/\/expected\//\/}
		of_simulated=
		[[ $old != */expected/history.json ]] || of_simulated='/"started_utc": /d'
		diff <(without_levels "$old" | sed "$of_simulated") <(without_levels "$new" | sed "$of_simulated")
	done
}

@test "a report can be made of them, and its figures are drawn from the same numbers" {
	command -v gnuplot >/dev/null || skip "no gnuplot"
	same '*/report'
	run /usr/bin/python3 - "$RUNS" "$SAID" <<-'PY'
		import csv, pathlib, re, sys
		runs, said = map(pathlib.Path, sys.argv[1:])
		compared = 0
		def columns(path):
		    head, *rows = csv.reader(path.open(), delimiter="\t", quoting=csv.QUOTE_NONE)
		    return {name: [re.findall(r"[\d.]+", row[i]) if name == "label" else row[i] for row in rows] for i, name in enumerate(head)}
		# Bins may differ. Below each edge are at least as many messages as below a lower edge of the
		# other table, so the same number below edges that both have.
		def below(table):
		    edges = [float(edge or "inf") for edge in table["to_ns"]]
		    return {name: [(edge, sum(map(int, counts[:i + 1]))) for i, edge in enumerate(edges)]
		            for name, counts in table.items() if name not in ("from_ns", "to_ns")}
		for old in runs.glob("*/expected/*/figures/*.tsv"):
		    version, _, *rest = old.relative_to(runs).parts
		    was, now = columns(old), columns(said.joinpath(version, *rest))
		    if "from_ns" in was and "to_ns" in was:
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
		        # Series that the point does not have may be missing.
		        if name not in now and name.endswith("_ns") and set(values) <= {"0", ""}:
		            continue
		        assert now.get(name) == values, (str(old), name, values, now.get(name))
		        compared += 1
		print("same" if compared > 20 else "none")
	PY
	echo "$output"
	[ "$output" = same ]
}
