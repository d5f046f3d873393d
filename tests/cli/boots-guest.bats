#!/usr/bin/env bats
# kblat boots --loader guest without a guest: no kernel is booted, and the runs are simulated (fake_guest, boots.py).

load helper
load boots_helper
bats_require_minimum_version 1.5.0

setup_file() {
	source_run
	export KBLAT_VM_GUEST=$BATS_TEST_DIRNAME/fake_guest
}

# guest OPTION…: with one run per boot, comparing the median
guest() {
	"$KBLAT" boots start "$SOURCE/spec.yaml" --loader guest --quantity p50 --out out --runs "${runs:-1}" "$@"
}

# made FILE: in the study's folder
made() { compgen -G "out/*/$1" >/dev/null; }

plan() { json out/*/study.json "$1"; }

# bats test_tags=long
@test "a much slower kernel is decided at the first look; what was asked for is asked of the guest" {
	FAKE_SLOWER=v2=0.3 run -3 guest --old v1 --new v2 --new-append 'slub_debug=F x' --old-beside 'cat /dev/zero' --memory 1G --no-rdma --count-time --set messages=300
	assert_contains "$output" "boot 1 of at most 16: v1"
	assert_contains "$output" "regression: scripted: NEW (v2, 4 runs of 4 boots) is slower than BASE (v1, 4 runs of 4 boots)"
	assert_eq "$(cells out/* '" ".join(x["name"] for x in d if x["state"] == "completed")')" "old new new old old new new old"
	assert_eq "$(cells out/* '{x["state"] for x in d[8:]}')" "{'skipped'}"
	made comparison/report.html
	run -1 made .boot
	run -0 grep -c -- '--kernel v1 --append  --in-memory --out .*/.boot --memory 1G --no-rdma --count-time -- sh -c .* - cat /dev/zero 1 .*/kblat run .*/spec.yaml --out .*/.boot .*--set messages=300' asked
	assert_eq "$output" 4
	assert_eq "$(grep -c -- '--kernel v2 --append slub_debug=F x ' asked)" 4
	FAKE_SLOWER=v2=0.3 run -3 "$KBLAT" boots start --resume out/*
	assert_contains "$output" "its command line has 'slub_debug=F x'"
	[[ $output != *"boot 1 of"* ]]
	run -0 "$KBLAT" boots status out/*
	assert_contains "$output" "COMPLETED, 8 of at most 16 boots measured"
	assert_contains "$output" "answer: scripted: NEW (v2"
}

# bats test_tags=long
@test "ended by a signal or Ctrl-C in a boot: the guest ends, whole boots are kept, and --resume goes on" {
	export FAKE_OPTIONS="between=0.001 within=0.001" FAKE_PID=$T/guest.pid
	local whom signal pid status
	for signal in TERM INT; do
		rm -rf out booted guest.pid
		status=0
		set -m # a process group, as in a terminal
		FAKE_HANG=4 "$KBLAT" boots start "$SOURCE/spec.yaml" --loader guest --runs 1 --quantity p50 --out out --boots 4 --old v1 --new v2 >said 2>&1 3>&- &
		pid=$!
		set +m
		for _ in {1..600}; do
			[ ! -s guest.pid ] || break
			sleep 0.1
		done
		whom=$pid
		[ $signal = TERM ] || whom=-$pid
		kill -"$signal" -- "$whom"
		wait "$pid" || status=$?
		cat said
		assert_eq "$status" 1
		assert_contains "$(cat said)" "interrupted; \`kblat boots start --resume"
		assert_eq "$(cells out/* '[x["state"] for x in d].count("completed")')" 3
		[ ! -e "/proc/$(cat guest.pid)" ]
		run -1 made .boot
	done
	run -2 "$KBLAT" boots stop out/*
	assert_contains "$output" "its boots are guests, which no unit starts"
	run -0 "$KBLAT" boots start --resume out/*
	[[ $output != *"boot 3 of"* && $output == *"boot 4 of at most 8: v1"* ]]
	assert_eq "$(plan 'd["status"], d["answer"]["verdict"], d["answer"]["boots"]')" "('COMPLETED', 'no regression', [4, 4])"
}

@test "a guest that hangs is booted again, as often as --tries says; one that fails ends it, with why" {
	FAKE_STATUS=1,75 FAKE_OPTIONS='between=0.001 within=0.001' run -4 guest --boots 1 --old v1 --new v2
	assert_contains "$output" "boot 1: the guest hung"
	assert_eq "$(wc -l <booted) $(cat booted)" "1 3"
	rm -rf out booted
	FAKE_STATUS=1,75 run -1 guest --boots 1 --tries 1 --old v1 --new v2
	assert_contains "$output" "boot 1 has failed 1 times in a row, at last: the guest hung"
	rm -rf out booted
	FAKE_STATUS=2,77 run -77 guest --boots 1 --old v1 --new v2
	assert_contains "$output" "boot 2, v2: kblat or the guest ended with status 77; what was measured before is kept"
	assert_eq "$(cells out/* '[x["state"] for x in d]')" "['completed']"
	rm -rf out booted
	FAKE_MISSING=v2 run -77 guest --boots 1 --old v1 --new v2
	assert_contains "$output" "v2: it cannot be made ready for the guest, see above"
	[ ! -e out ] && [ ! -e booted ]
}

# busy SHARES OLD NEW…: in which boots other programs used how much
busy() {
	/usr/bin/python3 - out/*/study.json "$@" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		for event, percent in zip(d["plan"]["events"], sys.argv[2:]):
		    event["others_percent"] = float(percent)
		json.dump(d, open(sys.argv[1], "w"))
	PY
	"$KBLAT" boots start --resume out/* 2>/dev/null | grep '^note: this machine' || true
}

@test "a machine that is busy, or in one arm only, is told of: with the answer, and on its page" {
	FAKE_OPTIONS='between=0.001 within=0.001' run guest --boots 2 --old v1 --new v2
	assert_eq "$(busy 10 80 90 5)" "note: this machine was not as busy for both kernels: other programs used 8 % of its CPUs while OLD ran, 85 % while NEW did; so what differs may be due to that, not to the kernel"
	grep -q "not as busy for both kernels" out/*/comparison/report.html
	assert_eq "$(busy 60 80 40 90)" "note: this machine was busy: other programs used 40 to 90 % of its CPUs while the guest ran"
	assert_eq "$(busy 1 2 1 2)" ""
	rm -rf out booted
	FAKE_BUSY=v2 run guest --boots 1 --old v1 --new v2
	assert_eq "$(plan '[e["others_percent"] > 30 for e in d["plan"]["events"]][1]')" True
}

# bats test_tags=long
@test "--bisect: the first of several kernels that is slower" {
	local five=(--kernel v1 --kernel v2 --kernel v3 --kernel v4 --kernel v5)
	FAKE_SLOWER='v4=0.3 v5=0.3' FAKE_OPTIONS='between=0.005 within=0.005' run -3 guest --boots 6 --bisect "${five[@]}"
	assert_contains "$output" "the first that is slower is among v2 v3 v4 v5"
	assert_contains "$output" "regression: the first that is slower: v4; v3 is not"
	assert_eq "$(plan 'd["answer"]["answer"]')" "the first that is slower: v4; v3 is not"
	made comparison/report.html && made comparison-3/report.html
	rm -r out booted
	# Ended in the second comparison, it goes on there.
	FAKE_STATUS=14,1 FAKE_SLOWER='v4=0.3 v5=0.3' FAKE_OPTIONS='between=0.005 within=0.005' run -1 guest --boots 6 --bisect "${five[@]}"
	FAKE_SLOWER='v4=0.3 v5=0.3' FAKE_OPTIONS='between=0.005 within=0.005' run -3 "$KBLAT" boots start --resume out/*
	assert_contains "$output" "regression: the first that is slower: v4; v3 is not"
	rm -r out booted
	FAKE_OPTIONS='between=0.001 within=0.001' run -0 guest --boots 6 --bisect --kernel v1 --kernel v2 --kernel v3
	assert_contains "$output" "no regression: v3 is not slower than v1: there is nothing to find"
	run -1 made comparison-2
}

# bats test_tags=long
@test "a series: each kernel is compared with the one before, in a folder of pages; another kernel is added by history" {
	FAKE_SLOWER='v3=0.3' FAKE_OPTIONS='between=0.001 within=0.001' run -0 "$KBLAT" boots start "$SOURCE/spec.yaml" --loader guest --kernel v1 --kernel v2 --kernel v3 --out out
	assert_contains "$output" "boot 4 of at most 12: v1"
	[[ $output == *"v1    v2  no regression"*"v2    v3  regression"* ]]
	assert_eq "$(ls out/*/runs/v3 | wc -l)" 4
	made site/index.html
	rm -r out/*/site
	run -0 "$KBLAT" report out/*
	made site/index.html
	run -0 "$KBLAT" boots start "$SOURCE/spec.yaml" --loader guest --kernel v4 --out out
	run -0 "$KBLAT" history out/* --bundle site
	assert_contains "$output" "v3    v4"
}

@test "--dry-run says how many boots and how long it takes, and boots nothing" {
	run -0 guest --dry-run --boots 4 --old v1 --new v2
	assert_contains "$output" "old: v1, new: v2, by guest"
	[[ $output == *"a boot: about 3"?" s (expected): 30 s to start and end, 1 run of about"* ]]
	[[ $output == *"at most 8 boots: 4 min "*"at the earliest after 8 boots"* ]]
	run -0 guest --dry-run --boots 6 --bisect --kernel v1 --kernel v2 --kernel v3 --kernel v4 --kernel v5
	assert_contains "$output" "at most 36 boots"
	[ ! -e out ]
	touch vmlinuz
	run -0 guest --dry-run --old "$T/vmlinuz":/lib/modules/6.9.0 --new v2
	assert_contains "$output" "old: 6.9.0, new: v2"
}

@test "wrong usage is said before anything boots" {
	run -2 guest --old v1
	assert_contains "$output" "no --new given"
	run -2 guest --bisect --kernel v1
	assert_contains "$output" "boots: too few kernels, or too many"
	runs=128 run -2 guest --boots 128 --kernel v1 --kernel v2 --kernel v3 --kernel v4 --kernel v5
	assert_contains "$output" "boots: too many runs"
	run -2 guest --kernel v1 --new v2
	assert_contains "$output" "does not go with --old and --new and their options"
	run -2 guest --kernel v1 --kernel v1
	assert_contains "$output" "could not be told apart"
	run -2 guest --boots 0 --old v1 --new v2
	run -2 guest --settle 1s --old v1 --new v2
	assert_contains "$output" "not for --loader guest"
	run -2 "$KBLAT" boots start "$SOURCE/spec.yaml" --loader kexec --old v1 --new v2 --count-time
	assert_contains "$output" "options of the guest are for --loader guest alone"
	run -2 guest --margin 0 --old v1 --new v2
	assert_contains "$output" "--margin: must be a percentage"
	run -2 guest --old ./vmlinuz:./6.9.0 --new v2
	assert_contains "$output" "must be named by its absolute path"
	run -2 guest --dry-run --old v1 --new /none/vmlinuz
	assert_contains "$output" "/none/vmlinuz: this kernel cannot be read"
	run -2 "$KBLAT" boots start "$SOURCE/spec.yaml" --loader gest --old v1 --new v2 --dry-run
	assert_contains "$output" "did you mean 'guest'?"
	run -2 make -s -C "$ROOT" kernel-ab
	assert_contains "$output" "name both kernels"
	run -128 guest --exit git-bisect --boots 0 --old v1 --new v2
	run -2 "$KBLAT" boots start nothing --loader guest --old v1 --new v2
	run -2 guest --old v1 --new v2 --set messages=-1
	KBLAT_VM_GUEST=/none run -77 guest --old v1 --new v2
	assert_contains "$output" "the program kblat-guest is not there"
	[ ! -e out ]
}
