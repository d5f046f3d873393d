#!/usr/bin/env bats
# Two arms of runs, compared. Runs are of the scripted transport, multiplied into boots that were never booted (boots.py).

load helper
load boots_helper
bats_require_minimum_version 1.5.0

# edit FILE… STATEMENT: change JSON documents `d`, and seal their runs anew.
edit() {
	PYTHONPATH=$BATS_TEST_DIRNAME /usr/bin/python3 - "$@" <<-'PY'
		import boots, json, pathlib, sys
		for f in map(pathlib.Path, sys.argv[1:-1]):
		    d = json.loads(f.read_text())
		    exec(sys.argv[-1])
		    f.write_text(json.dumps(d))
		    run = next(p for p in f.parents if (p / "manifest-sha256.txt").exists())
		    (run / "manifest-sha256.txt").unlink()
		    boots.seal(run)
	PY
}

@test "a kernel that is 4 % slower: regression, exit status 3, and by how much" {
	boots base runs=3
	boots new runs=3 prefix=b kernel=6.1.0-56-amd64 slower=0.04
	run -3 "$KBLAT" compare base --with new
	assert_contains "$output" "BASE: kernel 6.1.0-50-amd64: 24 runs of 8 boots"
	assert_contains "$output" "NEW : kernel 6.1.0-56-amd64: 24 runs of 8 boots"
	[[ ${lines[-1]} == "regression: scripted: NEW (6.1.0-56-amd64, 24 runs of 8 boots) is slower than BASE (6.1.0-50-amd64, 24 runs of 8 boots) in "*" of 5 quantities, most in "*"95 % interval "* ]]
	run -3 "$KBLAT" compare base --with new --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["verdict"], d["unit"], d["relabellings"]')" \
		"('regression', 'boot', {'count': 12870, 'exact': True})"
	assert_eq "$(json result.json '[(q["verdict"], q["low_percent"] < 4 < q["high_percent"], q["low"] > 0) for q in d["points"][0]["quantities"]][0]')" \
		"('regression', True, True)"
}

@test "arms measured one after the other: that is said, and what may be a drift is undecided" {
	boots base boots=10 between=0.003 within=0.003
	boots new boots=10 prefix=b start=10 between=0.003 within=0.003 slower=0.08
	run -3 "$KBLAT" compare base --with new
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "the arms were measured one after the other: a drift of the machine would look like an effect"
	rm -rf base new
	boots base boots=10 between=0.003 within=0.003 drift=0.004
	boots new boots=10 prefix=b start=10 between=0.003 within=0.003 drift=0.004
	run -4 "$KBLAT" compare base --with new
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "values seem to drift within them"
	# An improvement that a drift has hidden is none that is shown, either.
	rm -rf new
	boots new boots=10 prefix=b start=10 between=0.003 within=0.003 drift=0.004 slower=-0.04
	run -4 "$KBLAT" compare base --with new --quantity p50
	# In turn, the same drift is removed.
	rm -rf base new
	boots base boots=10 between=0.003 within=0.003 drift=0.004
	boots new boots=10 prefix=b turn=1 between=0.003 within=0.003 drift=0.004
	run -0 "$KBLAT" compare base --with new --quantity p50
	[[ $output != *"one after the other"* ]]
}

@test "faster is an improvement, and no regression" {
	boots base
	boots new prefix=b slower=-0.15
	run -0 "$KBLAT" compare base --with new --quantity p50 --quantity p99.9
	[[ ${lines[-1]} == "no regression: scripted: NEW ("*") is faster than BASE ("*") in 2 of 2 quantities"* ]]
}

@test "causes of late messages are listed with the verdict, with their times in both arms" {
	boots base timer=1900
	boots new prefix=b kernel=6.1.0-56-amd64 slower=0.04 timer=3100
	run -3 "$KBLAT" compare base --with new --out page
	assert_contains "$output" "local timer interrupt on the sink's CPU: 3.10 us, before 1.90 us; 30 messages in a run, before 30"
	assert_contains "$output" "unexplained: 4.00 us, before 4.00 us; 9 messages in a run, before 9"
	[[ "$output" != *somebody* ]]
	assert_eq "$(json page/compare.json '[(c["class"], c["side"], c["base"]["time_p50_ns"], c["with"]["time_p50_ns"], c["with"]["share"]) for c in d["points"][0]["late"]["causes"]]')" \
		"[('interrupt', 'sink', 1900.0, 3100.0, 0.75), ('unexplained', None, 4000.0, 4000.0, 0.225), ('task', 'source', 90000.0, 90000.0, 0.025)]"
	grep -q "local timer interrupt on the sink&#39;s CPU: 3.10 us, before 1.90 us" page/report.html
	# For an arm that was measured without explain, nothing is known.
	boots without prefix=c
	run "$KBLAT" compare base --with without --quantity p50 --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["points"][0]["late"]')" None
}

@test "stages: where on its way a message became slower is a line of the answer, with its interval" {
	boots base reading=5000 between=0.002 within=0.002
	boots new prefix=b reading=6200 between=0.002 within=0.002 slower=0.04
	run -3 "$KBLAT" compare base --with new --quantity p50 --out page
	assert_contains "$output" "between driver and reader: 6.20 us, before 5.00 us: +1.20 us (+1.1"
	[[ ${lines[-2]} == "regression: "*"; the mean latency by stages: +1.20 us between driver and reader" ]]
	assert_eq "$(json page/compare.json '[(s["stage"], s["low"] < s["effect"] < s["high"], s["low"] > 0) for s in d["points"][0]["stages"]]')" \
		"[('stack_ns', True, False), ('queue_ns', True, False), ('wire_ns', True, False), ('read_ns', True, True)]"
	grep -q "between driver and reader: 6.20 us, before 5.00 us" page/report.html
	# Split at the socket, if both arms are.
	boots split prefix=f reading=6200 split=1 between=0.002 within=0.002 slower=0.04
	boots split_before prefix=g reading=5000 split=1 between=0.002 within=0.002
	run -3 "$KBLAT" compare split_before --with split --quantity p50
	[[ ${lines[-1]} == *"; the mean latency by stages: +1.20 us between driver and socket" ]]
	run -3 "$KBLAT" compare base --with split --quantity p50
	[[ ${lines[-1]} == *"; the mean latency by stages: +1.20 us between driver and reader" ]]
	# Faster likewise; but slower where no stage changed is said, too.
	run -0 "$KBLAT" compare new --with base --quantity p50
	[[ ${lines[-1]} == *"; the mean latency by stages: -1.20 us between driver and reader" ]]
	boots same prefix=c reading=5000 between=0.002 within=0.002 slower=0.04
	run -3 "$KBLAT" compare base --with same --quantity p50
	[[ ${lines[-1]} == *"; the mean latency by stages: none stands out" ]]
	# Without a change there is nothing to split, and without stages in an arm nothing is known.
	boots other prefix=d reading=5000 between=0.002 within=0.002
	run "$KBLAT" compare base --with other --quantity p50
	[[ ${lines[-1]} != *"by stages"* ]]
	boots without prefix=e between=0.002 within=0.002 slower=0.04
	run -3 "$KBLAT" compare base --with without --quantity p50 --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["points"][0]["stages"]')" None
}

@test "values that do not vary are equivalent" {
	boots base between=0.0001 within=0.0001
	boots new prefix=b between=0.0001 within=0.0001 slower=0.005
	run -0 "$KBLAT" compare base --with new --quantity p50
	assert_contains "$output" equivalent
}

# Noise of 1000 % (of a run; some hundred percent of the mean of a boot): every answer except "undecided" is wrong.
# bats test_tags=long
@test "on a noisy machine nothing is equivalent, and the answer says which change could have been found" {
	for seed in 1 2 3; do
		boots "base$seed" noise=2.4 seed="$seed" steal=1
		boots "new$seed" noise=2.4 seed="$seed" steal=1 prefix=b kernel=6.1.0-56-amd64
		for margin in 2 100; do
			run -4 "$KBLAT" compare "base$seed" --with "new$seed" --margin "$margin" --json
			printf '%s' "$output" >result.json
			assert_eq "$(json result.json '{q["verdict"] for p in d["points"] for q in p["quantities"] if q["unit"] == "ns"}')" "{'undecided'}"
			assert_eq "$(json result.json 'd["verdict"], round(d["points"][0]["quantities"][0]["margin_percent"])')" "('undecided', $margin)"
			assert_eq "$(json result.json 'd["noisy"]["detectable_percent"] > d["noisy"]["noise_percent"] > 50')" True
		done
	done
	run -4 "$KBLAT" compare base1 --with new1
	[[ ${lines[5]} == "NOISE: too noisy to judge a change of 2 %: without any change, p50 differs by up to "*" in 19 of 20 such comparisons; a change must be at least "*" % to be found; likely cause: time stolen by the hypervisor, "*" slower runs have higher values"* ]]
	[[ ${lines[-1]} == "undecided: "*"may or may not be slower"*"over 1000 boots in each arm to show a change of 2 % of p50"* ]]
}

@test "a change larger than the noise is found even if the noise is larger than the margin" {
	boots base noise=0.3
	boots new noise=0.3 prefix=b slower=4
	run -3 "$KBLAT" compare base --with new
	assert_contains "$output" "NOISE: "
	assert_contains "$output" "the cause is not known: the runs' captures and counters are missing"
	boots faster noise=0.3 prefix=c slower=-0.9
	run -0 "$KBLAT" compare base --with faster --quantity p50
	assert_contains "${lines[-1]}" "is faster than"
}

@test "--margin, for all quantities or for one, decides which changes are harmless" {
	boots base boots=6
	boots new prefix=b boots=6
	run -4 "$KBLAT" compare base --with new
	run -0 "$KBLAT" compare base --with new --margin 5 --margin p99.9=25 --margin over_limit=60 --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json '[round(q["margin_percent"]) for q in d["points"][0]["quantities"]]')" "[5, 5, 5, 25, 60]"
	run -0 "$KBLAT" compare base --with new --margin p50=4 --quantity p50
	for margin in 0 -2 101 nan p50=0 p75=2 =2 p50=; do
		run -2 --separate-stderr "$KBLAT" compare base --with new --margin "$margin"
		assert_eq "$output" ""
		assert_contains "$stderr" "--margin: must be "
	done
	assert_contains "$stderr" "above 0 and at most 100"
}

# quiet: two arms, base and new, of boots and runs that vary by 0.3 %, with 20000 messages in a run.
quiet() {
	boots base between=0.003 within=0.003
	boots new prefix=b between=0.003 within=0.003 kernel=6.1.0-56-amd64
	edit base/*/summary.json new/*/summary.json '[m.update(n=20000) for p in d["points"] for m in p["metrics"].values()]'
}

@test "on a quiet machine the answer is no regression, and says what was resolved and what could be hidden" {
	quiet
	run -0 "$KBLAT" compare base --with new
	assert_contains "$output" "What decides: p50, p90, p99 (of its quantiles, those with at least 100 messages of each run beyond them); only shown: p99.9, over limit"
	[[ ${lines[-1]} == "no regression: scripted: NEW ("*") is not slower than BASE ("*"): p50, p90 within 2 %, p99 within 5 %, p99.9 within 15 %; over limit could hide 0.024 percentage points" ]]
	run -0 "$KBLAT" compare base --with new --margin p99.9=1 --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json '[(q["quantity"], q["decides"], round(q["margin_percent"])) for q in d["points"][0]["quantities"]][:4]')" \
		"[('p50', True, 2), ('p90', True, 2), ('p99', True, 5), ('p99_9', False, 1)]"
	assert_eq "$(json result.json 'd["judge"], [q["verdict"] for q in d["points"][0]["quantities"]][3]')" "('sizes', 'undecided')"
	[[ "$(json result.json 'd["answer"]')" =~ "p99 within 5 %; p99.9 could hide "[0-9.]+" %; over limit could hide 0.024 percentage points"$ ]]
	# Of long runs p99.9 decides, too.
	edit base/*/summary.json new/*/summary.json '[m.update(n=100000) for p in d["points"] for m in p["metrics"].values()]'
	run -4 "$KBLAT" compare base --with new --margin p99.9=1
	assert_contains "$output" "What decides: p50, p90, p99, p99.9 (of its"
	[[ ${lines[-1]} == "undecided: "*"but 1 of 4 that decide may be, by more than their margins, above all p99.9 by up to "*"; so far p50, p90 within 2 %, p99 within 5 %; p99.9 could hide "* ]]
}

@test "--judge, and judge in the spec, say what decides; what it does not name is a regression all the same" {
	quiet
	run -4 "$KBLAT" compare base --with new --margin p99.9=1 --judge p50,p99.9
	assert_contains "$output" "What decides: p50, p99.9 (as asked); only shown: p90, p99, over limit"
	run -0 "$KBLAT" compare base --with new --margin p99.9=1 --judge p50 --judge p90
	edit base/*/resolved.json new/*/resolved.json 'd["judge"] = ["p50", "p99_9"]'
	run -4 "$KBLAT" compare base --with new --margin p99.9=1
	assert_contains "$output" "What decides: p50, p99.9 (as the spec says); only shown: p90, p99, over limit"
	run -0 "$KBLAT" compare base --with new --margin p99.9=1 --judge p50
	run -0 "$KBLAT" compare base --with new --quantity p50 --quantity p90
	assert_contains "$output" "What decides: p50, p90 (all that are compared)"
	edit new/*/resolved.json 'd["judge"] = ["p50"]'
	run -4 "$KBLAT" compare base --with new --margin p99.9=1
	assert_contains "$output" "note: the runs' specs do not agree on what decides ('judge'); that of the first run of BASE counts"
	# One that was named but has no value is not passed over.
	edit base/*/summary.json new/*/summary.json '[m.update(p99_9=None) for p in d["points"] for m in p["metrics"].values()]'
	run -4 "$KBLAT" compare base --with new
	[[ ${lines[-1]} == "undecided: "*": p99.9 decides, but was not compared at point 0: a run has fewer than 20 messages beyond it" ]]
	run -0 "$KBLAT" compare base --with new --judge p50
	edit new/*/summary.json '[m.update(p99=2 * m["p99"]) for p in d["points"] for m in p["metrics"].values()]'
	run -3 "$KBLAT" compare base --with new --judge p50
	assert_contains "${lines[-1]}" "in 1 of 4 quantities, most in p99: +"
	run -2 "$KBLAT" compare base --with new --judge p50,p75
	assert_contains "$output" "--judge: must be one of p50, p90, p99, p99.9, over_limit, not 'p75'"
	run -2 "$KBLAT" compare base --with new --judge p99 --quantity p50
	assert_contains "$output" "--judge: p99 is not compared"
}

@test "runs without a capture of the state have a verdict, and a note that the state is not known" {
	boots base
	boots new prefix=b slower=0.1
	rm -r new/*/state
	edit new/*/run.json pass
	run -3 "$KBLAT" compare base --with new
	assert_contains "$output" "NEW : kernel unknown: 8 runs of 8 boots"
	assert_contains "$output" "note: 8 of 16 runs have no capture of the machine's state, so it is unknown whether only what is under test differs"
}

@test "--alpha sets the rate of false alarms and the width of intervals" {
	boots base boots=6
	boots new prefix=b boots=6 slower=0.04
	run -3 "$KBLAT" compare base --with new --quantity p50 --alpha 1
	assert_contains "$output" "99 % interval"
	assert_contains "${lines[-1]}" "99 % interval +"
	run -4 "$KBLAT" compare base --with new --quantity p50 --alpha 0.1
	for alpha in 0 -1 21 nan x; do
		run -2 --separate-stderr "$KBLAT" compare base --with new --alpha "$alpha"
		assert_eq "$output" ""
		assert_contains "$stderr" "--alpha: must be a percentage above 0 and at most 20"
	done
}

@test "--planned: there are verdicts at its looks only" {
	boots base boots=8
	boots new prefix=b boots=8 slower=0.3
	run -4 "$KBLAT" compare base --with new/b-[0-4]-* --planned 8
	assert_eq "${lines[-1]}" "undecided: 8 boots of BASE and 5 of NEW, of 8 planned in each arm; the next look is at 6, and there is no verdict before it"
	[[ $output != *p50* ]]
	run -3 "$KBLAT" compare base/a-[0-3]-* --with new/b-[0-3]-* --planned 8 --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["look"], round(d["alpha"], 4)')" "({'planned': 8, 'next': 6, 'alpha': 0.05}, 0.015)"
	run -3 "$KBLAT" compare base --with new --planned 8
	assert_contains "$output" "note: a look at 8 of 8 boots in each arm: the rate of false alarms is 3 % for this look, 5 % for all"
	run -3 "$KBLAT" compare base --with new --planned 6
	assert_contains "$output" "note: more boots than planned (6 in each arm)"
	run -2 "$KBLAT" compare base --with new --planned 3
}

@test "--git-bisect: exit statuses mean good, bad or skip to git bisect, and all others end it" {
	boots base boots=4
	boots slower prefix=b boots=4 slower=0.5
	boots faster prefix=c boots=4 slower=-0.5
	boots few prefix=d boots=2
	run -0 "$KBLAT" compare base --with faster --quantity p50 --git-bisect
	run -1 "$KBLAT" compare base --with slower --git-bisect
	run -125 "$KBLAT" compare base --with few --git-bisect
	run -128 "$KBLAT" compare base --with nothing --git-bisect
	run -128 "$KBLAT" compare base --git-bisect --with new --misspelt
}

# bats test_tags=long
@test "git bisect run finds the commit that made it slower, and skips one that is undecided" {
	local commit
	git init -q code
	git -C code -c user.name=test -c user.email=test@localhost commit -q --allow-empty -m 0
	for commit in 1 2 3 4 5 6 7 8; do
		echo $commit >code/number
		git -C code add number
		git -C code -c user.name=test -c user.email=test@localhost commit -q -m $commit
	done
	boots good boots=4
	# Like a user's own script: boots this commit and measures it. Commit 4 has too few boots; commits from 6 on are slower.
	cat >step <<-SH
		#!/bin/bash
		n=\$(cat number 2>/dev/null || echo 0)
		rm -rf "$T/this"
		/usr/bin/python3 "$BATS_TEST_DIRNAME/boots.py" "$SOURCE_RUN" "$T/this" prefix=c\$n \
			boots=\$((n == 4 ? 2 : 4)) slower=\$((n >= 6 ? 1 : 0))
		"$KBLAT" compare "$T/good" --with "$T/this" --quantity p50 --margin 30 --git-bisect
	SH
	chmod +x step
	cd code
	git bisect start HEAD HEAD~8
	run -0 git bisect run "$T/step"
	assert_contains "$output" "is the first bad commit"
	assert_eq "$(git log -1 --format=%s refs/bisect/bad)" 6
}

@test "with fewer than 4 boots in an arm there is no verdict, only the number of boots needed" {
	boots base boots=8 runs=3
	boots new prefix=b boots=3 runs=3 slower=0.5
	run -4 "$KBLAT" compare base --with new
	[[ ${lines[-1]} == "undecided: 8 boots of BASE and 3 of NEW; there is no verdict with fewer than 4 in each arm; about "*" boots in each arm would show a change of 2 % of p50 with a probability of 85 %; boots vary by "* ]]
	assert_contains "$output" "NEW : "
	if [[ $output == *"effect"* ]]; then
		return 1
	fi
	run -4 "$KBLAT" compare base/a-0* --with base/a-1* --effect 5
	assert_contains "${lines[-1]}" "1 boot of BASE and 1 of NEW"
	assert_contains "${lines[-1]}" "a change of 5 % of p50"
	assert_contains "${lines[-1]}" "; at least "
}

@test "runs of one boot are the units, and are pairs if the arms alternate" {
	boots base boots=1 runs=12 pairs=1
	boots new boots=1 runs=12 pairs=1 turn=1 prefix=b slower=0.08
	run -3 "$KBLAT" compare base --with new --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["unit"], d["pairs"], d["relabellings"]["count"], d["notes"]')" "('run', True, 4096, [])"
	run -3 "$KBLAT" compare base/a-0-0 base/a-0-1 base/a-0-2 base/a-0-3 base/a-0-4 --with new/b-0-7 new/b-0-8 new/b-0-9 new/b-0-10 new/b-0-11
	assert_contains "$output" "do not alternate"
	run -4 "$KBLAT" compare base --with new --unit boot
	assert_contains "$output" "1 boot of BASE and 1 of NEW"
	boots other prefix=o
	run -2 "$KBLAT" compare base --with other --unit run
	assert_contains "$output" "another boot"
}

@test "all arguments after --with are the other arm, so that wildcards can be used" {
	boots base
	boots new prefix=b
	run "$KBLAT" compare base/* --with new/* --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["base"]["runs"], d["with"]["runs"]')" "(8, 8)"
}

# bats test_tags=long
@test "points that are invalid or missing in some runs are left out there, and reported" {
	boots base runs=2
	boots new runs=2 prefix=b
	edit base/a-0-1/summary.json 'd["points"][0].update(valid=False, reasons=["1 page fault"])'
	run "$KBLAT" compare base --with new
	assert_contains "$output" "left out in 1 run of BASE and 0 of NEW: 1 page fault"
	edit new/*/summary.json 'd["points"][0].update(valid=False, reasons=["lost"])'
	run -4 "$KBLAT" compare base --with new
	assert_contains "$output" "p50 decides, but was not compared at point 0: too few boots or runs of an arm have valid values"
}

@test "a point that is valid in one arm only is not passed over, however alike the others are" {
	local SOURCE_RUN
	spec two <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200}
		matrix:
		  - {size: [8, 64]}
	YAML
	run_with two
	SOURCE_RUN=$run_dir
	boots base between=0.001 within=0.001
	boots new between=0.001 within=0.001 prefix=b
	run -0 "$KBLAT" compare base --with new
	edit new/*/summary.json 'd["points"][1].update(valid=False, reasons=["lost"])'
	run -4 "$KBLAT" compare base --with new
	assert_contains "$output" "p50 decides, but was not compared at point 1"
	# In no arm: nobody asks.
	edit base/*/summary.json 'd["points"][1].update(valid=False, reasons=["lost"])'
	run -0 "$KBLAT" compare base --with new
	# A quantity that was asked for.
	run -0 "$KBLAT" compare base --with new --quantity p50 --quantity p99.9
	edit new/*/summary.json 'd["points"][0]["metrics"]["lat_ns"].update(p99_9=None)'
	run -4 "$KBLAT" compare base --with new --quantity p50 --quantity p99.9
	assert_contains "$output" "p99.9 decides, but was not compared at point 0"
}

# bats test_tags=long
@test "bad input: a clear message, exit status 2, no verdict" {
	boots base boots=4 runs=3
	boots new prefix=b boots=4 runs=3
	refused() {
		run -2 --separate-stderr "$KBLAT" compare base --with new
		assert_eq "$output" ""
		assert_contains "$stderr" "$1"
		rm -rf new
		boots new prefix=b boots=4 runs=3
	}
	edit new/b-1-0/resolved.json 'd["name"] = "another"'
	refused "a run of the experiment"
	edit new/*/summary.json 'd["points"][0]["params"]["size_bytes"] = 64'
	refused "no point in common: their settings differ, first in size 32B and 64B"
	edit new/b-0-2/summary.json 'm = d["points"][0]["metrics"]; m["lat_us"] = m.pop("lat_ns")'
	refused "different units"
	rm new/b-2-2/manifest-sha256.txt
	refused "not sealed"
	mv new/b-2-2 new/b-2-2.partial
	run -2 "$KBLAT" compare base --with new/b-2-2.partial
	assert_contains "$output" "not sealed"
	"$KBLAT" history new >said 2>err || [ $? -eq 4 ]
	assert_eq "$(cat err)" "kblat: new/b-2-2.partial: passed over: the run has not ended, or was killed"
	mv new/b-1-1 new/b-1-1.partial
	run --separate-stderr "$KBLAT" compare base --with new
	assert_contains "$stderr" "new/b-1-1.partial (and 1 more): passed over"
	[[ $status != 2 && -n $output ]]
	rm -r new
	boots new prefix=b boots=4 runs=3
	sed -i 's/"p50": /"p50": 1/' new/b-3-1/summary.json
	refused "summary.json: it was changed since the run was sealed"
	sed -i '/state.json/d' new/b-3-1/manifest-sha256.txt
	refused "manifest does not list"
	sed -i 's/"quiet/x/' new/b-3-1/state/*/before/state.json && printf ' ' >>new/b-3-1/run.json
	refused "changed since"
	rm new/b-0-0/state/*/before/state.json
	refused "state.json"
	edit new/b-0-0/summary.json 'd["schema"] = 2'
	refused "from a newer kblat"
	edit new/b-0-0/run.json 'next(iter(d["hosts"].values())).pop("boot_id")'
	refused "does not say which boot"
	cp -r base/a-0-0 new/copy
	refused "is given twice"
	rm -r new && mkdir new
	refused "not a run directory"
}

@test "wrong usage is reported" {
	boots base boots=1 runs=1
	run -2 "$KBLAT" compare base
	assert_contains "$output" "expected the other runs after --with"
	run -2 "$KBLAT" compare base --with
	assert_contains "$output" "too few arguments"
	run -2 "$KBLAT" compare base --with nothing
	assert_contains "$output" "no directory of this name"
	run -2 "$KBLAT" compare base --with base --quantity p75
	assert_contains "$output" "must be one of p50"
	run -2 "$KBLAT" compare base --with base --margin none
	assert_contains "$output" "must be a percentage above 0 and at most 100"
	run -2 "$KBLAT" compare base --aa --with base
	assert_contains "$output" "omit --with"
	run -0 "$KBLAT" compare --help
	assert_contains "$output" "Exit status: 0 no regression; 3 a regression; 4 undecided"
}

@test "--ignore joins points that differ in a setting" {
	boots base
	boots new prefix=b slower=0.1
	edit new/*/summary.json 'd["points"][0]["params"]["poll"] = "event"'
	run -2 "$KBLAT" compare base --with new
	assert_contains "$output" "first in poll busy and event; use --ignore for settings that need not agree"
	run -3 "$KBLAT" compare base --with new --ignore poll
}

@test "a setting that older runs do not have counts as its current default" {
	local old=$ROOT/tests/runs/1.0.0/made/quickstart
	measures "$KBLAT" run "$old/spec.yaml" --only transport=shmem --set messages=100 --set warmup=0 --reps 1 --out runs
	SOURCE_RUN=$old boots base boots=4
	SOURCE_RUN=$(echo runs/quickstart-*) boots new boots=4 prefix=b slower=0.2
	run -3 "$KBLAT" compare base --with new --quantity p50 --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["verdict"], len(d["points"]), d["points"][0]["params"]["fresh"]')" "('regression', 2, False)"
	edit new/*/summary.json '[p["params"].update(fresh=True) for p in d["points"]]'
	run -2 "$KBLAT" compare base --with new
	assert_contains "$output" "first in fresh no and yes; use --ignore for settings that need not agree"
}

@test "differences of the machine's state are listed with the verdict" {
	boots base boots=4 runs=3
	boots new prefix=b boots=4 runs=3 kernel=6.1.0-56-amd64
	edit {base,new}/*/state/*/before/state.json 'd["keys"]["clock.source"] = "tsc"'
	run "$KBLAT" compare base --with new
	if [[ $output == *"Besides what is under test"* ]]; then
		return 1
	fi
	edit new/*/state/*/before/state.json 'd["keys"]["clock.source"] = "hpet"'
	edit "$(echo base/a-2-1/state/*/before/state.json)" 'd["keys"]["clock.source"] = "hpet"'
	run "$KBLAT" compare base --with new
	assert_contains "$output" "Besides what is under test, the machine's state differs in 1 key"
	assert_contains "$output" "clock.source: tsc -> hpet (12 of 12 runs of NEW, 1 of 12 runs of BASE): "
	edit "$(echo base/a-2-2/state/*/before/state.json)" 'd["keys"]["identity.cmdline"] = "mitigations=off"'
	run "$KBLAT" compare base --with new --varying clock --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json 'd["state_fatal"]')" 1
	run -2 "$KBLAT" compare base --with new --varying nonsense
}

@test "for lists in the machine's state only the words that differ are shown" {
	boots base boots=4
	boots new prefix=b boots=4
	edit base/*/state/*/before/state.json 'd["keys"]["scheduling.features"] = "GENTLE TTWU_QUEUE NO_HRTICK SIS_UTIL PLACE_LAG"'
	edit new/*/state/*/before/state.json 'd["keys"]["scheduling.features"] = "GENTLE NO_TTWU_QUEUE NO_HRTICK SIS_UTIL PLACE_LAG PREEMPT_LAZY"'
	run "$KBLAT" compare base --with new
	assert_contains "$output" "  scheduling.features: -TTWU_QUEUE +NO_TTWU_QUEUE +PREEMPT_LAZY (4 of 4 runs of NEW)"
	run "$KBLAT" compare base --with new --json
	printf '%s' "$output" >result.json
	assert_eq "$(json result.json '[(s["removed"], s["added"]) for s in d["state"] if s["key"] == "scheduling.features"]')" \
		"[(['TTWU_QUEUE'], ['NO_TTWU_QUEUE', 'PREEMPT_LAZY'])]"
}

@test "boots are given in order of time with their runs, as numbers and as a figure" {
	boots base boots=4 runs=3
	boots new prefix=bb boots=4 runs=3 start=6 slower=0.05
	run "$KBLAT" compare base --with new --out page --json
	assert_eq "$(json page/compare.json '[u["arm"] for u in d["points"][0]["units"]]')" \
		"['BASE', 'BASE', 'BASE', 'NEW', 'BASE', 'NEW', 'NEW', 'NEW']"
	assert_eq "$(json page/compare.json 'all(len(u["runs"]) == 3 and min(u["runs"]) <= u["value"] <= max(u["runs"]) for u in d["points"][0]["units"])')" True
	assert_eq "$(awk 'NR > 1' page/figures/boots-0000.tsv | wc -l)" 24
	[ -s page/figures/boots-0000.svg ]
	grep -q 'In order of time' page/report.html
}

@test "--aa compares one arm with itself" {
	boots base boots=10
	run -0 "$KBLAT" compare base --aa
	assert_contains "$output" "Noise floor"
	assert_contains "${lines[-1]}" "of 400 splits give a false alarm"
	run -4 "$KBLAT" compare base/a-0* base/a-1* --aa
	assert_contains "${lines[-1]}" "splitting needs at least 8"
	boots drift boots=5 prefix=a
	boots drift boots=5 prefix=zz slower=0.2 start=100
	run -3 "$KBLAT" compare drift --aa
	assert_contains "${lines[-1]}" "drift: "
}

@test "a page of several runs is readable only by users who may read all of the runs" {
	umask 022
	boots base boots=4
	boots new boots=4 prefix=b
	chmod -R go+rX base new
	"$KBLAT" compare base --with new --out public >/dev/null || [ $? -eq 4 ]
	"$KBLAT" history base --out public-history >/dev/null
	assert_eq "$(find public public-history -type f ! -perm 644)" ""
	grep -q figures public/report.html
	states=(new/*/state/*/before/state.json)
	chmod 600 "${states[0]}"
	"$KBLAT" compare base --with new --out private >/dev/null || [ $? -eq 4 ]
	"$KBLAT" history new --out private-history >/dev/null
	[ -s private/report.html ]
	[ -s private-history/figures/figures.gp ]
	assert_eq "$(find private private-history -perm /077)" ""
}

@test "--out writes a page, its numbers and shift functions, and nothing into the runs" {
	boots base
	boots new prefix=b slower=0.05
	find base new -type f -exec sha256sum {} + | sort >before
	run -3 "$KBLAT" compare base --with new --out page
	assert_eq "${lines[-1]}" page/report.html
	find base new -type f -exec sha256sum {} + | sort | cmp - before
	assert_eq "$(json page/compare.json 'd["verdict"]')" regression
	grep -q '<strong>regression</strong>' page/report.html
	grep -q '<script type="application/json">{"kind":' page/report.html
	for kind in svg pdf tsv; do
		[ -s page/figures/shift-0000.$kind ]
	done
	assert_eq "$(awk -F'\t' '$5 == 0.5 { print ($3 > 0 && $4 > $2 && $2 > 3 && $2 < 7) }' page/figures/shift-0000.tsv)" 1
	run -2 "$KBLAT" compare base --with new --out page
	assert_contains "$output" "not empty"
	printf ' ' >>base/a-0-0/points/0000/rep-00/data.json
	run -2 "$KBLAT" compare base --with new --out other
	assert_contains "$output" "changed since"
}

@test "raw columns are never read" {
	boots base boots=4
	find base -name '*.npy' | (! grep .)
	run "$KBLAT" compare base --aa
	[ "$status" -ne 2 ]
}

# bats test_tags=long
@test "the check after each boot measures, makes the baseline, then compares" {
	state_of_this_machine
	local check=$ROOT/docs/systemd/kernel-check
	spec scripted <<<'settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200, repetitions: 2}'
	printf 'SPEC=%q STORE=%q BASELINE=%q KBLAT=%q RUNS=2\n' "$T/scripted.yaml" "$T/store" "$(uname -r)" "$KBLAT" >conf
	run -0 "$check" conf
	assert_contains "${lines[-1]}" "$(uname -r) is the baseline"
	assert_eq "$(find "$T/store/$(uname -r)" -mindepth 1 -maxdepth 1 | wc -l)" 2
	boots "$T/store/6.1.0-50-amd64"
	sed -i 's/BASELINE=[^ ]*/BASELINE=6.1.0-50-amd64/' conf
	run -4 "$check" conf
	assert_contains "${lines[-1]}" "8 boots of BASE and 1 of NEW"
	assert_eq "$(find "$T/store/$(uname -r)" -mindepth 1 -maxdepth 1 | wc -l)" 4
	# The newest KEEP runs stay, whatever the experiment is called, and what is no run is left alone.
	at="$T/store/$(uname -r)"
	newest=$(find "$at" -mindepth 1 -maxdepth 1 | sort | tail -n 1)
	mkdir "$at/my-notes" "$at/zz-20200101T000000Z-01234567" "$at/aa-20990101T000000Z-01234567.partial"
	echo RUNS=0 KEEP=2 >>conf
	run "$check" conf
	assert_eq "$(find "$at" -mindepth 1 -maxdepth 1 | sort)" "$(printf '%s\n' "$at/aa-20990101T000000Z-01234567.partial" "$at/my-notes" "$newest")"
	echo KEEP=all >>conf
	run -2 "$check" conf
	assert_contains "$output" "KEEP must be a number of runs, not 'all'"
	echo >conf
	run "$check" conf
	assert_contains "$output" "SPEC is not set"
}
