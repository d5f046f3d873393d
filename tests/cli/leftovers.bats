#!/usr/bin/env bats
# tests/leftovers finds what a command has left behind, and nothing else; tests/run ends suites that take too long.

load helper
bats_require_minimum_version 1.5.0

@test "a command that leaves nothing has its own status, and nothing is said" {
	run "$ROOT/tests/leftovers" true
	assert_eq "$status:$output" "0:"
	run "$ROOT/tests/leftovers" sh -c 'echo x >"$TMPDIR/x"; rm "$TMPDIR/x"; exit 3'
	assert_eq "$status:$output" "3:"
}

# bats test_tags=long
@test "a process, a temporary file and a shared-memory object that stay behind are named and change status 0 to 1" {
	local pid object
	sleep 0 &
	pid=$!
	wait $pid
	object=/dev/shm/kblat-$(id -u)-$pid-0123456789abcdefTEST
	run "$ROOT/tests/leftovers" sh -c "touch \"\$TMPDIR/kept\" '$object'; setsid sleep 1000 >/dev/null 2>&1 3>&- & echo \$! >'$T/pid'"
	kill "$(cat pid)"
	rm -f "$object"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "process $(cat pid): "
	assert_contains "$output" "/kept"
	assert_contains "$output" "$object"
}

@test "what was there before, and what others start meanwhile, is not the command's" {
	local theirs
	sleep 1000 3>&- &
	theirs=$!
	mkdir "/dev/shm/kblat-$(id -u)-$theirs-mine.$$"
	run "$ROOT/tests/leftovers" mkdir "/dev/shm/kblat-$(id -u)-$theirs-other.$$"
	rmdir "/dev/shm/kblat-$(id -u)-$theirs-"*".$$"
	kill $theirs
	assert_eq "$status:$output" "0:"
}

@test "when only the command is ended by a signal, what it has started is ended, too, and its network namespaces and shared memory go" {
	run "$ROOT/tests/leftovers" sh -c 'echo kblat-test-$$-2-a >name; ip netns add kblat-test-$$-2-a 2>/dev/null; mkdir "/dev/shm/kblat-0-$$-0123456789abcdefTEST"; setsid sleep 1000 >/dev/null 2>&1 3>&- & echo $! >"$1"; touch "$TMPDIR/made"; kill -KILL $$' - "$T/began"
	assert_eq "$status" 137
	assert_contains "$output" "ended by signal 9; what was running was ended, too"
	[ ! -s "/proc/$(cat began)/cmdline" ] || [ -z "$(tr -d '\0' <"/proc/$(cat began)/cmdline")" ] # gone, or not waited for yet
	[ ! -e "/run/netns/$(cat name)" ]
	run ! compgen -G "/dev/shm/kblat-0-$(cut -d- -f3 name)-0123456789abcdefTEST"
}

# bats test_tags=long
@test "ended by a signal, it leaves the folders of others that began after it" {
	local own theirs
	"$ROOT/tests/leftovers" sleep 1000 >/dev/null 2>&1 3>&- &
	own=$!
	pid=$own
	await_run pgrep -P $own -x sleep
	env -u TMPDIR "$ROOT/tests/leftovers" sh -c 'touch began; until [ -e go ]; do sleep 0.05; done; touch "${KBLAT_TEST_MEMORY:-$TMPDIR}/kept"' >out 2>&1 3>&- &
	theirs=$!
	pid=$theirs
	await_run exists began
	kill -TERM $own
	wait $own || true
	touch go
	wait $theirs || true
	cat out
	assert_contains "$(cat out)" "/kept"
	! grep -q "No such file" out
}

# bats test_tags=long
@test "ended by a signal, it ends what it runs, and leaves neither a folder nor a process" {
	local signal
	for signal in TERM INT HUP; do
		rm -f began
		mkdir -p place
		TMPDIR=$T/place env --default-signal=INT "$ROOT/tests/leftovers" sh -c 'mkdir "$TMPDIR/made"; setsid sleep 1000 & trap "" TERM; echo $! >"$1"; wait; sleep 1000' - "$T/began" >out 2>&1 3>&- &
		pid=$!
		for _ in {1..100}; do
			[ ! -s began ] || break
			sleep 0.05
		done
		kill "-$signal" $pid
		status=0
		wait $pid || status=$?
		cat out
		[ "$status" -gt 128 ]
		assert_eq "$(ls -A place)" ""
		! kill -0 "$(cat began)" 2>/dev/null
	done
}

