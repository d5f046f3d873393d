# What tests of the transports that work on any machine have in common; to be loaded after
# helper.bash.

# What there is, as the program says it; verbs needs a device (tests/vm).
native_transports() {
	"$KBLAT" list transports --json >transports.json
	json transports.json '" ".join(t["name"] for t in d["transports"] if t["name"] not in ("verbs", "scripted"))'
}

# run_over TRANSPORT NAME: NAME.yaml is run over it, valid or not; $run_dir is where.
run_over() {
	run "$KBLAT" run "$2.yaml" --out runs --set "transport=$1"
	echo "$1: $output"
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
	run_dir=${lines[-1]}
}

# How many points a run completed.
completed() {
	json "$run_dir/run.json" 'd["points"]["completed"]'
}
