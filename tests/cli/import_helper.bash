# Shared by the tests that import samples of other programs: cli/import.bats, field/imports.bats.

IMPORTS=$BATS_TEST_DIRNAME/../imports

# import FORMAT FILE [OPTION…]: imports it; sets $run_dir, and $status and $output like `run`.
import() {
	run "$KBLAT" import --out "$T/imported" "$@"
	run_dir=$(tail -n 1 <<<"$output")
}

# imports N FORMAT FILE [OPTION…]: it has N samples.
imports() {
	import "${@:2}"
	[ "$status" -eq 0 ] || { echo "${*:2}: status $status: $output" && return 1; }
	assert_eq "${*:2}: $(quantile n)" "${*:2}: $1"
}

# refuses PART FORMAT FILE [OPTION…]: status 2, the message has that part, and nothing is left.
refuses() {
	local part=$1
	shift
	rm -rf "$T/imported"
	import "$@"
	[ "$status" -eq 2 ] || { echo "$*: status $status: $output" && return 1; }
	[[ $output == *"$part"* ]] || { echo "$*: $output" && return 1; }
	[ -z "$(ls -A "$T/imported" 2>/dev/null)" ] || { ls "$T/imported" && return 1; }
}

# quantile KEY: of the imported samples, in ns.
quantile() {
	json "$run_dir/summary.json" "[m for m in d['points'][0]['metrics'].values() if 'p50' in m][0]['$1']"
}

# imported: what the imported column of all repetitions has, sorted, in ns.
imported() {
	/usr/bin/python3 -c 'import glob, numpy, sys; [print(v) for v in sorted(numpy.concatenate([numpy.load(f) for f in glob.glob(sys.argv[1] + "/points/0000/rep-*/latency.npy")]))]' "$run_dir"
}
