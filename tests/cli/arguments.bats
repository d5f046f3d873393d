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
