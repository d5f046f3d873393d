# For tests that record what the kernel does: they only make trace instances of their own, and remove them.

# Where kblat finds it: where it is mounted, or in a mount of its own.
in_tracefs() {
	unshare --mount sh -c 'mount -t tracefs none /mnt && cd /mnt && '"$1" 2>/dev/null
}

instances() {
	in_tracefs 'ls instances' | grep '^kblat-' || true
}

# The instances of this test's processes; other runs may have their own.
own_instances() {
	local name cwd
	for name in $(instances); do
		# A process that has ended cannot be read.
		cwd=$(readlink "/proc/$(cut -d- -f3 <<<"$name")/cwd" 2>/dev/null) && [[ "$cwd/" != "$T"/* ]] || echo "$name"
	done
}

needs_tracefs() {
	[ "$(id -u)" -eq 0 ] && in_tracefs true || skip "tracefs may not be used by this user"
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
}
