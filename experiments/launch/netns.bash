# What launchers that make two network namespaces have in common. To be sourced.
# shellcheck shell=bash

me=${0##*/}

say() {
	echo "$me: $*" >&2
}

# Prints when a process was started, in clock ticks since boot; nothing if there is none.
started() {
	local stat words
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
	read -ra words <<<"${stat##*)}"
	echo "${words[19]}"
}

# Our namespaces are named after the process that made them: its PID namespace, its ID, which another process may get, and
# when it was started. Those of a killed process are removed by the next one, which cannot tell in another PID namespace.
pids=$(readlink /proc/self/ns/pid | tr -dc 0-9)
ours=kblat-$pids-$$-$(started $$)

# is_stale NAME: was it made in this PID namespace, by a process that has ended?
is_stale() {
	[[ $1 =~ ^kblat-([0-9]+)-([0-9]+)-([0-9]+)(-|$) && ${BASH_REMATCH[1]} == "$pids" ]] || return 1
	[ "$(started "${BASH_REMATCH[2]}")" != "${BASH_REMATCH[3]}" ]
}

remove() {
	local name=$1 pid
	for pid in $(ip netns pids "$name" 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null || true
	done
	ip netns del "$name" 2>/dev/null || true # this also removes a virtual link
}

remove_stale() {
	local name
	while read -r name _; do
		[[ $name != kblat-*-@(source|sink) ]] || ! is_stale "$name" || remove "$name"
	done < <(ip netns list)
}

# need_namespaces: exits with 77 where they cannot be made.
need_namespaces() {
	if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null; then
		say "network namespaces need root, and the program ip (Debian: iproute2)"
		exit 77
	fi
}

# run_between COMMAND…: the command with its two sides in our namespaces; passes signals on. Its status.
run_between() {
	"$@" --source "ip netns exec $ours-source" --sink "ip netns exec $ours-sink" &
	local child=$! status=0
	trap 'kill -INT $child 2>/dev/null || true' INT TERM HUP
	while true; do
		status=0
		wait $child || status=$?
		kill -0 $child 2>/dev/null || break
	done
	return $status
}
