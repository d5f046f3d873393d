#!/usr/bin/env bats
# Texts that strangers wrote reach terminals, pages and readers of verdicts only cleaned, and stay within their place.

load helper
bats_require_minimum_version 1.5.0

@test "whatever a run says of itself: every command, format and page is clean, and is read by its usual reader" {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/hostile.py" run "$KBLAT" "$ROOT/tests/runs/1.0.0/made/scripted" "$T" >out 2>err
	cat err
	grep -vE 'WARNING: Optional imports|ignored. To parse|tappy.readthedocs|^$' out >said
	[[ $(cat said) =~ ^[0-9]+\ outputs$ ]] || { cat said && return 1; }
	[ "${BASH_REMATCH[0]%% *}" -gt 60 ]
}

# documents FILE COMMAND: each text of this document reaches the output of the command clean; more than 4 keys have texts.
documents() {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/hostile.py" document "$1" -- "$2" >said
	[[ $(cat said) =~ ^[0-9]+\ outputs$ ]] || { cat said && return 1; }
	[ "${BASH_REMATCH[0]%% *}" -gt 4 ]
}

@test "whatever a study or a bundle says of itself" {
	mkdir -p e/one e/two
	for one in e/one e/two; do
		cat >$one/spec.yaml <<-YAML
			kblat: 1
			name: ${one#e/}
			settings: {kernel: oneway, transport: scripted, messages: 100, repetitions: 3, warmup: 10}
			claims:
			  - {id: some, claim: It takes time, source: line 1, metric: lat_ns.p50, points: {}, value: {min: 1ns}}
		YAML
	done
	study=$("$KBLAT" run e --out studies --no-state | tail -n 1)
	for one in study.json cells.jsonl claims.json; do
		documents "$study/$one" "$KBLAT claims $study; $KBLAT index studies; $KBLAT run --resume $study --dry-run;
			$KBLAT bundle $study --out b.tar.gz --replace && tar -xzOf b.tar.gz ARTIFACT.md claims.tsv && $KBLAT reproduce b.tar.gz"
	done
	documents "$study/study.json" "$KBLAT report $study"
	"$KBLAT" bundle "$study" --out whole.tar.gz
	/usr/bin/python3 -I "$BATS_TEST_DIRNAME/bundles.py" unpack whole.tar.gz u
	for one in bundle.json study/study.json study/cells.jsonl claims.json; do
		documents "u/$one" "/usr/bin/python3 -I $BATS_TEST_DIRNAME/bundles.py pack u c.tar.gz && $KBLAT reproduce c.tar.gz"
	done
}

@test "whatever the journal of a machine says" {
	"$ROOT/tests/sysroots/machine" unpack small-v2 m
	mkdir -p m/run
	kbtune=$(dirname -- "$KBLAT")/kbtune
	KBTUNE_PROFILES=$ROOT/profiles "$kbtune" apply isolated --sysroot "$PWD/m"
	documents m/run/kbtune/journal.json "for c in status verify 'status --json' restore; do rm -rf n; cp -r m n; $kbtune \$c --sysroot $PWD/n; done"
}

@test "arguments and names of files: no control character comes back" {
	local word words
	word=$'x\e[31m\u009b1m\u2028y\u202e\x7f\xff\xc0\x80z'
	mkdir "$word"
	cp -r "$ROOT/tests/runs/1.0.0/made/scripted" "$word/run"
	rm "$word/run/summary.csv"
	for words in "summary" "verify" "report" "claims" "explain" "index" "run" "import csv" "reproduce" "boots status" "compare" "frobnicate" "history" "state diff"; do
		for last in "$word" "$word/run" "--$word"; do
			# shellcheck disable=SC2086
			"$KBLAT" $words "$last" >out 2>&1 || true
			/usr/bin/python3 - <<-'PY'
				text = open("out", "rb").read().decode()
				assert not [c for c in text if c not in "\n\t" and not c.isprintable()], repr(text)
			PY
		done
	done
}
