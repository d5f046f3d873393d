#!/usr/bin/env bats
# The claims of the studies: each holds with its effect, and none without it; and what they quote is in the source.

load helper
load kbtune_helper

# claims_of STUDY LEAST: all of its claims against a model of its machine
claims_of() {
	machine t630
	export KBTUNE KBTUNE_SYSROOT=$T/m
	run /usr/bin/python3 "$ROOT/tests/cli/$1_claims.py" "$KBLAT" "$ROOT/experiments/$1" "$T/out"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^[0-9]+\ claims$ ]]
	[ "${lines[-1]% claims}" -ge "$2" ]
	as_before
}

# bats test_tags=long
@test "every claim of the thesis holds in a model of its machine, and not in one without the claim's effect" {
	claims_of thesis 100
}

# bats test_tags=long
@test "every claim of RAMCloud's study holds in a model of what the source saw, and not without its effect" {
	claims_of ramcloud 100
}

@test "every claim of Infiniswap's study holds in a model of what the source saw, and not without its effect" {
	claims_of infiniswap 7
}

# bats test_tags=long
@test "every claim of VIA's study holds in a model of what the source measured, and not without its effect" {
	claims_of via 60
}

# bats test_tags=long
@test "what claims compare differs in no more settings in a quick variant than in the full one" {
	local study
	machine t630
	export KBTUNE KBTUNE_SYSROOT=$T/m
	for study in thesis ramcloud via infiniswap; do
		run /usr/bin/python3 "$ROOT/tests/cli/quick_pairs.py" "$KBLAT" "$ROOT/experiments/$study" "$T/out/$study"
		echo "$study: $output"
		[ "$status" -eq 0 ]
		[ "${lines[-1]% claims*}" -ge 3 ]
	done
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

# quotations STUDY TEXT LEAST: each number is in the line of the source that is named with it, and each line with a
# number is named
quotations() {
	[ -n "$2" ] || skip "needs the source's text: KBLAT_${1^^}=FILE"
	run /usr/bin/python3 "$ROOT/tests/cli/study_source.py" --all "$2" "$ROOT/experiments/$1" "$ROOT/docs/$1.md"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[-1]% quotations}" -ge "$3" ]
}

@test "each number that the thesis' study quotes is in the line of the source that it names" {
	quotations thesis "${KBLAT_THESIS:-}" 150
}

@test "each number that RAMCloud's study and its page quote is in the line of the source that they name" {
	quotations ramcloud "${KBLAT_RAMCLOUD:-}" 80
}

@test "each number that Infiniswap's study and its page quote is in the line of the source that they name" {
	quotations infiniswap "${KBLAT_INFINISWAP:-}" 10
}

@test "each number that VIA's study and its page quote is in the line of the source that they name" {
	quotations via "${KBLAT_VIA:-}" 60
}

@test "what Observatory's page says of its documentation is in the line that it names" {
	quotations observatory "${KBLAT_OBSERVATORY:-}" 10
}

@test "a line that moved in another edition is named, and so are a claim of the source without a line and a wrong number" {
	mkdir -p study/one
	printf 'first\n\nEvery 31st round trip - as ever - is 4.4us\n' >source
	touch study/one/README.md
	cat >study/one/spec.yaml <<-'END'
		claims:
		  - id: moved
		    source: "Results, L1"
		    measured_by_source: "31st; 4.4 us"
		  - id: nowhere
		    source: "Results, L3"
		    measured_by_source: "4.5 us"
		  - id: vague
		    source: "Results"
		  - id: ours
		    origin: ours
		  - id: right
		    source: "Results, L3"
		    measured_by_source: "4.4 us"
	END
	printf '| said | lines | claim |\n| --- | --- | --- |\n| 4.4 us | L3 | x |\n| 7 us | L3 | x |\n' >page.md
	run /usr/bin/python3 "$ROOT/tests/cli/study_source.py" source study page.md
	[ "$status" -eq 1 ]
	assert_contains "$output" 'moved: 31, 4.4 not in line 1: "31st; 4.4 us"; line 3 has them'
	assert_contains "$output" 'nowhere: 4.5 not in line 3'
	assert_contains "$output" "vague: is the source's, but names no line"
	assert_contains "$output" 'page.md: L3: 7 not in line 3'
	assert_eq "${#lines[@]}" 5
	printf 'There are 31 of them here\nSection 4.2 is about nothing at all\n\n7 more come in the end\nREFERENCES\nPaper 9 of those that are cited\n' >source
	printf '| 7 more | L4 |\n' >page.md
	rm study/one/spec.yaml
	run /usr/bin/python3 "$ROOT/tests/cli/study_source.py" --all source study page.md
	[ "$status" -eq 1 ]
	assert_eq "${lines[0]}" 'line 1 has a number, and nothing names it: "There are 31 of them here"'
	assert_eq "${#lines[@]}" 2
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

@test "a claim that holds in one run and fails in another is told, one that is undecided in another is not" {
	local verdict
	for verdict in holds fails "not judged"; do
		mkdir "c-$verdict"
		printf '{"claims": [{"experiment": "e", "id": "flips", "verdict": "%s"}, {"experiment": "e", "id": "stays", "verdict": "%s"}]}' \
			"$verdict" "${verdict/fails/holds}" >"c-$verdict/claims.json"
	done
	run "$BATS_TEST_DIRNAME/../bench/claim-flips" --from c-holds "c-not judged"
	[ "$status" -eq 0 ]
	run "$BATS_TEST_DIRNAME/../bench/claim-flips" --from c-*
	echo "$output"
	[ "$status" -eq 3 ]
	assert_contains "$output" "| e | flips | 1 | 1 | 1 |"
	assert_contains "$output" "| e | stays | 2 | 0 | 1 |"
	assert_contains "$output" "3 runs, 2 claims: 2 were judged at least once, 1 flipped"
}
