#!/usr/bin/env bats
# Texts that strangers wrote reach terminals, pages and readers of verdicts only cleaned, and stay within their place.

load helper
bats_require_minimum_version 1.5.0

@test "whatever a run says of itself: every command, format and page is clean, and is read by its usual reader" {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/hostile.py" "$KBLAT" "$ROOT/tests/runs/1.0.0/made/scripted" "$T" >out 2>err
	cat err
	grep -vE 'WARNING: Optional imports|ignored. To parse|tappy.readthedocs|^$' out >said
	[[ $(cat said) =~ ^[0-9]+\ outputs$ ]] || { cat said && return 1; }
	[ "${BASH_REMATCH[0]%% *}" -gt 60 ]
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
