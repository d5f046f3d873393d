#!/usr/bin/env bats
# Wrong command lines: one message on standard error, nothing on standard output, status 2.

load helper
bats_require_minimum_version 1.5.0

wrong() {
	run --separate-stderr "$KBLAT" "$@"
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ -n "$stderr" ]
}

@test "no subcommand, an unknown one, and a near miss" {
	wrong
	wrong frobnicate
	wrong sumary x
	assert_contains "$stderr" "did you mean 'summary'?"
}

@test "unknown flags, missing values, missing and surplus arguments" {
	wrong run
	wrong run a b
	wrong run a --rpes 3
	assert_contains "$stderr" "did you mean '--reps'?"
	wrong run a --out
	wrong run a --reps zero
	wrong run a --reps -1
	wrong verify
	wrong summary
	wrong run a --set
}

@test "an experiment that is not there: run and knobs say where the names are" {
	for words in "run quikstart" "knobs quikstart --profile isolated"; do
		# shellcheck disable=SC2086
		wrong $words
		assert_contains "$stderr" "quikstart: there is no such file, and no experiment of this name ('kblat list experiments' lists them); did you mean 'quickstart'?"
	done
}

@test "an experiment of a study without the study's name: the whole name is what was meant" {
	wrong run oneway-busy
	assert_contains "$stderr" "did you mean 'thesis/oneway-busy'?"
}

@test "help goes to standard output with status 0, for all and for each" {
	run "$KBLAT" help
	[ "$status" -eq 0 ]
	for c in run list verify summary report compare history export import doctor state; do
		assert_contains "$output" "  $c "
	done
	for c in run list verify summary report compare history export import doctor state; do
		run "$KBLAT" "$c" --help
		[ "$status" -eq 0 ]
		assert_contains "$output" "Usage: kblat $c"
		other=$("$KBLAT" help "$c")
		assert_eq "$other" "$output"
	done
}

@test "what is no run directory is said to be none" {
	mkdir empty
	for c in verify summary report "export --csv"; do
		# shellcheck disable=SC2086
		wrong $c empty
		# shellcheck disable=SC2086
		wrong $c nowhere
	done
}

@test "a full disk under standard output is an error" {
	[ -w /dev/full ] || skip "no /dev/full here"
	run bash -c '"$1" help >/dev/full' _ "$KBLAT"
	[ "$status" -eq 1 ]
	assert_contains "$output" "standard output"
}

@test "a stack that may hardly grow, and files that may hardly: said in words, not by a signal" {
	local program
	for program in "$KBLAT" "$KBTUNE"; do
		run bash -c 'ulimit -s 64; exec "$1" help' _ "$program"
		assert_eq "$status" 77
		assert_contains "$output" "raise the limit (ulimit -s)"
	done
	run bash -c 'ulimit -f 1; exec "$1" state capture "$2"' _ "$KBLAT" "$T/state"
	assert_eq "$status" 1
	assert_contains "$output" "cannot write"
	assert_contains "$output" "the file is too large"
}

@test "--version" {
	run "$KBLAT" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^kblat\ [0-9]+\.[0-9]+\.[0-9]+ ]]
}

@test "mistakes say what is wrong, and what to do" {
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, repetitions: 1}
	YAML
	mkdir empty
	local row words
	while IFS='|' read -r row words; do
		# shellcheck disable=SC2086 # several of them
		run "$KBLAT" $row
		assert_eq "$row: $status" "$row: 2"
		assert_contains "$output" "$words"
	done <<-'END'
		summary s.yaml|it is a file; name the folder of a run
		report s.yaml|it is a file; name the folder of a run
		report empty|it is not a run directory, and there is none in it
		boots status empty|it is not the directory of a study: it has no study.json
		boots status nosuch|nosuch: it is not the directory of a study: there is no such directory
		run --resume nosuch|nosuch: it is not the directory of a study: there is no such directory
		knobs --resume empty|it is not the directory of a study: it has no study.json
		run s.yaml --budget 5|'5' would be nanoseconds; write it as 30min or 8h
		noise --cpus 4095|this machine has the CPUs 0 to
	END
}

@test "a run is measured again in its directory, as its README.txt says, and stays as it was sealed" {
	scripted repetitions=1
	run -0 sh -c "cd '$run_dir' && '$KBLAT' $(sed -n 's/^To repeat it: *kblat //p' "$run_dir/README.txt") --no-state"
	[ "$(dirname "${lines[-1]}")" = "$T/runs" ]
	run -0 "$KBLAT" verify "$run_dir"
}

@test "a kernel for the guest has the whole name of a package: others that begin so are not downloaded" {
	mkdir bin
	printf '#!/bin/sh\n[ "$1" = show ] && echo "Package: linux-image-6.1.0-47-amd64"\n' >bin/apt-cache
	printf '#!/bin/sh\necho "$*" >>"%s/got"\n' "$T" >bin/apt-get
	chmod 755 bin/*
	run env PATH="$T/bin:$PATH" KBLAT_VM_DIR="$T/vm" "$ROOT/guest/kblat-guest" --prepare --kernel 6.1
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "cannot find the package linux-image-6.1 in apt's archives"
	! grep download got
}
