#!/usr/bin/env bats
# What is printed on a terminal fits it.

load helper

# bats test_tags=long
@test "no subcommand prints a line that is wider than the terminal, of 80 and of 120 columns" {
	need_feature SQLite
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/terminal.py" "$ROOT" "$KBLAT" "${KBTUNE:-$ROOT/build/kbtune}"
	echo "$output"
	[ "$status" -eq 0 ]
}
