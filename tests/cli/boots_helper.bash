# Simulated boots: a run of the scripted transport, made once per file, and multiplied by boots.py.

source_run() {
	local root
	root=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	SOURCE=$(scratch)
	printf 'kblat: 1\nname: scripted\nsettings: {kernel: oneway, transport: scripted, messages: 200, burst: 200, repetitions: 2}\n' \
		>"$SOURCE/spec.yaml"
	"${KBLAT:-$root/build/kblat}" run "$SOURCE/spec.yaml" --out "$SOURCE/runs" --quiet >/dev/null
	SOURCE_RUN=$(echo "$SOURCE"/runs/scripted-*)
	export SOURCE SOURCE_RUN
}

setup_file() {
	source_run
}

teardown_file() {
	rm -rf "$SOURCE"
}

# boots OUT KEY=VALUE…: calls boots.py; boots with the same options are made once per file.
boots() {
	local out=$1 made
	shift
	made="$SOURCE/made/${SOURCE_RUN##*/} $*"
	[ -d "$made" ] || /usr/bin/python3 "$BATS_TEST_DIRNAME/boots.py" "$SOURCE_RUN" "$made" "$@"
	mkdir -p "$out"
	cp -r "$made/." "$out"
}
