#!/usr/bin/env bats
# How tests/run ends a suite: tests/heard.
load helper

@test "a suite that says nothing for too long is ended, with what it has started; one that is slow and says something is not" {
	cat >slow <<-'SH'
		for i in 1 2 3 4 5 6 7 8; do echo "ok $i"; sleep 2; done
	SH
	cat >mute <<-'SH'
		echo "ok 1"
		sleep 987654 &
		echo $! >child
		wait
	SH
	"$ROOT/tests/heard" 8 bash slow >slow.log 2>&1 3>&- &
	local slow=$!
	run bash -c '"$0" 1 bash mute >mute.log 2>&1 3>&-' "$ROOT/tests/heard"
	[ "$status" -ne 0 ]
	grep -x "# ended, as it said nothing for 1 s" mute.log
	for _ in {1..50}; do
		[ -e "/proc/$(cat child)" ] || break
		sleep 0.1
	done
	[ ! -e "/proc/$(cat child)" ]
	wait "$slow"
	assert_eq "$(tail -n 1 slow.log)" "ok 8"
	! grep ended slow.log || false
}

@test "the status of a suite is that of its command" {
	run bash -c '"$0" 60 sh -c "echo ok; exit 5" >log 3>&-' "$ROOT/tests/heard"
	assert_eq "$status" 5
}
