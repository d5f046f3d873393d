#!/usr/bin/env bats
# Verdicts in the formats of test labs, read by programs that are not ours, and their exit statuses.

load helper
load boots_helper
bats_require_minimum_version 1.5.0

# arms: BASE, one that is slower, one that is the same; the latter with a p99.9 that is undecided against 1 %.
arms() {
	boots base between=0.003 within=0.003
	boots slower prefix=b between=0.003 within=0.003 kernel=6.1.0-56-amd64 slower=0.1
	boots same prefix=c between=0.003 within=0.003 kernel=6.1.0-56-amd64
}

# in_format FORMAT NEW OPTION…: what compare prints, in the file `out`; sets status.
in_format() {
	local format=$1 new=$2
	shift 2
	status=0
	"$KBLAT" compare base --with "$new" --margin p99.9=1 --format "$format" "$@" >out || status=$?
}

# as_read FORMAT NAME…: what the readers of that format find in `out` of the tests with these names.
as_read() {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/format_readers.py" "$1" out "${@:2}" | sed 's/ $//'
}

# consumer PART…: programs of others, or skip.
consumer() {
	"$ROOT/tests/consumers" "$@" >consumers 2>&1 || skip "$(tail -n 1 consumers)"
}

# What each of the formats says of a test in a situation.
situations() {
	cat <<-'END'
		situation   name      ktap tap  junit   lava kcidb tmt
		regression  p50       fail fail failure fail FAIL  fail
		regression  p99.9     fail fail failure fail FAIL  fail
		regression  overall   fail fail failure fail FAIL  fail
		undecided   p50       pass pass passed  pass PASS  pass
		undecided   p99.9     skip skip skipped skip DONE  error
		undecided   overall   skip skip skipped skip DONE  error
		none        p50       pass pass passed  pass PASS  pass
		none        p99.9     skip skip skipped skip DONE  info
		none        overall   pass pass passed  pass PASS  pass
		not-valid   point-0   pass pass passed  pass PASS  pass
		not-valid   point-1   fail fail failure fail FAIL  fail
		not-valid   overall   fail fail failure fail FAIL  fail
		broken      point-0   fail fail error   fail ERROR error
		broken      overall   fail fail error   fail ERROR error
		impossible  point-0   skip skip skipped skip SKIP  skip
		impossible  overall   skip skip skipped skip SKIP  skip
		claims      holds     pass pass passed  pass PASS  pass
		claims      fails     fail fail failure fail FAIL  fail
		claims      unjudged  skip skip skipped skip DONE  info
		claims      overall   fail fail failure fail FAIL  fail
		hold        holds     pass pass passed  pass PASS  pass
		hold        overall   pass pass passed  pass PASS  pass
	END
}

# odd_claims FILE FAILS: a spec whose texts have whatever is a separator, a control or no letter in one of the formats.
odd_claims() {
	/usr/bin/python3 - "$@" <<-'PY'
		import sys, yaml
		odd = "\U0001F600 # SKIP \u2028ok 9 - forged\u0085\x7f\u202e]]> <a b='c\"> & %s \\ {x}: - |\ufffd\U0001FFFE\uffff \u0301\t= RESULT=pass>"
		claim = {"metric": "lat_ns.p50", "points": {"size": "32B"}}
		claims = [{"id": "holds", "claim": odd, "value": {"max": "1s"}, **claim}]
		if sys.argv[2] == "yes":
		    claims += [{"id": "fails", "claim": odd * 6, "value": {"min": "1s"}, **claim},
		               {"id": "unjudged", "claim": odd, "value": {"max": "1s"}, **claim, "metric": "lat_ns.p99_99"}]
		yaml.SafeDumper.ignore_aliases = lambda *_: True
		text = yaml.safe_dump({"kblat": 1, "name": "odd", "settings": {"kernel": "oneway", "transport": "scripted", "messages": 100, "repetitions": 2, "size": "32B"},
		                  "claims": claims}, allow_unicode=False)
		open(sys.argv[1], "w").write(text)
	PY
}

# in_situation SITUATION FORMAT: prints it, in the file `out`; sets status.
in_situation() {
	status=0
	case $1 in
	regression) in_format "$2" slower ;;
	undecided) in_format "$2" same ;;
	none) in_format "$2" same --judge p50 ;;
	claims | hold) "$KBLAT" claims "$1"/* --format "$2" >out || status=$? ;;
	*) "$KBLAT" run "$1.yaml" --out runs --quiet --format "$2" >out 2>err || status=$? ;;
	esac
}

@test "every format, in every situation, by the rules of those who read it: regression, undecided, none, not valid, broken, impossible, claims, odd texts" {
	arms
	spec not-valid <<-'YAML'
		settings: {kernel: rate, transport: scripted, rate: 100kHz, messages: 1000, repetitions: 1, warmup: 0, delay: 1us, stall: 5, stall_by: 25us}
		matrix: [{missed_limit: [100%, 0.1%]}]
	YAML
	spec broken <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 1000, repetitions: 1, fault: die, fault_at: 10}
	YAML
	spec impossible <<-'YAML'
		settings: {kernel: oneway, transport: verbs, device: nothere0, messages: 10}
	YAML
	odd_claims claims.yaml yes
	odd_claims hold.yaml no
	run -3 "$KBLAT" run claims.yaml --out claims --quiet
	run -0 "$KBLAT" run hold.yaml --out hold --quiet
	local -A statuses=([regression]=3 [undecided]=4 [none]=0 [not-valid]=3 [broken]=1 [impossible]=77 [claims]=3 [hold]=0)
	local -a formats line row names
	local situation format i
	read -ra formats < <(situations)
	for i in "${!formats[@]}"; do
		[ "$i" -ge 2 ] || continue
		format=${formats[i]}
		for situation in regression undecided none not-valid broken impossible claims hold; do
			in_situation $situation "$format"
			assert_eq "$situation: $status" "$situation: ${statuses[$situation]}"
			names=() row=()
			while read -ra line; do
				[ "${line[0]}" = $situation ] || continue
				names+=("${line[1]}")
				row+=("${line[i]}")
			done < <(situations)
			assert_eq "$format, $situation: $(as_read "$format" "${names[@]}")" "$format, $situation: ${row[*]}"
		done
	done
}

@test "junit: read by junitparser, an undecided quantity is skipped, a regression is a failure" {
	arms
	results() {
		/usr/bin/python3 - <<-'PY'
			import junitparser
			xml = junitparser.JUnitXml.fromfile("out")
			for suite in xml:
			    cases = {c.name: [type(r).__name__ for r in c.result] for c in suite}
			    print(suite.name, suite.tests == len(cases), suite.failures, suite.skipped, suite.errors, cases["p50"], cases["p99.9"], cases["overall"])
		PY
	}
	in_format junit slower
	assert_eq "$status $(results)" "3 scripted True 5 1 0 ['Failure'] ['Failure'] ['Failure']"
	in_format junit same
	assert_eq "$status $(results)" "4 scripted True 0 3 0 [] ['Skipped'] ['Skipped']"
	in_format junit same --judge p50
	assert_eq "$status $(results)" "0 scripted True 0 2 0 [] ['Skipped'] []"
}

@test "tap: read by tappy, with every test that was planned" {
	arms
	results() {
		# Its first lines are a warning.
		/usr/bin/python3 - <<-'PY' | tail -n 1
			from tap.parser import Parser
			lines = list(Parser().parse_file("out"))
			tests = [t for t in lines if t.category == "test"]
			plan = [t for t in lines if t.category == "plan"][0]
			print(plan.expected_tests == len(tests), any(t.category == "unknown" for t in lines),
			      {t.description[2:].split()[-1]: "skip" if t.skip else t.ok for t in tests if "p50" in t.description or "p99.9" in t.description or "overall" in t.description})
		PY
	}
	in_format tap slower
	assert_eq "$(results)" "True False {'p50': False, 'p99.9': False, 'overall': False}"
	in_format tap same
	assert_eq "$(results)" "True False {'p50': True, 'p99.9': 'skip', 'overall': 'skip'}"
}

@test "ktap: read by the kernel's own parser, nested by point" {
	consumer linux
	arms
	results() {
		# It also prints what it reads.
		PYTHONPATH=$ROOT/build/consumers/linux /usr/bin/python3 - <<-'PY' | tail -n 1
			import kunit_parser
			all = kunit_parser.parse_run_tests(open("out").read().splitlines())
			point, overall = all.subtests
			print(all.status.name, all.counts.errors, point.name, [(t.name, t.status.name) for t in point.subtests if t.name in ("p50", "p99.9")], overall.status.name)
		PY
	}
	in_format ktap slower
	assert_eq "$(results)" "FAILURE 0 point 0 [('p50', 'FAILURE'), ('p99.9', 'FAILURE')] FAILURE"
	in_format ktap same
	assert_eq "$(results)" "SUCCESS 0 point 0 [('p50', 'SUCCESS'), ('p99.9', 'SKIPPED')] SKIPPED"
}

@test "lava: signals that its dispatcher takes, with measurements and units" {
	consumer lava
	arms
	results() {
		/usr/bin/python3 - "$ROOT/build/consumers/lava/usr/lib/python3/dist-packages/lava_dispatcher/actions/test/shell.py" <<-'PY'
			import ast, decimal, re, sys
			text = open(sys.argv[1]).read()
			signal = re.search(r'"signal": r"(.*?)",', text).group(1)
			handler = next(n for n in ast.parse(text).body if getattr(n, "name", "") == "handle_testcase")
			space = {"JobError": ValueError}
			exec(compile(ast.Module([handler], []), "lava", "exec"), space)
			said = open("out").read()
			cases = [space["handle_testcase"](m.group(2).split()) for m in re.finditer(signal, said)]
			assert len(cases) == len(said.splitlines()) and {m.group(1) for m in re.finditer(signal, said)} == {"TESTCASE"}
			for c in cases:
			    if c["test_case_id"].endswith((".p50", ".p99.9", ".overall")):
			        print(c["test_case_id"], c["result"], c.get("units"), round(float(decimal.Decimal(c.get("measurement", "0")))) > 900)
		PY
	}
	in_format lava slower
	assert_eq "$(results)" "scripted.point-0.p50 fail ns True
scripted.point-0.p99.9 fail ns True
scripted.overall fail None False"
	in_format lava same
	assert_eq "$(results | cut -d' ' -f 1,2)" "scripted.point-0.p50 pass
scripted.point-0.p99.9 skip
scripted.overall skip"
}

@test "kcidb: numbers are in seconds, and tests belong to the build of the kernel" {
	arms
	results() {
		as_read kcidb p50 p99.9 overall
		/usr/bin/python3 - <<-'PY'
			import json
			(p50,) = [t for t in json.load(open("out"))["tests"] if t["path"].endswith("p50")]
			print(p50["build_id"], 9e-7 < p50["number"]["value"] < 2e-6, p50["number"]["unit"])
		PY
	}
	in_format kcidb slower
	assert_eq "$(results)" "FAIL FAIL FAIL
kblat:6.1.0-56-amd64 True s"
	in_format kcidb same
	assert_eq "$(results)" "PASS DONE DONE
kblat:6.1.0-56-amd64 True s"
}

@test "tmt: results.yaml, in which what is undecided is an error and what does not decide an information" {
	arms
	results() {
		/usr/bin/python3 -c '
import yaml
d = {r["name"]: r["result"] for r in yaml.safe_load(open("out"))}
print(d["/point-0/p50"], d["/point-0/p99.9"], d["/overall"])'
	}
	in_format tmt slower
	assert_eq "$(results)" "fail fail fail"
	in_format tmt same
	assert_eq "$(results)" "pass error error"
	in_format tmt same --judge p50
	assert_eq "$(results)" "pass info pass"
}

# by_tmt: the notes of `out`, as tmt 1.41 to 1.60 read it.
by_tmt() {
	as_read tmt
	/usr/bin/python3 -c 'import yaml; print([n for r in yaml.safe_load(open("out")) for n in r["note"]])'
}

@test "tmt: notes are lists of texts, whatever these are, and of a number is none" {
	arms
	in_format tmt slower
	assert_contains "$(by_tmt)" "NEW "
	for text in $'\U1F600 fast' $'a\x7fb' $'1.5' 'yes' $'- a: b\t# c' $'\u0085\u2028x' "it's \\"; do
		write_claim "$text"
		"$KBLAT" claims claimed/* --format tmt >out
		by_tmt >notes
		assert_contains "$(cat notes)" "measured: "
	done
}

# write_claim TEXT: the run claimed/one makes this claim, that p50 is below 1 s, and one of a ratio.
write_claim() {
	rm -rf claimed
	TEXT=$1 /usr/bin/python3 - >c.yaml <<-'PY'
		import os, yaml
		claims = [{"id": "one", "claim": os.environ["TEXT"], "metric": "lat_ns.p50", "points": {"size": "32B"}, "value": {"max": "1s"}},
		          {"id": "two", "claim": "ratio", "metric": "lat_ns.p50", "points": {"size": "32B"}, "against": {"size": "64B"}, "ratio": {"max": 9}}]
		print(yaml.dump({"kblat": 1, "name": "claims", "settings": {"kernel": "oneway", "transport": "scripted", "messages": 100, "repetitions": 2},
		                  "matrix": [{"size": "32B"}, {"size": "64B"}], "claims": claims}, allow_unicode=True))
	PY
	"$KBLAT" run c.yaml --out claimed >/dev/null
}

@test "a claim has its unit in LAVA and KCIDB; two runs have two ids, and the kernel that was captured" {
	"$ROOT/tests/sysroots/machine" unpack two-cpus machine
	echo 6.1.0-99 >machine/proc/sys/kernel/osrelease
	export KBLAT_SYSROOT=$T/machine
	write_claim fast
	"$KBLAT" claims claimed/* --format lava >out
	grep -q 'TEST_CASE_ID=claims.claims.one RESULT=pass UNITS=ns MEASUREMENT=[1-9]' out
	grep -q 'TEST_CASE_ID=claims.claims.two RESULT=pass UNITS=1 MEASUREMENT=[0-9]' out
	"$KBLAT" claims claimed/* --format kcidb >first
	"$KBLAT" claims claimed/* --format kcidb >again
	cmp first again
	"$KBLAT" run c.yaml --out other --format kcidb >third
	write_claim fast
	"$KBLAT" claims claimed/* --format kcidb >second
	/usr/bin/python3 - <<-'PY'
		import json
		d = {n: json.load(open(n))["tests"] for n in ("first", "second", "third")}
		ids = [t["id"] for n in d for t in d[n]]
		assert len(set(ids)) == len(ids) and not [i for i in ids if "/" in i], ids
		assert {t["build_id"] for n in d for t in d[n]} == {"kblat:6.1.0-99"}, d
		one = d["first"][0]["number"]
		assert one["unit"] == "s" and 0 < one["value"] < 1e-3, one
		assert "unit" not in d["first"][1]["number"]
	PY
}

@test "two comparisons of the same new runs have two ids; a study's have no path" {
	arms
	boots other prefix=o between=0.003 within=0.003
	in_format kcidb same
	mv out one
	"$KBLAT" compare other --with same --format kcidb >two || [ $? -eq 4 ]
	mkdir -p e/a
	printf 'kblat: 1\nname: a\nsettings: {kernel: oneway, transport: scripted, messages: 100}\nclaims: [{id: c, claim: c, metric: lat_ns.p50, points: {size: 32B}, value: {max: 1s}}]\n' >e/a/spec.yaml
	"$KBLAT" run e --out studies --no-state --format kcidb >three
	/usr/bin/python3 - <<-'PY'
		import json
		ids = [t["id"] for n in ("one", "two", "three") for t in json.load(open(n))["tests"]]
		assert len(set(ids)) == len(ids) and not [i for i in ids if "/" in i], ids
	PY
}

@test "an interval that has no end is unbounded in every format, in the table and on the page" {
	boots base boots=4 between=0.003 within=0.003
	boots slower prefix=b boots=4 between=0.003 within=0.003 kernel=6.1.0-56-amd64 slower=0.1
	local format
	for format in ktap tap junit kcidb tmt; do
		in_format $format slower --alpha 1
		assert_eq "$status" 4
		assert_contains "$(cat out)" "interval unbounded to unbounded"
		[[ $(as_read $format p50) =~ ^(skip|skipped|DONE|error)$ ]]
	done
	in_format lava slower --alpha 1
	run -4 "$KBLAT" compare base --with slower --alpha 1 --out page
	[[ $output =~ unbounded\ +unbounded ]]
	assert_contains "$output" "about 5 boots in each arm would show a change" # of 4 boots one relabelling of 70 is more than 0.8 %
	run grep -hiE '[+-]nan|>nan|>[+-]?inf|>\?<' out page/report.html
	assert_eq "$output" ""
	grep -q '<td class="n">unbounded</td>' page/report.html
}

@test "in a folder whose name is not UTF-8 every format can be read" {
	odd_claims odd.yaml no
	local format out=$'o\xffut'
	for format in ktap tap junit lava kcidb tmt; do
		"$KBLAT" run odd.yaml --out "$out" --quiet --format $format >out 2>err
		assert_eq "$format: $(as_read $format overall)" "$format: $(case $format in kcidb) echo PASS ;; junit) echo passed ;; *) echo pass ;; esac)"
	done
}

@test "ktap and tap: a point whose deciding quantities are undecided is nowhere a pass; what is impossible is not undecided" {
	arms
	in_format ktap same --judge p99.9
	grep -q '^ok 1 point 0 # SKIP undecided' out
	in_format ktap same --judge p50
	grep -qx 'ok 1 point 0' out
	printf 'kblat: 1\nname: nothing\nsettings: {kernel: oneway, transport: verbs, device: nothere0, messages: 10}\n' >v.yaml
	run -77 --separate-stderr "$KBLAT" run v.yaml --out runs --format ktap
	assert_contains "$output" "ok 1 points # SKIP not possible here"
	assert_contains "$output" "ok 2 overall # SKIP not possible here"
}

@test "--exit: no lab takes a regression for a skip, or an undecided comparison for a pass or a failure" {
	arms
	local whose slower undecided same wrong
	while read -r whose slower undecided same wrong; do
		run -"$slower" "$KBLAT" compare base --with slower --exit "$whose"
		run -"$undecided" "$KBLAT" compare base --with same --margin p99.9=1 --exit "$whose"
		run -"$same" "$KBLAT" compare base --with same --exit="$whose"
		run -"$wrong" "$KBLAT" compare base --with nothing-here --exit "$whose"
		run -"$wrong" "$KBLAT" compare base --no-such-option --exit "$whose"
	done <<-'END'
		kselftest 1 4 0 1
		tmt 1 2 0 2
		automake 1 77 0 99
		git-bisect 1 125 0 128
		default 3 4 0 2
	END
	run -2 "$KBLAT" compare base --with same --exit lava
	assert_contains "$output" "--exit: must be default, kselftest, tmt, automake or git-bisect, not 'lava'"
	run -2 "$KBLAT" compare base --with same --format xml
	assert_contains "$output" "--format: must be ktap, junit, lava, kcidb, tmt or tap, not 'xml'"
	run -2 "$KBLAT" compare base --with same --format tap --json
	run -2 "$KBLAT" compare base --aa --format tap
}

@test "no verdict without its output: a full disk, a closed standard output and a reader that is gone are failures, in every format" {
	need_feature SQLite
	[ -w /dev/full ] || skip "no /dev/full here"
	arms
	# A pipe whose reader is gone.
	mkfifo pipe
	exec {reader}<>pipe {gone}>pipe {reader}<&-
	# lost EXPECTED COMMAND…: its status if its output is lost in each of these ways.
	lost() {
		local expected=$1
		shift
		status=0
		"$KBLAT" "$@" >/dev/full 2>err || status=$?
		assert_eq "$* >/dev/full: $status" "$* >/dev/full: $expected"
		assert_contains "$(cat err)" "standard output: cannot write"
		status=0
		"$KBLAT" "$@" >&- 2>err || status=$?
		assert_eq "$* >&-: $status" "$* >&-: $expected"
		assert_contains "$(cat err)" "standard output: cannot write"
		status=0
		"$KBLAT" "$@" 1>&"$gone" 2>err || status=$?
		assert_eq "$* | true: $status" "$* | true: $expected"
		assert_eq "$(cat err)" ""
	}
	for new in same slower; do
		for format in ktap junit lava kcidb tmt tap; do
			lost 1 compare base --with "$new" --margin p99.9=1 --format "$format"
		done
		lost 1 compare base --with "$new" --margin p99.9=1
		lost 1 compare base --with "$new" --margin p99.9=1 --json
	done
	lost 1 compare base --with same --exit kselftest
	lost 2 compare base --with same --exit tmt
	lost 99 compare base --with same --exit automake
	lost 128 compare base --with same --exit git-bisect
	lost 128 compare base --with same --git-bisect
	lost 1 history base same
	lost 1 history base same --json
	lost 1 index base --json
	set -- base/*
	lost 1 summary "$1"
	lost 1 summary "$1" --json
	lost 1 claims "$1"
	lost 1 verify "$1"
	lost 1 export "$1" --csv
	lost 1 list
	lost 1 list --json
}

# job NAME: the code below that word of docs/labs.md, its blocks in files of their own: job.1, job.2, ….
job() {
	awk -v name="**$1**" 'index($0, "**") == 1 { on = index($0, name) == 1; n = 0 }
		/^```/ { inside = !inside; n += inside; next } on && inside { print >("job." n) }' "$ROOT/docs/labs.md"
}

# measured ARM: what a job finds that compares with base; it measures nothing itself, and a claim fails.
measured() {
	mkdir -p bin upgraded
	rm -rf baseline upgraded
	ln -s base baseline
	ln -s "$1" upgraded
	cat >bin/kblat <<-END
		#!/bin/sh
		[ "\$1" != run ] || { "$KBLAT" run "\$2" --quick --dry-run >/dev/null && exit 3; exit 2; }
		exec "$KBLAT" "\$@"
	END
	chmod 755 bin/kblat
	PATH=$PWD/bin:$PATH
}

@test "the jobs of docs/labs.md: kselftest runs it, and shows a regression, none, and an undecided comparison" {
	consumer linux
	arms
	boots few prefix=d boots=3 kernel=6.1.0-56-amd64
	mkdir -p tree/tools/testing
	cp -r "$ROOT/build/consumers/linux/selftests" tree/tools/testing
	mkdir tree/tools/testing/selftests/kblat
	job kselftest
	for n in 1 2 3; do
		sed "s|/var/lib/kblat|$PWD|g" job.$n >"tree/$(sed -n '1s/^# *//p; 2s/^# *//p' job.$n | grep ^tools)"
	done
	chmod 755 tree/tools/testing/selftests/kblat/kblat.sh
	grep -q '^timeout=[1-9][0-9][0-9]' tree/tools/testing/selftests/kblat/settings
	for arm in same:"ok 1 selftests: kblat: kblat.sh" slower:"not ok 1 selftests: kblat: kblat.sh # exit=1" few:"ok 1 selftests: kblat: kblat.sh # SKIP"; do
		measured "${arm%%:*}"
		run -0 env -u MAKELEVEL make -s -C tree/tools/testing/selftests/kblat run_tests
		assert_eq "${lines[-1]}" "${arm#*:}"
		assert_contains "$output" "# KTAP version 1"
	done
}

@test "the jobs of docs/labs.md: openQA shows a regression, none, what is undecided as skipped, and no comparison as failed" {
	perl -MTAP::Parser -e 1 2>/dev/null || skip "not there: perl's TAP::Parser"
	arms
	boots few prefix=d boots=3 kernel=6.1.0-56-amd64
	job openQA
	local arm
	for arm in same:passed slower:fail few:skip none:fail; do
		measured "${arm%%:*}"
		[ "$arm" != none:fail ] || rm upgraded
		bash -c "$(<job.1)" >wrapped 2>err
		run -0 "$BATS_TEST_DIRNAME/openqa_reader.pl" wrapped
		assert_contains "$output" "kblat: compare: ${arm#*:}, "
		[ "${#lines[@]}" -eq 1 ]
	done
}

@test "the jobs of docs/labs.md: LAVA and tmt run what they have" {
	arms
	local arm status tmt verdict
	for arm in same:0:pass slower:1:fail; do
		IFS=: read -r arm tmt verdict <<<"$arm"
		measured "$arm"
		job LAVA
		/usr/bin/python3 -c 'import yaml; print("\n".join(yaml.safe_load(open("job.1"))["run"]["steps"]))' >steps
		run -0 sh -e steps
		assert_contains "$output" "TEST_CASE_ID=scripted.overall RESULT=$verdict"
		job tmt
		/usr/bin/python3 -c 'import yaml; d = yaml.safe_load(open("job.1")); assert d["result"] == "custom"; print(d["test"])' >steps
		status=0
		TMT_TEST_DATA=$PWD sh -e steps || status=$?
		assert_eq "$status" "$tmt"
		assert_eq "$(/usr/bin/python3 -c 'import yaml; print([r["result"] for r in yaml.safe_load(open("results.yaml")) if r["name"] == "/overall"])')" "['$verdict']"
	done
}

@test "the jobs of docs/labs.md: LAVA's own schema of test definitions takes that for LAVA" {
	consumer lava
	job LAVA
	PYTHONPATH=$ROOT/build/consumers/lava/usr/lib/python3/dist-packages /usr/bin/python3 - <<-'PY'
		import yaml
		from lava_common.schemas.test import testdef
		testdef.validate(yaml.safe_load(open("job.1")))
	PY
}

@test "the jobs of docs/labs.md: gitlab-ci-local takes that for GitLab by GitLab's schema, and runs it: passed, failed, a warning" {
	[ -d "$ROOT/build/consumers/gitlab" ] || skip "gitlab-ci-local is not Debian's: tests/consumers gets it from npm"
	command -v node >/dev/null || skip "not there: node"
	arms
	boots few prefix=d boots=3 kernel=6.1.0-56-amd64
	job GitLab
	mv job.1 .gitlab-ci.yml
	git init -q .
	git remote add origin git@gitlab.example:group/kblat.git
	git -c user.name=k -c user.email=k@example.com commit -q --allow-empty -m kblat
	# It copies the tree with rsync.
	PATH=$ROOT/build/consumers/gitlab/usr/bin:$PATH
	for arm in same:PASS slower:FAIL few:WARN; do
		measured "${arm%%:*}"
		rm -f kblat.xml
		HOME=$PWD NO_COLOR=1 LD_LIBRARY_PATH=$(echo "$ROOT"/build/consumers/gitlab/usr/lib/*-linux-gnu) \
			node "$ROOT/build/consumers/gitlab/node_modules/gitlab-ci-local/src/index.js" latency >out 2>&1 || true
		grep -q 'json schema validated' out || { cat out && return 1; }
		assert_eq "$(grep -oE '^ (PASS|FAIL|WARN) ' out)" " ${arm#*:} "
		grep -q '<testcase' kblat.xml
	done
}

@test "the jobs of docs/labs.md: Jenkins's language takes that for Jenkins; its steps are played" {
	local java
	consumer groovy
	if ! java=$(command -v java); then
		consumer java
		java=$(compgen -G "$ROOT/build/consumers/java/usr/lib/jvm/*/bin/java" | head -n 1)
	fi
	arms
	boots few prefix=d boots=3 kernel=6.1.0-56-amd64
	job Jenkins
	cat >play.groovy <<-'END'
		def result = 'SUCCESS', words = new Binding()
		def shell = { script -> new ProcessBuilder('sh', '-xe', '-c', script).inheritIO().start().waitFor() }
		words.stage = { name, body -> body() }
		words.steps = words.script = { body -> body() }
		words.sh = { what ->
			def status = shell(what instanceof Map ? what.script : what)
			if (what instanceof Map && what.returnStatus) return status
			if (status) throw new RuntimeException("sh: ${status}")
		}
		words.junit = { file -> assert new File(file).text.contains('<testcase') }
		words.unstable = { why -> result = 'UNSTABLE' }
		words.error = { why -> throw new RuntimeException(why as String) }
		try { new GroovyShell(words).evaluate(new File('job.1')) } catch (RuntimeException e) { result = "FAILURE ${e.message}" }
		println result
	END
	local jars
	jars=$(printf '%s:' "$ROOT"/build/consumers/groovy/usr/share/java/{groovy,asm*,antlr}.jar)
	for arm in same:SUCCESS slower:"FAILURE kblat compare: 3" few:UNSTABLE; do
		measured "${arm%%:*}"
		run -0 --separate-stderr "$java" -cp "$jars" groovy.ui.GroovyMain play.groovy
		assert_eq "${lines[-1]}" "${arm#*:}"
	done
}

@test "run and claims: a point that is not valid fails, and so does a claim; one that is not judged is skipped" {
	cat >c.yaml <<-'YAML'
		kblat: 1
		name: claims
		settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200}
		claims:
		  - {id: quick, claim: "Fast & <safe>", metric: lat_ns.p50, points: {kernel: oneway}, value: {max: 1s}}
		  - {id: slow, claim: "It # takes long", metric: lat_ns.p50, points: {kernel: oneway}, value: {min: 1s}}
		  - {id: tail, claim: "Needs more messages", metric: lat_ns.p99_9, points: {kernel: oneway}, value: {max: 1s}}
	YAML
	run -1 --separate-stderr "$KBLAT" run c.yaml --out runs --format ktap --exit kselftest
	assert_contains "$output" "ok 1 point 0"
	assert_contains "$output" "ok 1 quick"
	assert_contains "$output" "not ok 2 slow"
	assert_contains "$output" "# SKIP undecided"
	assert_eq "${lines[0]} ${lines[-1]}" "KTAP version 1 not ok 3 overall"
	[ -d "${stderr_lines[-1]}" ]
	run -1 "$KBLAT" claims "${stderr_lines[-1]}" --format tap --exit automake
	assert_contains "$output" "# quick: Fast & <safe>"
	assert_contains "$output" "# slow: It = takes long"
	run -3 "$KBLAT" claims runs/* --format junit
	printf '%s' "$output" >out
	assert_eq "$(/usr/bin/python3 -c 'import junitparser; print([(c.name, [type(r).__name__ for r in c.result]) for s in junitparser.JUnitXml.fromfile("out") for c in s])')" \
		"[('quick', []), ('slow', ['Failure']), ('tail', ['Skipped']), ('overall', ['Failure'])]"
	run -2 "$KBLAT" summary runs/* --format tap
}

@test "run --hosts: each pair and each host is a test, and nothing else is on standard output" {
	printf 'kblat: 1\nname: s\nsettings: {kernel: oneway, transport: scripted, messages: 500, warmup: 0, repetitions: 1}\n' >s.yaml
	run -0 --separate-stderr "$KBLAT" run s.yaml --hosts n1,n2 --out runs --source env --sink env --format junit --exit kselftest
	printf '%s' "$output" >out
	assert_eq "$(/usr/bin/python3 -c 'import junitparser; print(sorted((c.classname, c.name) for s in junitparser.JUnitXml.fromfile("out") for c in s if c.classname != "pairs"))')" \
		"[('hosts', 'n1'), ('hosts', 'n2'), ('s', 'overall')]"
	assert_eq "$(grep -c 'classname="pairs"' out)" 1
	[ -d "${stderr_lines[-1]}" ]
}
