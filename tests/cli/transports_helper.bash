# Shared by the tests of transports that work on any machine; to be loaded after helper.bash.

# uring_is_refused: by the kernel's settings, or a container's filter. (Where it is not, the call misses its second argument.)
uring_is_refused() {
	/usr/bin/python3 -IS -c 'import ctypes, errno, sys
ctypes.CDLL(None, use_errno=True).syscall(425, 1, None)
sys.exit(ctypes.get_errno() == errno.EFAULT)'
}

# All transports of this build that this machine has and that sleep, too, according to the program; verbs needs a device (tests/vm), xdp and dpdk have suites of their own.
native_transports() {
	local others="verbs scripted xdp dpdk none"
	! uring_is_refused || others+=" uring"
	"$KBLAT" list transports --json >transports.json
	json transports.json '" ".join(t["name"] for t in d["transports"] if t["name"] not in "'"$others"'".split() and not t["summary"].startswith("not in this build"))'
}

# run_over TRANSPORT NAME: runs NAME.yaml over it, valid or not; sets $run_dir.
run_over() {
	run "$KBLAT" run "$2.yaml" --out runs --set "transport=$1"
	echo "$1: $output"
	assert_measured
}

# The number of points that a run completed.
completed() {
	json "$run_dir/run.json" 'd["points"]["completed"]'
}
