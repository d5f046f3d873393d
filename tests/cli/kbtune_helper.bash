# Shared by the tests of kbtune, in addition to helper.bash: machines below $T, made from
# tests/sysroots.

kbtune_setup() {
	kblat_setup || return 1
	KBTUNE=${KBTUNE:-$(dirname -- "$KBLAT")/kbtune}
	export KBTUNE_PROFILES=$ROOT/profiles
}

setup() {
	kbtune_setup
}

# Where an administrator has profiles of the tuned that is installed here; since 2.23 that is one folder deeper, as in /usr/lib.
if [ -d /usr/lib/tuned/profiles ]; then TUNED=etc/tuned/profiles; else TUNED=etc/tuned; fi

# tuned_as_here ROOT: puts the profiles of a recorded machine where the tuned that is installed here looks for them.
tuned_as_here() {
	local theirs=$1/usr/lib/tuned
	[ $TUNED = etc/tuned/profiles ] && [ -d "$theirs" ] || return 0
	mv "$theirs" "$theirs.profiles"
	mkdir -p "$theirs" "$1/$TUNED"
	mv "$theirs.profiles" "$theirs/profiles"
}

# machine NAME [FOLDER]: makes one, and a copy for comparison.
machine() {
	"$ROOT/tests/sysroots/machine" unpack "$1" "$T/${2:-m}"
	tuned_as_here "$T/${2:-m}"
	mkdir -p "$T/${2:-m}/run"
	# What tests change and users may not, so that it can be done by somebody else than root.
	find "$T/${2:-m}" \( -name boot_id -o -name interrupts -o -name cpuset.cpus.effective \) -exec chmod u+w {} +
	cp -a "$T/${2:-m}" "$T/${2:-m}.before"
}

# as_before [FOLDER]: is it unchanged, byte for byte, except for kbtune's own folder?
as_before() {
	diff -r --no-dereference -x kbtune "$T/${1:-m}.before" "$T/${1:-m}"
}

# killed_everywhere LEAST COMMAND…: kbtune, killed after each of its writes in turn, of which there are at least LEAST;
# restore puts everything back. With APPLIED, that profile is applied before.
killed_everywhere() {
	local n=0 killed=137
	while [ "$killed" -eq 137 ]; do
		[ -z "${APPLIED:-}" ] || "$KBTUNE" apply "$APPLIED" --sysroot m >out || return 1
		killed=0
		(exec env KBTUNE_KILL_AFTER=$n "$KBTUNE" "${@:2}" --sysroot m >out 2>&1) 2>/dev/null || killed=$?
		kb restore
		[ "$status" -eq 0 ] || { echo "killed after $n: $output" && return 1; }
		as_before m || return 1
		n=$((n + 1))
	done
	cat out
	[ "$killed" -eq 0 ] && [ "$n" -gt "$1" ]
}

# profile NAME <<YAML: writes $T/NAME/profile.yaml, a profile called ./NAME
profile() {
	mkdir -p "$T/$1"
	{
		echo 'kbtune: 1'
		cat
	} >"$T/$1/profile.yaml"
}

# kb ARGUMENT…: kbtune on the machine m; $status, $output (both streams).
kb() {
	run "$KBTUNE" "$@" --sysroot "$T/m"
}

value() {
	cat "$T/m$1"
}
