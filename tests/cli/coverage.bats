#!/usr/bin/env bats
# The table of `make coverage`, and counts of processes that are killed.

load helper

# A program that ends in the way that its argument names, each in a function of its own.
setup_file() {
	BUILT=$(mktemp -d "${BATS_TMPDIR:-/tmp}/tests-cli.XXXXXX")
	export BUILT
	local flags=(--coverage -O0 -D_GNU_SOURCE) wrap=() f
	for f in _exit raise signal; do
		wrap+=("-Wl,--wrap=$f" "-Wl,-u,__wrap_$f")
	done
	mkdir -p "$BUILT/common"
	cat >"$BUILT/common/ending.c" <<-'C'
		#include <signal.h>
		#include <stdlib.h>
		#include <unistd.h>
		static int sum;
		static void by_exit(void) { sum++; _exit(0); }
		static void by_kill(void) { sum++; raise(SIGKILL); }
		static void by_term(void) { sum++; kill(getpid(), SIGTERM); pause(); }
		static void by_default(void) { sum++; signal(SIGINT, SIG_IGN); if (signal(SIGINT, SIG_DFL) != SIG_IGN) abort(); kill(getpid(), SIGINT); pause(); }
		static void by_forked(void) { sum++; if (!fork()) { sum++;
		_exit(0); } }
		static void never(void) { sum++;
			sum--;

			sum--; }
		int main(int argc, char **argv)
		{
			void (*ways[])(void) = {by_exit, by_kill, by_term, by_default, by_forked, never};
			ways[atoi(argv[argc - 1])]();
			return 0;
		}
	C
	cd "$BUILT" || return 1
	gcc "${flags[@]}" -c -o ending.o common/ending.c
	gcc "${flags[@]}" -c -o keep.o "${BATS_TEST_DIRNAME%/*}/coverage/keep_counts.c"
	gcc --coverage "${wrap[@]}" -o ending ending.o keep.o
}

teardown_file() {
	rm -rf "$BUILT"
}

table() {
	run "$ROOT/tests/coverage/table" --root "$BUILT" --reasons "$T/reasons.md" "$BUILT"
	echo "$output"
}

@test "a process that calls _exit() or is ended by a signal writes its counts, and its status stays" {
	local way ended=(0 137 143 130 0) line=(5 6 7 8 10)
	for way in 0 1 2 3 4; do
		find "$BUILT" -name '*.gcda' -delete
		run "$BUILT/ending" "$way"
		[ "$status" -eq "${ended[way]}" ]
		(cd "$BUILT" && gcov --stdout ending.o) | grep -E "^ +[1-9][0-9]*\*?: +${line[way]}:"
	done
}

@test "the table adds up runs, shows ranges of lines that never ran, and says why" {
	local way
	find "$BUILT" -name '*.gcda' -delete
	for way in 0 1 2 3; do
		"$BUILT/ending" "$way" || true
	done
	printf '| file | why |\n| --- | --- |\n| `common/ending.c` | only a test |\n' >"$T/reasons.md"
	table
	[ "$status" -eq 0 ]
	[[ $output == *"common/ending.c"*" %: 9-14 19"*"    only a test"*"0 of these files have no reason"* ]]
	: >"$T/reasons.md"
	table
	[[ $output == *"1 of these files have no reason"* ]]
}

@test "without counts there is no table, but a message" {
	find "$BUILT" -name '*.gcda' -delete
	: >"$T/reasons.md"
	table
	[ "$status" -eq 1 ]
	[[ $output == "coverage: no counts below $BUILT: build with COV=1"* ]]
}

@test "counts of an earlier build are an error, which says what to do" {
	: >"$T/reasons.md"
	"$BUILT/ending" 0
	gcc --coverage -O0 -D_GNU_SOURCE -DANOTHER -c -o "$T/ending.o" "$BUILT/common/ending.c"
	cp "$T/ending.gcno" "$BUILT/ending.gcno"
	table
	[ "$status" -eq 1 ]
	[[ $output == "coverage: gcov failed ("*"mismatch"*"run make coverage"* ]]
}
