#!/usr/bin/env bats
# The claims of the thesis study: each holds with its effect, and none without it.

load helper
load kbtune_helper

# bats test_tags=long
@test "every claim of the thesis holds in a model of its machine, and not in one without the claim's effect" {
	machine t630
	export KBTUNE KBTUNE_SYSROOT=$T/m
	run /usr/bin/python3 "$ROOT/tests/cli/thesis_claims.py" "$KBLAT" "$ROOT/experiments/thesis" "$T/out"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^[0-9]+\ claims$ ]]
	[ "${lines[-1]% claims}" -gt 100 ]
	as_before
}

@test "at least 16 claims of the quick study ask for nothing that a guest with Soft-RoCE lacks" {
	local all=0 spec count
	for spec in "$ROOT"/experiments/thesis/*/spec.yaml; do
		# A claim begins with its id; one without `needs` can be judged anywhere.
		count=$(awk '/^  - id:/ { n += open; open = 1 } /^    needs:/ { open = 0 } END { print n + open }' "$spec")
		all=$((all + count))
	done
	echo "$all"
	[ "$all" -ge 16 ]
}

@test "each number that the study quotes is in the line of the source that it names" {
	[ -n "${KBLAT_THESIS:-}" ] || skip "needs the source's text: KBLAT_THESIS=FILE"
	run /usr/bin/python3 "$ROOT/tests/cli/thesis_source.py" "$KBLAT_THESIS" "$ROOT/experiments/thesis"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[-1]% quotations}" -gt 150 ]
}

@test "every experiment of the study has a README, a line in docs/thesis.md, and claims that name the source" {
	local folder name
	for folder in "$ROOT"/experiments/thesis/*/; do
		name=$(basename "$folder")
		echo "$name"
		grep -q "^# $name$" "$folder/README.md"
		grep -q "^| \`$name\`" "$ROOT/docs/thesis.md"
		assert_eq "$(grep -c '^  - id:' "$folder/spec.yaml")" "$(grep -c '^    source: "' "$folder/spec.yaml")"
	done
}
