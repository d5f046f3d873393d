#!/usr/bin/env bats
# kernel-ab with kernels that really boot: one against itself with a boot parameter that makes it slower. What needs no guest is in
# tests/cli/kernel-ab.bats.
#
#   bats tests/vm/kernel-ab.bats

ab=$BATS_TEST_DIRNAME/kernel-ab

setup_file() {
	work=$BATS_FILE_TMPDIR
	KBLAT=${KBLAT:-$BATS_TEST_DIRNAME/../../build/kblat}
	export work KBLAT
	version=$(basename "$("$BATS_TEST_DIRNAME/prepare")")
	export version
	# Nearly all of a round trip over UDP is spent in the kernel.
	cat >"$work/spec.yaml" <<-'YAML'
		kblat: 1
		name: kernel-ab
		settings: {kernel: pingpong, transport: udp, poll: event, size: 64B, messages: 500, repetitions: 2, warmup: 50, source_cpu: 0, sink_cpu: 0}
		matrix: [{}]
	YAML
}

# 4 boots of each are the minimum for a verdict. Time is counted in instructions, so that the verdict is the same on a busy machine. Only the memory of messages
# is checked by the slower kernel; checking all memory would make booting take three times as long.
@test "a boot parameter that makes it slower is a regression, and is named" {
	run "$ab" --boots 4 --runs 1 --count-time --memory 1G --no-rdma --out "$work/out" --new-append "slub_debug=FZPU,skbuff*" \
		"$version" "$version" "$work/spec.yaml"
	echo "$output"
	[ "$status" -eq 3 ]
	[[ $output == *regression* ]]
	[[ $output == *boot.slub_debug* ]]
	[ -f "$work/out/comparison/report.html" ]
	[ "$(wc -l <"$work/out/boots.tsv")" -eq 8 ]
}

@test "a kernel that is not there is said before anything boots" {
	run "$ab" --out "$work/x" "$version" 5.99.0-none "$work/spec.yaml"
	[ "$status" -ne 0 ] && [ ! -e "$work/x" ]
}
