#!/usr/bin/env bats
# The kernel `register`: the order of registrations and their ends, kinds of memory, and what is refused.

load helper

@test "memory is held and released, and its page faults invalidate nothing" {
	spec reg <<-'YAML'
		settings: {kernel: register, transport: shmem, messages: 40, repetitions: 2, warmup: 5}
		matrix:
		  - {memory: [same, fresh, untouched], size: [1, 100kB], pages: [small, transparent]}
	YAML
	run "$KBLAT" run reg.yaml --out "$T/runs"
	run_dir=$(tail -n 1 <<<"$output")
	echo "$output"
	[ "$status" -eq 0 ]
	/usr/bin/python3 - "$run_dir" <<-'PY'
		import glob, json, numpy, sys
		points = json.load(open(sys.argv[1] + "/summary.json"))["points"]
		assert len(points) == 12
		for p in points:
		    assert p["valid"] and p["loss"] == {"sent": 80, "lost": 0, "duplicates": 0, "reordered": 0}, p
		    for rep in glob.glob(f"{sys.argv[1]}/points/{p['id']:04}/rep-*"):
		        begin, held, drop, gone = (numpy.load(f"{rep}/t_{name}.npy") for name in ("begin", "held", "drop", "gone"))
		        assert len(begin) == 40 and (begin < held).all() and (held <= drop).all() and (drop < gone).all()
		        assert (gone[:-1] <= begin[1:]).all()
		        faults = json.load(open(rep + "/counters.json"))["source"]["page_faults_minor"]
		        # At least one page each: found by the registration, or written to before it.
		        assert (faults >= 40) == (p["params"]["memory"] != "same"), (p["params"], faults)
		# The sink has nothing to do.
		sink, source = (sum(p["cpu"][side] for p in points) for side in ("sink_ns", "source_ns"))
		assert sink < 0.5 * source, (sink, source)
	PY
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}

@test "what cannot be registered, or not there, is refused before anything starts" {
	spec bad <<-'YAML'
		settings: {kernel: register, transport: shmem}
	YAML
	refuses bad <<-'LINES'
		pin=device|pin device and transport shmem: it has no device with which memory could be registered; use pin kernel
		memory=old|must be one of same, fresh, untouched
		size=0|size
		transport=tcp|tcp
	LINES
}

@test "sizes beyond the limit on locked memory are not possible here, and the others run" {
	need_root "to give up what frees root from the limit"
	spec limit <<-'YAML'
		settings: {kernel: register, transport: shmem, messages: 10, repetitions: 1, warmup: 0}
		matrix:
		  - {size: [4KiB, 4MiB]}
	YAML
	run bash -c 'ulimit -l 1024; exec setpriv --inh-caps=-all --bounding-set=-ipc_lock,-sys_resource "$@"' - "$KBLAT" run limit.yaml --out runs
	echo "$output"
	assert_contains "$output" "4194304 bytes cannot be locked"
	assert_contains "$output" "the limit on locked memory is 1024 KiB; raise it (ulimit -l)"
	run_dir=$(echo runs/limit-*)
	assert_eq "$(json "$run_dir/summary.json" '[p["outcome"] for p in d["points"]]')" "['completed', 'impossible']"
}

@test "huge pages that nobody set aside, and memory that is not there, are not possible here" {
	[ "$(cat /proc/sys/vm/nr_hugepages)" -eq 0 ] || skip "huge pages are set aside here"
	spec huge <<-'YAML'
		settings: {kernel: register, transport: shmem, messages: 10, repetitions: 1, warmup: 0}
		matrix:
		  - {pages: huge}
		  - {size: 64GiB}
	YAML
	[ "$(awk '/MemAvailable/ { print $2 }' /proc/meminfo)" -lt $((64 * 1024 * 1024)) ] || skip "this machine has the memory"
	run "$KBLAT" run huge.yaml --out runs
	run_dir=$(echo runs/huge-*)
	assert_eq "$(json "$run_dir/summary.json" '[p["outcome"] for p in d["points"]]')" "['impossible', 'impossible']"
	assert_contains "$(json "$run_dir/summary.json" 'd["points"][0]["why"]')" "vm.nr_hugepages"
	assert_contains "$(json "$run_dir/summary.json" 'd["points"][1]["why"]')" "are available"
}
