#!/usr/bin/env bats
# A selection of `make rehearsal`: experiments of the thesis over the model of two adapters, in its world and in one without each effect (tests/model/rehearse).

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
	assert_contains "$output" '1 claims in 2 worlds'
}

@test "a world without an effect that is said to have it is found out" {
	mkdir -p tree/tests/model/worlds
	cp "$ROOT/tests/model/rehearse" tree/tests/model/
	ln -s "$ROOT/experiments" tree/experiments
	grep -v '^inline: ' "$ROOT/tests/model/worlds/thesis" | sed '/^claim/d' >tree/tests/model/worlds/thesis
	echo 'claim oneway-inline/inline with effect latency 1 op send' >>tree/tests/model/worlds/thesis
	run tree/tests/model/rehearse "$build" thesis
	echo "$output"
	assert_contains "$output" 'WRONG: oneway-inline/inline'
	[ "$status" -ne 0 ]
}
