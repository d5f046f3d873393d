#!/usr/bin/env bats
# tests/vm/kernel-ab without a guest: no kernel is booted, and the runs are simulated (fake_guest, boots.py).

load helper
load boots_helper
bats_require_minimum_version 1.5.0

setup_file() {
	local root
	root=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	source_run
	AB=$root/tests/vm/kernel-ab KBLAT_VM_GUEST=$root/tests/cli/fake_guest
	export AB KBLAT_VM_GUEST
}

# ab OPTION…: with one run per boot, comparing the median.
ab() {
	KBLAT=$KBLAT "$AB" --runs 1 --quantity p50 --out out "$@" "$SOURCE/spec.yaml"
}

# bats test_tags=long
@test "a much slower kernel is decided at the first look, and the same command measures nothing again" {
	FAKE_SLOWER=v2=0.3 run -3 ab v1 v2
	assert_contains "$output" "boot 1 of at most 16: old, v1"
	assert_contains "$output" "at most 14 more"
	assert_contains "$output" "decided after 4 of 8 boots of each kernel"
	assert_contains "$output" "regression: scripted: NEW (v2, 4 runs of 4 boots) is slower than BASE (v1, 4 runs of 4 boots)"
	assert_eq "$(cut -f 2 out/boots.tsv | tr '\n' ' ')" "old new new old old new new old "
	[ -f out/comparison/report.html ]
	FAKE_SLOWER=v2=0.3 run -3 ab v1 v2
	[[ $output != *"boot 1 of"* ]]
	run -2 ab v1 v3
	assert_contains "$output" "is another comparison"
	run -1 ab --git-bisect v1 v2
}

# bats test_tags=long
@test "ended by a signal in a boot: whole boots are kept, and the same command goes on" {
	export FAKE_OPTIONS="between=0.001 within=0.001"
	FAKE_HANG=4 "$AB" --runs 1 --quantity p50 --out out --boots 4 v1 v2 "$SOURCE/spec.yaml" >said 2>&1 3>&- &
	local pid=$! status=0
	for _ in {1..600}; do
		! grep -q 'boot 4' said || break
		sleep 0.1
	done
	kill -TERM "$pid"
	wait "$pid" || status=$?
	assert_eq "$status" 143
	assert_contains "$(cat said)" "interrupted: whole boots are kept"
	assert_eq "$(wc -l <out/boots.tsv)" 3
	[ ! -e out/.boot ]
	run -0 ab --boots 4 v1 v2
	[[ $output != *"boot 3 of"* && $output == *"boot 4 of at most 8: old, v1"* ]]
	assert_eq "$(wc -l <out/boots.tsv)" 8
}

# bats test_tags=long
@test "Ctrl-C in a terminal also ends the guest, and complete boots are kept" {
	cat >terminal.py <<-'PY'
		import os, pty, signal, sys, time
		pid, terminal = pty.fork()
		if pid == 0:
		    signal.signal(signal.SIGINT, signal.SIG_DFL) # a shell that runs tests in the background ignores it
		    os.execvp(sys.argv[1], sys.argv[1:])
		said, asked = b"", False
		while True:
		    try:
		        some = os.read(terminal, 4096)
		    except OSError:
		        break
		    if not some:
		        break
		    said += some
		    if b"boot 2 of" in said and not asked:
		        asked = True
		        while not os.path.exists(os.environ["FAKE_PID"]):
		            time.sleep(0.1)
		        os.write(terminal, b"\x03")
		os.write(1, said)
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	PY
	export FAKE_OPTIONS="between=0.001 within=0.001" FAKE_PID=$T/guest.pid
	FAKE_HANG=2 run -130 /usr/bin/python3 terminal.py "$AB" --runs 1 --quantity p50 --out out --boots 4 v1 v2 "$SOURCE/spec.yaml"
	assert_contains "$output" "interrupted: whole boots are kept"
	assert_eq "$(wc -l <out/boots.tsv)" 1
	[ ! -e "/proc/$(cat guest.pid)" ]
}

@test "a machine that is busy in one arm only is told of" {
	printf '%d\t%s\tv\t9\t%d\n' 0 old 10 1 new 80 2 new 90 3 old 5 >boots.tsv
	run bash -c "source '$ROOT/tests/vm/host_load.bash'; tell_load_of boots.tsv"
	assert_eq "$output" "this machine was not as busy for both kernels: other programs used 8 % of its CPUs while OLD ran, 85 % while NEW did; so what differs may be due to that, not to the kernel"
	printf '%d\t%s\tv\t9\t%d\n' 0 old 60 1 new 80 2 new 40 3 old 90 >boots.tsv
	run bash -c "source '$ROOT/tests/vm/host_load.bash'; tell_load_of boots.tsv"
	assert_eq "$output" "this machine was busy: other programs used 40 to 90 % of its CPUs while the guest ran"
	printf '%d\t%s\tv\t9\t%d\n' 0 old 1 1 new 2 >boots.tsv
	run bash -c "source '$ROOT/tests/vm/host_load.bash'; tell_load_of boots.tsv"
	assert_eq "$output" ""
}

# bats test_tags=long
@test "--bisect: the first of several kernels that is slower" {
	FAKE_SLOWER='v4=0.3 v5=0.3' FAKE_OPTIONS='between=0.005 within=0.005' run -3 ab --boots 6 --bisect v1 v2 v3 v4 v5
	[[ ${lines[-1]} == "the first that is slower: v4; v3 is not" ]]
	rm -r out
	FAKE_OPTIONS='between=0.001 within=0.001' run -0 ab --boots 6 --bisect v1 v2 v3
	assert_contains "$output" "v3 is not slower than v1: there is nothing to find"
	assert_eq "$(ls out)" 1-3
}

@test "--dry-run says how many boots and minutes it takes, by those measured before, and boots nothing" {
	run -0 ab --dry-run --boots 4 v1 v2
	[[ "$output" =~ ^"at most 8 boots of about "3[0-9]" s (30 s to start and end, and 1 runs; not measured yet): "[4-5]" min; it ends earlier once it is decided"$ ]]
	run -0 ab --dry-run --boots 6 --bisect v1 v2 v3 v4 v5
	assert_contains "$output" "at most 36 boots"
	[ ! -e out ]
	mkdir out
	printf '0\told\tv1\t100\t5\n1\tnew\tv2\t140\t5\n' >out/boots.tsv
	run -0 ab --dry-run v1 v2
	assert_contains "$output" "at most 16 boots of about 120 s (measured in "
	assert_contains "$output" "32 min"
}

@test "wrong usage is said before anything boots" {
	run -2 ab v1
	assert_contains "$output" "three arguments"
	run -2 ab --bisect v1
	run -2 ab --boots 0 v1 v2
	run -2 ab --margin 0 v1 v2
	assert_contains "$output" "--margin: must be a percentage"
	run -128 ab --git-bisect --boots 0 v1 v2
	run -2 "$AB" v1 v2 nothing
	assert_contains "$output" "no experiment"
	run -2 "$AB" --out out v1 v2 "$SOURCE/spec.yaml" -- --set messages=-1
	[ ! -e out ]
}
