#!/usr/bin/env bats
# kblat beside an MPI program (docs/mpi.md), with Open MPI from Debian's packages, which tests/consumers unpacks.

load helper
load slurm_helper

setup_file() {
	local root=${BATS_TEST_DIRNAME%/*/*}
	export MPI=$root/build/consumers/openmpi/usr
	"$root/tests/consumers" openmpi >&2 || true
	[ ! -x "$MPI/bin/orterun" ] ||
		cc -O2 -o "$BATS_FILE_TMPDIR/pingpong" "$BATS_TEST_DIRNAME/mpi_pingpong.c" -I"$MPI/lib/x86_64-linux-gnu/openmpi/include" \
			-L"$MPI/lib/x86_64-linux-gnu/openmpi/lib" -L"$MPI/lib/x86_64-linux-gnu" -Wl,-rpath-link,"$MPI/lib/x86_64-linux-gnu" -lmpi
}

setup() {
	kblat_setup
	[ -x "$MPI/bin/orterun" ] || skip "Open MPI cannot be had here"
}

# mpirun OPTION…: on this machine, over UCX whatever its devices are, with the lane in its log.
mpirun() {
	OPAL_PREFIX=$MPI LD_LIBRARY_PATH=$MPI/lib/x86_64-linux-gnu:$MPI/lib/x86_64-linux-gnu/openmpi/lib PATH=$MPI/bin:$PATH UCX_LOG_LEVEL=info \
		"$MPI/bin/orterun" --allow-run-as-root --oversubscribe -np 2 --mca plm isolated --mca ras ^slurm --mca ess ^slurm --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any "$@"
}

# beside LANE: both an MPI program and kblat with the same settings of UCX say that it carried their messages.
beside() {
	run mpirun "$BATS_FILE_TMPDIR/pingpong" 64
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "tag($1/"
	[[ $output =~ 64\ bytes,\ half\ round\ trips:\ p50\ [0-9.]+\ us ]]
	spec same <<-YAML
		settings: {kernel: pingpong, transport: ucx, api: tag, lane: $1, size: 64B, messages: 500, repetitions: 1, warmup: 300, check: yes, lost_after: 10s}
	YAML
	run "$KBLAT" run same.yaml --no-state --out runs
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$(json "$run_dir/summary.json" '[r for r in d["points"][0]["reasons"] if "carried" in r]')" "[]"
	assert_contains "$(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["environment"]')" "UCX_TLS="
}

@test "an MPI program and kblat with the same settings of UCX take the same lane: shared memory" {
	UCX_TLS=posix beside posix
}

@test "likewise TCP" {
	UCX_TLS=tcp UCX_NET_DEVICES=lo beside tcp
}

# bats test_tags=long
@test "in a job of Slurm: kblat under srun beside the MPI program, over the same lane" {
	[ "$(id -u)" -eq 0 ] || skip "Slurm's daemons need root"
	slurm_unpack || skip "Debian's packages of Slurm can't be downloaded"
	local cluster=$T/cluster
	mkdir "$cluster"
	slurm_start "$cluster" || { slurm_stop "$cluster" && skip "Slurm does not start: $(tail -n 1 "$cluster/slurmctld.out")"; }
	spec job <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, api: tag, lane: tcp, size: 64B, messages: 500, repetitions: 1, warmup: 300, check: yes, lost_after: 10s}
	YAML
	cat >job <<-SH
		#!/usr/bin/env bash
		$(declare -f mpirun)
		MPI=$MPI
		mpirun "$BATS_FILE_TMPDIR/pingpong" 64 >mpi 2>&1
		"$ROOT/experiments/launch/slurm" "$KBLAT" run job.yaml --no-state --out runs >out 2>&1
		echo "\$?" >ended
	SH
	UCX_TLS=tcp UCX_NET_DEVICES=lo sbatch --quiet --nodes=2 --chdir="$T" --output="$T/job.out" job
	for _ in {1..1200}; do [ -e ended ] && break || sleep 0.1; done
	slurm_stop "$cluster"
	cat job.out mpi
	assert_contains "$(cat mpi)" "tag(tcp/lo"
	status=$(cat ended) output=$(cat out)
	assert_measured
	assert_eq "$(json "$run_dir/summary.json" '[r for r in d["points"][0]["reasons"] if "carried" in r]')" "[]"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["lane"], d["granted"]["sink"]["lane"]')" "('tcp/lo.0', 'tcp/lo.0')"
}

@test "a setting that makes an MPI program fall back makes the point of kblat invalid" {
	spec fallen <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, api: tag, lane: posix, size: 64B, messages: 300, repetitions: 1, warmup: 300, lost_after: 10s}
	YAML
	UCX_TLS=tcp run "$KBLAT" run fallen.yaml --no-state --out runs
	echo "$output"
	assert_eq "$status" 3
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "the messages were carried by tcp/"
}
