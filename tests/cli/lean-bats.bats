#!/usr/bin/env bats
# tests/vm/lean-bats, compared with bats itself.

load helper
bats_require_minimum_version 1.5.0

# verdicts COMMAND…: the results of the tests in some.bats, without durations, and the exit status.
verdicts() {
	local status=0
	env -i PATH="${PATH##*/bats-core:}" HOME="$T" "$@" some.bats >said 2>&1 || status=$?
	sed -nE 's/ in [0-9]+ms//; /^(not )?ok /p' said
	echo "status $status"
}

@test "what passes, fails and is skipped with bats does so with lean-bats, which says where and what was printed" {
	cat >some.bash <<-'END'
		one_is() { [ "$1" = 1 ]; }
	END
	# bats would take tests in this text for its own.
	sed 's/^at_test/@test/' >some.bats <<-'END'
		load some
		setup_file() { export FROM_FILE=there; }
		setup() { mine=1; }
		teardown() { [ "$mine" != 3 ]; }
		at_test "a \"quoted\" name; setup and setup_file" { [ "$FROM_FILE$mine" = there1 ]; }
		at_test "run" {
			run sh -c 'echo a; echo; echo b >&2; exit 3'
			[ "$status" -eq 3 ] && [ "${lines[1]}" = b ] && [ "$output" = $'a\n\nb' ]
			[ -n "$BATS_TEST_DIRNAME" ] && [ -d "$BATS_FILE_TMPDIR" ] && [ -z "$never_set" ]
		}
		at_test "not the last command" {
			echo seen before
			false
			echo not seen
		}
		at_test "in a function of another file" {
			one_is 2
			true
		}
		at_test "in a function that goes on where its failure is asked for" {
			f() { false; true; }
			run f
			[ "$status" -eq 0 ]
			f
		}
		at_test "in teardown alone" { mine=3; }
		at_test "what a command substitution does not find" { [ -z "$(false)" ] && [ "$(false; echo one)" = one ]; }
		at_test "skipped" { skip "for a reason"; }
		at_test "its own exit" { exit 4; }
		at_test "what another test has set" { [ "$mine" = 1 ]; }
	END
	verdicts bats --formatter tap >bats
	verdicts "$ROOT/tests/vm/lean-bats" >lean
	cat said
	diff bats lean
	assert_eq "$(grep -c '^not ok' lean) $(tail -n 1 lean)" "5 status 1"
	grep -q '^# seen before$' said
	grep -q '^# some.bats, line 13: false$' said
	run ! grep -q 'not seen' said
	assert_eq "$("$ROOT/tests/vm/lean-bats" -f '^run|quoted' some.bats | grep -c '^ok')" 2
}

@test "a file that is not there, or whose setup_file fails, is a failure" {
	printf 'setup_file() { false; true; }\n%s "x" { true; }\n' @test >some.bats
	assert_eq "$(verdicts "$ROOT/tests/vm/lean-bats")" "$(printf 'not ok 1 some.bats: not all of it was run\nstatus 1')"
	rm some.bats
	assert_eq "$(verdicts "$ROOT/tests/vm/lean-bats" | tail -n 1)" "status 1"
}
