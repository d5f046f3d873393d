#!/usr/bin/env bats
# Input from others is not trusted: run directories, campaigns, specs.

load helper

# secret FILE: writes a text that the caller may read, but that must not be in any page.
secret() {
	echo "top-secret-$RANDOM" | tee "$1"
}

# No link led out of the run directory: the secret is neither in the output nor in a page.
keeps_quiet() {
	[[ $output != *"$1"* ]]
	if grep -rsqF -- "$1" "$run_dir/derived"; then
		return 1
	fi
}

# bats test_tags=long
@test "a link in place of a file of a run directory is followed by no subcommand" {
	local file word
	scripted messages=200
	[ "$status" -eq 0 ]
	word=$(secret "$T/elsewhere")
	for file in spec.yaml run.json resolved.json summary.json manifest-sha256.txt points/0000/point.json points/0000/rep-00/data.json \
		points/0000/rep-00/counters.json points/0000/rep-00/t_recv.npy; do
		mv "$run_dir/$file" kept
		ln -s "$T/elsewhere" "$run_dir/$file"
		for command in summary verify report claims "export --csv" "compare $run_dir --with"; do
			# shellcheck disable=SC2086 # words
			run "$KBLAT" $command "$run_dir"
			echo "$file: $command: $status $output"
			keeps_quiet "$word"
		done
		run "$KBLAT" verify "$run_dir"
		[ "$status" -ne 0 ]
		# A link to the same file is refused, too, although the content is the same.
		ln -sfn "$T/kept" "$run_dir/$file"
		run "$KBLAT" verify "$run_dir"
		[ "$status" -ne 0 ]
		assert_contains "$output" "symbolic link"
		rm "$run_dir/$file"
		mv kept "$run_dir/$file"
	done
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "a link in place of a folder of a run directory is not followed: summary, report and state diff say so" {
	local folder host
	scripted messages=200
	host=$(basename "$run_dir"/state/*)
	for folder in points points/0000 points/0000/rep-00; do
		mv "$run_dir/$folder" elsewhere
		ln -s "$T/elsewhere" "$run_dir/$folder"
		mv "$run_dir/summary.json" kept
		for command in summary report "export --csv"; do
			# shellcheck disable=SC2086 # words
			run "$KBLAT" $command "$run_dir"
			echo "$folder: $command: $status $output"
			[ "$status" -ne 0 ]
			assert_contains "$output" "symbolic link"
		done
		mv kept "$run_dir/summary.json"
		rm "$run_dir/$folder"
		mv elsewhere "$run_dir/$folder"
	done
	mv "$run_dir/state/$host/before" elsewhere
	ln -s "$T/elsewhere" "$run_dir/state/$host/before"
	run "$KBLAT" state diff "$run_dir" "$run_dir"
	[ "$status" -ne 0 ]
	run "$KBLAT" state diff "$run_dir/state/$host" elsewhere
	[ "$status" -ne 0 ]
	assert_contains "$output" "symbolic link"
}

@test "a run directory that is itself named by a link is read as ever" {
	scripted messages=200
	ln -s "$run_dir" by-link
	for command in summary verify report "export --csv"; do
		# shellcheck disable=SC2086 # words
		run "$KBLAT" $command by-link
		echo "$command: $output"
		[ "$status" -eq 0 ]
	done
	run "$KBLAT" state diff by-link by-link
	[ "$status" -eq 0 ]
}

# study_of DIR SPEC LAUNCHER: makes the study.json of a campaign, with a launcher in JSON.
study_of() {
	printf '{"schema": 1, "kind": "campaign", "name": "s", "spec": "%s", "status": "INTERRUPTED", "argv": [], "options": {"source": %s}}' "$2" "$3" >"$1/study.json"
}

@test "a campaign's runs are inside it: no link, no path that leads elsewhere" {
	scripted messages=200
	mkdir campaign
	for name in by-link ../"${run_dir#"$T/"}"; do
		ln -sfn "$run_dir" campaign/by-link
		study_of campaign "$T" null
		printf '{"cell": 0, "name": "n", "spec": "/x", "state": "completed", "run": "%s"}\n' "$name" >campaign/cells.jsonl
		rm -rf "$run_dir/derived"
		run "$KBLAT" report campaign
		echo "$name: $status $output"
		[ ! -e "$run_dir/derived" ]
	done
}

# campaign LAUNCHER: makes a directory that claims to be a campaign of one experiment with that launcher.
campaign() {
	mkdir campaign
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 100, repetitions: 1}
	YAML
	study_of campaign "$T" "\"$1\""
	printf '{"cell": 0, "name": "n", "spec": "%s", "state": "pending"}\n' "$T/scripted.yaml" >campaign/cells.jsonl
}

@test "a directory with a study.json is not executed, and --resume shows what it starts" {
	printf '#!/bin/sh\ntouch "%s/executed"\nexec "$@"\n' "$T" >launcher
	chmod +x launcher
	campaign "$T/launcher"
	run "$KBLAT" run campaign
	[ "$status" -eq 2 ]
	assert_contains "$output" "kblat run --resume campaign"
	[ ! -e executed ]
	run "$KBLAT" run --resume campaign
	[ "$status" -eq 0 ]
	assert_contains "$output" "source endpoints will be started by '$T/launcher'"
	[ -e executed ]
}

@test "a campaign of somebody else, or one that others may write, is not resumed" {
	campaign env
	for mode in 777:755 755:666 775:644 755:664; do
		chmod "${mode%:*}" campaign
		chmod "${mode#*:}" campaign/study.json
		run "$KBLAT" run --resume campaign
		echo "$output"
		[ "$status" -eq 2 ]
		assert_contains "$output" "other users may write to it"
	done
	chmod 755 campaign
	chmod 644 campaign/study.json
	# Only the owner may write its files, with any umask.
	(umask 0 && "$KBLAT" run --resume campaign)
	[ "$(stat -c %a campaign/study.json)" = 644 ]
	need_root "to give files away"
	chown 65534 campaign
	run "$KBLAT" run --resume campaign
	[ "$status" -eq 2 ]
	assert_contains "$output" "it belongs to user 65534, not to you"
	chown 0 campaign
	chown 65534 campaign/study.json
	run "$KBLAT" run --resume campaign
	[ "$status" -eq 2 ]
}

@test "run without a spec says what is missing" {
	run "$KBLAT" run
	[ "$status" -eq 2 ]
	assert_contains "$output" "no SPEC given"
}

# killed_at_set_up TRANSPORT: a run whose endpoints are killed as soon as they have made something in /dev/shm.
killed_at_set_up() {
	cat >launch <<-'SH'
		#!/bin/bash
		shopt -s nullglob
		"$@" <&0 &
		made=()
		while [ ${#made[@]} -eq 0 ] && kill -0 $! 2>/dev/null; do
			made=(/dev/shm/kblat-$UID-$!-*)
		done
		kill -KILL $!
		wait
	SH
	chmod +x launch
	run "$KBLAT" run scripted.yaml --out "$T/runs" --set transport="$1" --sink "$T/launch"
}

# bats test_tags=long
@test "an endpoint that is killed at whatever moment leaves nothing in /dev/shm" {
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 1, repetitions: 1, warmup: 0}
	YAML
	touch before-shm
	for transport in scripted shmem zeromq nanomsg; do
		! "$KBLAT" list transports | grep -q "^$transport: not in this build" || continue
		for _ in 1 2 3; do
			killed_at_set_up "$transport"
			echo "$transport: $output"
			[ "$status" -eq 1 ]
		done
	done
	assert_eq "$(shm_files)" ""
}

# passes_until WORD NAME <<PYTHON: makes a launcher that passes on the output of an endpoint up to the first line with WORD ("": the first line), and then
# runs PYTHON.
passes_until() {
	cat <<-PY >"$2"
		#!/usr/bin/python3
		import os, subprocess, sys
		endpoint = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
		for line in endpoint.stdout:
		    os.write(1, line)
		    if b'$1' in line:
		        break
	PY
	cat >>"$2"
	chmod +x "$2"
}

# bats test_tags=long
@test "an endpoint that floods its coordinator with status is held to its progress" {
	passes_until '"armed"' flood <<-'PY'
		try:
		    progress = 0
		    while True:
		        progress += 1
		        os.write(1, b'{"type":"status","progress":%d,"running":true}\n' % (progress % 10 * 1000000))
		except OSError:
		    endpoint.kill()
	PY
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 100, burst: 1, repetitions: 1, warmup: 0, timeout: 1s}
	YAML
	run timeout 60 "$KBLAT" run scripted.yaml --out "$T/runs" --sink "$T/flood"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "no progress for 1 s"
}

@test "an endpoint cannot delay an answer by status that nobody asked for" {
	passes_until '' flood <<-'PY'
		try:
		    while True:
		        os.write(1, b'{"type":"status","progress":1,"running":true}\n')
		except OSError:
		    endpoint.kill()
	PY
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 100, burst: 1, repetitions: 1, warmup: 0}
	YAML
	run timeout 60 "$KBLAT" run scripted.yaml --out "$T/runs" --sink "$T/flood"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "that it was not asked for"
}

@test "a second signal ends a run, also while an endpoint does not send the columns that it promised" {
	passes_until '"done"' stall <<-'PY'
		open("stalled", "w").close()
		endpoint.wait()
	PY
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: shmem, poll: event, messages: 100, burst: 1, repetitions: 1, warmup: 0}
	YAML
	"$KBLAT" run scripted.yaml --out "$T/runs" --sink "$T/stall" >out 2>&1 3>&- &
	pid=$!
	for _ in $(seq 1200); do
		[ ! -e stalled ] || break
		sleep 0.05
	done
	kill -TERM $pid
	sleep 0.3
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	cat out
	[ "$status" -eq 1 ]
	! grep -q "has sent nothing" out
}

@test "an endpoint that sends more than it should is refused: a column twice, a trace that nobody asked for" {
	spec scripted <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 100, repetitions: 1, warmup: 0}
	YAML
	while IFS='|' read -r change message; do
		printf '#!/bin/sh\n"$@" | LC_ALL=C sed -u '"'%s'\n" "$change" >sends-more
		chmod +x sends-more
		run "$KBLAT" run scripted.yaml --out "$T/runs" --sink "$T/sends-more"
		echo "$change: $output"
		[ "$status" -eq 1 ]
		assert_contains "$output" "$message"
	done <<-'END'
		s/"columns":."t_recv"/&,"t_recv"/|sink: endpoint sent other columns than its kernel has
		s/"columns":/"trace":{"words":0},&/|sink: endpoint sent a trace that it was not asked for
	END
}

@test "an order without end: the endpoint says why it ends" {
	head -c 1200000 /dev/zero | tr '\0' x >long
	run "$KBLAT" endpoint <long
	[ "$status" -eq 1 ]
	assert_contains "$output" "a line is longer than"
}

@test "no more users may read a report than the captures that it shows" {
	need_feature SQLite
	umask 022
	scripted messages=100
	chmod 644 "$run_dir"/state/*/*/state.json "$run_dir"/state/*/changes.json
	"$KBLAT" report "$run_dir"
	assert_eq "$(stat -c %a "$run_dir/derived/report.html")" 644
	chmod 600 "$run_dir"/state/*/before/state.json
	"$KBLAT" report "$run_dir"
	assert_eq "$(stat -c %a "$run_dir/derived/report.html")" 600
	assert_eq "$(find "$run_dir/derived" -perm /077)" ""
	"$KBLAT" report .
	assert_eq "$(stat -c %a kblat-index.sqlite kblat-runs.html | sort -u)" 600
}

@test "state diff and CSV pass no control characters on" {
	printf '{"schema": 1, "keys": {"g\\u001b[31m.k\\u0007": "a", "a.b": 1}}' >a.json
	printf '{"schema": 1, "keys": {"g\\u001b[31m.k\\u0007": "b\\u001b", "a.b": 1}}' >b.json
	run "$KBLAT" state diff a.json b.json
	assert_contains "$output" "g?[31m.k?"
	[[ $output != *$'\e'* ]] && [[ $output != *$'\a'* ]]
	scripted messages=100
	sed -i 's/"kernel": "oneway"/"kernel": "one\\u001bway\\u0007"/' "$run_dir/summary.json"
	run "$KBLAT" export --csv "$run_dir"
	assert_contains "$output" "one?way?"
	[[ $output != *$'\e'* ]] && [[ $output != *$'\a'* ]]
}

@test "a run whose files are not as they were sealed: every table and page says so, with status 3" {
	cp -r "$ROOT/tests/runs/1.0.0/made/scripted" run
	for command in "summary" "summary --json" "report" "export --csv" "claims"; do
		# shellcheck disable=SC2086
		run "$KBLAT" $command run
		[[ $output != *"not as it was sealed"* ]]
	done
	sed -i 's/"p50": [0-9]*/"p50": 1/' run/summary.json
	for command in "summary" "summary --json" "report" "export --csv" "claims"; do
		# shellcheck disable=SC2086
		run "$KBLAT" $command run
		[ "$status" -eq 3 ]
		assert_contains "$output" "not as it was sealed"
		assert_contains "$output" "summary.json: it was changed since the run was sealed"
	done
	run "$KBLAT" summary run
	assert_contains "$output" "NOT VALID"
	grep -q "not as it was sealed" run/derived/report.html
	assert_eq "$("$KBLAT" summary --json run 2>/dev/null | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["valid"])')" False
	for file in points/0000/rep-00/counters.json points/0000/rep-00/data.json points/0000/point.json; do
		rm -rf run
		cp -r "$ROOT/tests/runs/1.0.0/made/scripted" run
		echo >>"run/$file"
		run "$KBLAT" summary run
		[ "$status" -eq 3 ]
		assert_contains "$output" "$file: it was changed since the run was sealed"
	done
}
