#!/usr/bin/env bats
# kblat boots --loader guest with kernels that really boot: one against itself with a boot parameter that makes it slower. What needs
# no guest is in tests/cli/boots-guest.bats.
#
#   bats tests/vm/boots-guest.bats

setup_file() {
	work=$BATS_FILE_TMPDIR
	KBLAT=${KBLAT:-$BATS_TEST_DIRNAME/../../build/kblat}
	export work KBLAT
	version=$(basename "$("$BATS_TEST_DIRNAME/prepare")")
	export version
	# Nearly all of a round trip over UDP is spent in the kernel.
	cat >"$work/spec.yaml" <<-'YAML'
		kblat: 1
		name: in-guest
		settings: {kernel: pingpong, transport: udp, poll: event, size: 64B, messages: 500, repetitions: 2, warmup: 50, source_cpu: 0, sink_cpu: 0}
		matrix: [{}]
	YAML
}

# 4 boots of each are the minimum for a verdict. Time is counted in instructions, so that the verdict is the same on a busy machine. Only the memory of messages
# is checked by the slower kernel; checking all memory would make booting take three times as long.
@test "a boot parameter that makes it slower is a regression, and is named" {
	run "$KBLAT" boots start "$work/spec.yaml" --loader guest --boots 4 --runs 1 --count-time --memory 1G --no-rdma --out "$work/out" \
		--new-append "slub_debug=FZPU,skbuff*" --old "$version" --new "$version"
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *regression* ]]
	[[ $output == *boot.slub_debug* ]]
	compgen -G "$work/out/*/comparison/report.html"
	[ "$(ls -d "$work"/out/*/runs/*/* | wc -l)" -eq 8 ]
	"$KBLAT" verify "$(compgen -G "$work/out/*/runs/new/*" | head -n 1)"
}

@test "a kernel that is not there is said before anything boots" {
	run "$KBLAT" boots start "$work/spec.yaml" --loader guest --out "$work/x" --old "$version" --new 5.99.0-none
	[ "$status" -ne 0 ] && [ ! -e "$work/x" ]
}
