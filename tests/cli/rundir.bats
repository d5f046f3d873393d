#!/usr/bin/env bats
# A sealed run directory: all changes are found, and hostile directories are refused.

load helper
bats_require_minimum_version 1.5.0

sealed() {
	scripted messages=200
	[ "$status" -eq 0 ]
}

# flip FILE: changes one byte in its middle.
flip() {
	/usr/bin/python3 - "$1" <<-'PY'
		import sys
		b = bytearray(open(sys.argv[1], "rb").read())
		if b:
		    b[len(b) // 2] ^= 1
		else:
		    b = b"x"
		open(sys.argv[1], "wb").write(b)
	PY
}

# bats test_tags=long
@test "one byte changed in any sealed file: verify names it, status 3" {
	sealed
	# Without most of the raw state of the machine: thousands of files, which every verify reads.
	rm -r "$run_dir"/state/*/*/sys "$run_dir"/state/*/*/proc/sys
	sed -i -E '/  state\/[^ ]*\/(proc\/)?sys\//d' "$run_dir/manifest-sha256.txt"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	mapfile -t files < <(cd "$run_dir" && find . -type f -not -path './state/*/sys/*' -not -path './state/*/proc/*/*' -printf '%P\n' | sort)
	[ "${#files[@]}" -gt 20 ]
	for f in "${files[@]}"; do
		cp -a "$run_dir/$f" kept
		flip "$run_dir/$f"
		run "$KBLAT" verify "$run_dir"
		echo "$f: $status $output"
		[ "$status" -eq 3 ]
		[[ $f == manifest-sha256.txt ]] || assert_contains "$output" "$f"
		cp -a kept "$run_dir/$f"
	done
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

# edit FILE EXPRESSION: changes a file, and its line in the manifest.
edit() {
	sed -i -E "$2" "$run_dir/$1"
	(cd "$run_dir" && sum=$(sha256sum <"$1") && sed -i "s,^[0-9a-f]*  $1\$,${sum%% *}  $1," manifest-sha256.txt)
}

@test "verify accepts sentences worded differently, but not another number in them" {
	scripted messages=200 fault=page_fault
	[ "$status" -eq 3 ]
	for file in summary.json points/0000/summary.json; do
		edit "$file" 's/page faults? inside the measured interval/FAULTS/'
	done
	run "$KBLAT" verify "$run_dir"
	echo "$output"
	[ "$status" -eq 0 ]
	edit summary.json 's/([0-9]+) FAULTS/1\1 FAULTS/'
	run "$KBLAT" verify "$run_dir"
	echo "$output"
	[ "$status" -eq 3 ]
	assert_eq "$output" "summary.json: it differs from what the columns give"
}

@test "verify finds a missing file and an additional one, except in derived/" {
	sealed
	mkdir "$run_dir/derived"
	echo x >"$run_dir/derived/note"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	echo x >"$run_dir/extra"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 3 ]
	assert_contains "$output" "extra"
	rm "$run_dir/extra" "$run_dir/points/0000/rep-01/t_comp.npy"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 3 ]
	assert_contains "$output" "points/0000/rep-01/t_comp.npy"
}

# bats test_tags=long
@test "columns that are truncated, of another type, or no columns: said, never a crash" {
	for damage in truncate dtype text empty long; do
		sealed
		column=$run_dir/points/0000/rep-00/t_recv.npy
		case $damage in
		truncate) truncate -s 5000 "$column" ;;
		dtype) /usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.argv[1], numpy.zeros(200))' "$column" ;;
		text) echo "this is text" >"$column" ;;
		empty) : >"$column" ;;
		long) echo >>"$column" ;;
		esac
		run "$KBLAT" verify "$run_dir"
		echo "$damage: $output"
		[ "$status" -eq 3 ]
		assert_contains "$output" "t_recv.npy"
	done
}

@test "a repetition with empty files, after a disk failure, is left out, and earlier ones can be read" {
	sealed
	rm "$run_dir"/{manifest-sha256.txt,points/0000/{summary,point}.json,points/0000/rep-01/data.json}
	: >"$run_dir/points/0000/rep-01/counters.json"
	: >"$run_dir/points/0000/rep-01/t_recv.npy"
	run -0 "$KBLAT" summary "$run_dir"
	grep -qE '^!? +0 +200 ' <<<"$output"
}

@test "summary and export show what is sealed, and the page of report needs no other file" {
	sealed
	run "$KBLAT" summary "$run_dir"
	[ "$status" -eq 0 ]
	run "$KBLAT" summary "$run_dir" --json
	[ "$status" -eq 0 ]
	echo "$output" >s.json
	assert_eq "$(json s.json 'd == json.load(open(sys.argv[1].replace("s.json", "") + "'"$run_dir"'/summary.json"))')" True
	run "$KBLAT" export "$run_dir" --csv
	[ "$status" -eq 0 ]
	cmp <(echo "$output") "$run_dir/summary.csv" || diff <(echo "$output") "$run_dir/summary.csv"
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ]
	page=$run_dir/derived/report.html
	assert_eq "${lines[-1]}" "$page"
	run ! grep -oE '(src|href)="?(https?:|//)' "$page"
	grep -q '<script type="application/json">{"kind":"histogram"' "$page"
	[ -s "$run_dir/derived/figures/point-0000-histogram.pdf" ]
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "hostile JSON in a run directory is refused, not believed" {
	sealed
	for text in '[]' '{' '{"schema": 99}' '{"schema": 1}' "$(printf '[%.0s' $(seq 5000))"; do
		printf '%s' "$text" >"$run_dir/run.json"
		run "$KBLAT" summary "$run_dir"
		[ "$status" -eq 2 ]
		run "$KBLAT" report "$run_dir"
		[ "$status" -eq 2 ]
	done
}

@test "bytes that are not UTF-8, in paths and arguments, are in run.json in a form that can be taken back" {
	odd=$(printf 'a\377\\x41b')
	mkdir "$odd"
	spec s <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, messages: 50, repetitions: 1, warmup: 0}
	YAML
	cp s.yaml "$odd.yaml"
	printf 'lat_us\n1\n2\n3\n' >"$odd.csv"
	for words in "run s.yaml --out" "import csv $odd.csv --out" "run $odd.yaml --out" "run --foreign csv --samples $odd.csv --out"; do
		more=()
		[[ $words != import* ]] && more=(--no-state)
		[[ $words != *foreign* ]] || more+=(-- true)
		# shellcheck disable=SC2086 # several words
		run "$KBLAT" $words "$odd" "${more[@]}"
		echo "$words: $status $output"
		[[ $output != *"out of memory"* ]]
		[ "$status" -ne 2 ]
		last=${lines[-1]}
		[[ $last != *.partial ]]
		if [[ $last == /* ]]; then
			"$KBLAT" verify "$last"
			assert_eq "$(json "$last/run.json" 'd["argv"].count("a\\xff\\x5cx41b") > 0')" True
		fi
	done
	[ -z "$(compgen -G "$odd/*.partial")" ]
	cd "$odd" # and the working folder
	run "$KBLAT" run ../s.yaml --no-state --source "env ODD=$odd"
	assert_measured
	# A spec is YAML, which is UTF-8.
	cd ..
	printf 'kblat: 1\nname: a\377\nsettings: {}\n' >bad.yaml
	run "$KBLAT" run bad.yaml
	echo "$output"
	[ "$status" -eq 2 ]
		[[ $output != *"out of memory"* ]]
	assert_contains "$output" "bad.yaml"
}
