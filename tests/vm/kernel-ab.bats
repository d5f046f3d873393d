#!/usr/bin/env bats
# kernel-ab, with one kernel that is booted often: against itself, and against itself with a boot parameter that makes it slower.
#
#   bats tests/vm/kernel-ab.bats

ab=$BATS_TEST_DIRNAME/kernel-ab

setup_file() {
	work=$BATS_FILE_TMPDIR
	KBLAT=${KBLAT:-$BATS_TEST_DIRNAME/../../build/kblat}
	export work KBLAT
	version=$(basename "$("$BATS_TEST_DIRNAME/prepare")")
	export version
	# The kernel's share of a round trip over UDP is nearly all of it.
	cat >"$work/spec.yaml" <<-'YAML'
		kblat: 1
		name: kernel-ab
		settings: {kernel: pingpong, transport: udp, poll: busy, size: 64B, messages: 2000, repetitions: 3, warmup: 200, source_cpu: 0, sink_cpu: 1}
		matrix: [{}]
	YAML
}

# compare_kernels OUT OPTION…: 4 boots of each, the fewest that there is a verdict on. It only adds what OUT does not have yet.
compare_kernels() {
	local out=$1
	shift
	run "$ab" --boots 4 --runs 1 --cpus 2 --nodes 1 --memory 1G --out "$work/$out" "$@" "$version" "$version" "$work/spec.yaml"
	echo "$output"
}

# In one of 70 ways to label 4 and 4 boots all of one arm are the slower ones: so this may happen once, not twice.
@test "a kernel is not slower than itself" {
	compare_kernels same
	if [ "$status" -eq 3 ]; then
		compare_kernels again
	fi
	[ "$status" -eq 0 ] || [ "$status" -eq 4 ]
	[[ $output == *'no regression'* || $output == *undecided* ]]
}

@test "a boot parameter that makes it slower is a regression, and is named" {
	mkdir "$work/slower"
	cp -r "$work/same/old" "$work/slower/old"
	grep -P '\told\t' "$work/same/boots.tsv" >"$work/slower/boots.tsv"
	compare_kernels slower --new-append slub_debug=FZPU
	[ "$status" -eq 3 ]
	[[ $output == *regression* ]]
	[[ $output == *boot.slub_debug* ]]
	[ -f "$work/slower/comparison/report.html" ]
}

@test "what is there already is not measured again" {
	find "$work/same/old" "$work/same/new" -maxdepth 1 | sort >"$BATS_TEST_TMPDIR/before"
	rm -rf "$work/same/comparison"
	compare_kernels same
	[ "$status" -ne 1 ]
	[[ $output != *'boot 1 of'* ]]
	find "$work/same/old" "$work/same/new" -maxdepth 1 | sort | cmp - "$BATS_TEST_TMPDIR/before"
}

@test "wrong usage is said before anything boots" {
	run "$ab" "$version" "$version"
	[ "$status" -eq 2 ] && [[ $output == *'three arguments'* ]]
	run "$ab" "$version" "$version" "$work/none"
	[ "$status" -eq 2 ] && [[ $output == *'no experiment'* ]]
	run "$ab" --boots 0 "$version" "$version" "$work/spec.yaml"
	[ "$status" -eq 2 ]
	run "$ab" --out "$work/x" "$version" "$version" "$work/spec.yaml" -- --set messages=-1
	[ "$status" -eq 2 ] && [ ! -e "$work/x" ]
	run "$ab" --out "$work/x" "$version" 5.99.0-none "$work/spec.yaml"
	[ "$status" -ne 0 ]
}
