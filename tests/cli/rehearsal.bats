#!/usr/bin/env bats
# A selection of `make rehearsal`: experiments over the model of two adapters, in the world of their source and in one without each effect (tests/model/rehearse).

load helper

setup() {
	kblat_setup
	need_adapter
}

# A busy machine may leave a claim undecided, but no world may be judged wrongly.
# bats test_tags=long
@test "the claim about inline messages holds in the world of the thesis, and not without its effect" {
	run "$ROOT/tests/model/rehearse" "$build" thesis oneway-inline
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	assert_contains "$output" 'thesis: 1 claim, 2 runs'
}

# bats test_tags=long
@test "a cycle of round trips and its phases hold in the world of RAMCloud's talk, and not without them" {
	run "$ROOT/tests/model/rehearse" "$build" ramcloud two-views
	echo "$output"
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	assert_contains "$output" 'ramcloud: 6 claims, 2 runs'
	assert_contains "$output" ', 0 without their effect'
}

@test "a world without an effect that is said to have it is found out, and what was found is written into a page" {
	mkdir -p tree/tests/model/worlds
	cp "$ROOT/tests/model/rehearse" tree/tests/model/
	ln -s "$ROOT/experiments" tree/experiments
	grep -Ev '^(inline: |claim|world)' "$ROOT/tests/model/worlds/thesis" >tree/tests/model/worlds/thesis
	printf '%s\n' 'world slower with effect latency 1 op send' 'claim oneway-inline/inline slower' >>tree/tests/model/worlds/thesis
	printf 'before\n<!-- rehearsal of thesis -->\nold\n<!-- end -->\nafter\n' >page.md
	run tree/tests/model/rehearse --page page.md "$build" thesis
	echo "$output"
	assert_contains "$output" 'WRONG: oneway-inline/inline'
	[ "$status" -ne 0 ]
	assert_eq "$(sed -n '1p;$p' page.md)" $'before\nafter'
	grep -q '^| oneway-inline/inline | ' page.md
	! grep -q old page.md
}
