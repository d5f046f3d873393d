#!/usr/bin/env bats
# What the pages tell a reader to type.

load helper

setup() {
	kblat_setup
	KBTUNE=${KBTUNE:-$ROOT/build/kbtune}
}

@test "every command of README.md and docs/ is run, or in a table of what it needs; each flag and target is there" {
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/docs_commands.py" "$ROOT" "$KBLAT" "$KBTUNE"
	echo "$output"
	[ "$status" -eq 0 ]
}
