#!/usr/bin/env bats
# tuned's daemon is slow, and kbtune is killed meanwhile. In the guest, where tuned-adm takes seconds itself:
#
#     tests/vm/guest --no-rdma --timeout 600 --env KBTUNE=$PWD/build/kbtune --env HOST_VIEW=$PWD/build/vm-host-view -- bats tests/vm/tuned.bats

load host

# start_tuned PROFILE: tuned's daemon, with it.
start_tuned() {
	dbus-daemon --system --fork --print-pid >"$T/dbus" 3>&-
	tuned --daemon --pid "$T/tuned.pid" --log "$T/tuned.log" 3>&-
	for _ in $(seq 100); do
		tuned-adm profile "$1" >/dev/null 2>&1 && break
		sleep 0.3
	done
}

end_tuned() {
	tuned-adm off
	kill "$(cat "$T/tuned.pid")" "$(cat "$T/dbus")"
	sleep 1
}

@test "tuned is slow, and kbtune is killed while it asks: what it asked for is awaited, and taken back" {
	start_tuned virtual-guest
	mkdir "$T/slow"
	# When kbtune is killed, its request has not reached tuned yet.
	printf '#!/bin/sh\n[ "$1" != profile ] || { : >"%s/asked"; sleep 3; }\nexec %s "$@"\n' "$T" "$(command -v tuned-adm)" >"$T/slow/tuned-adm"
	chmod +x "$T/slow/tuned-adm"
	for command in "apply thesis" "run thesis -- sleep 100"; do
		rm -f "$T/asked"
		# shellcheck disable=SC2086
		PATH=$T/slow:$PATH "$KBTUNE" $command >/dev/null 3>&- &
		pid=$!
		until [ -e "$T/asked" ] || ! kill -0 $pid; do sleep 0.1; done
		kill -KILL $pid
		wait $pid || true
		if [ "$command" = "apply thesis" ]; then
			"$KBTUNE" restore
		else
			for _ in $(seq 300); do
				[ -e /run/kbtune/journal.json ] || break
				sleep 0.1
			done
		fi
		[ ! -e /run/kbtune/journal.json ]
		# Longer than the request needs to arrive.
		sleep 4
		[[ $(tuned-adm active) == *virtual-guest* ]]
	done
	end_tuned
	as_before
}
