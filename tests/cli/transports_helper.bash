# What tests of the transports that run anywhere share; after helper.bash.

# What there is, as the program says it; verbs needs a device (tests/vm).
native_transports() {
	"$KBLAT" list transports --json >transports.json
	json transports.json '" ".join(t["name"] for t in d["transports"] if t["name"] not in ("verbs", "scripted"))'
}

# How many points a run completed.
completed() {
	json "$run_dir/run.json" 'd["points"]["completed"]'
}
