# Shared by the tests of transports that work on any machine; to be loaded after helper.bash.

# All transports of this build that sleep, too, according to the program; verbs needs a device (tests/vm), xdp and dpdk have suites of their own.
native_transports() {
	"$KBLAT" list transports --json >transports.json
	json transports.json '" ".join(t["name"] for t in d["transports"] if t["name"] not in ("verbs", "scripted", "xdp", "dpdk", "none") and not t["summary"].startswith("not in this build"))'
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
