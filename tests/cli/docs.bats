#!/usr/bin/env bats
# What the pages tell a reader to type.

load helper

setup() {
	kblat_setup
	KBTUNE=${KBTUNE:-$ROOT/build/kbtune}
}

@test "every command of README.md and docs/ is run or listed with what it needs, and its flags and targets exist" {
	need_feature SQLite
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/docs_commands.py" "$ROOT" "$KBLAT" "$KBTUNE"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "the numbers of docs/security.md and docs/reliability.md are what the commands there print, or the source says" {
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/docs_numbers.py" "$ROOT"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "every link of every page leads to a file, and to a heading of it" {
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/docs_links.py" "$ROOT"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a page that uses a term of the glossary links it there" {
	run /usr/bin/python3 "$BATS_TEST_DIRNAME/docs_terms.py" "$ROOT"
	echo "$output"
	[ "$status" -eq 0 ]
}
