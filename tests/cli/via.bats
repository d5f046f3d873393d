#!/usr/bin/env bats
# experiments/via.

load helper

@test "experiments/via: every point is read, in full and quick, and each experiment has a README" {
	local folder variant
	for folder in "$ROOT"/experiments/via/*/; do
		[ -f "$folder/README.md" ]
		for variant in "" --quick; do
			run "$KBLAT" run "$folder" --dry-run --json $variant
			echo "$folder $variant: $output"
			[ "$status" -eq 0 ]
		done
	done
	assert_eq "$(cd "$ROOT/experiments/via" && printf '%s\n' */ | tr -d /)" "$(sed -n 's/^order: \[\(.*\)\]$/\1/p' "$ROOT/experiments/via/study.yaml" | tr -d , | tr ' ' '\n' | sort)"
	# The baseline, each optimisation alone, all together, and no layer, over each transport.
	"$KBLAT" run "$ROOT/experiments/via/message-layer" --dry-run --json >points.json
	assert_eq "$(/usr/bin/python3 -c 'import json
points = [p["params"] for p in json.load(open("points.json"))]
kinds = {(p.get("ack"), p.get("copy"), p.get("hand")) for p in points}
print(len(points), {p["transport"] for p in points} == {"verbs", "shmem", "udp"}, (True, True, "event") in kinds, (False, False, "spin") in kinds, len(kinds))')" \
		"156 True True True 12"
}

# bats test_tags=long
@test "the quick study of locking memory judges its claims: flat within a page, rising, longer for untouched pages" {
	run "$KBLAT" run "$ROOT/experiments/via/registration" --quick --out runs --only transport=shmem --set messages=40
	assert_measured
	assert_eq "$(json "$run_dir/claims.json" '{c["id"]: c["verdict"] for c in d["claims"]}["flat"]')" "not judged"
	# On a busy machine a claim may be too close to call: none of these can fail for it.
	assert_eq "$(json "$run_dir/claims.json" '[c["id"] for c in d["claims"] if c["id"] in ("rises", "untouched") and c["verdict"] == "fails"]')" "[]"
}
