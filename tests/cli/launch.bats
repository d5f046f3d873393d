#!/usr/bin/env bats
# Launchers: ssh, with a real sshd on this machine; and Slurm, with two nodes on this machine (slurm_helper.bash). Both are started once for
# all tests and ended with them; if that is not possible, their tests are skipped.

load helper
load slurm_helper

setup_file() {
	ROOT=$(cd -- "$BATS_TEST_DIRNAME/../.." && pwd)
	export ROOT SERVERS
	SERVERS=$(mktemp -d "${TMPDIR:-/tmp}/tests-launch.XXXXXX")
	start_sshd "$SERVERS" || echo "${why:-no sshd here}" >"$SERVERS/no-ssh"
	if [ "$(id -u)" -ne 0 ]; then
		echo "Slurm's daemons need root" >"$SERVERS/no-slurm"
	elif ! slurm_unpack; then
		echo "Debian's packages of Slurm can't be downloaded" >"$SERVERS/no-slurm"
	else
		slurm_start "$SERVERS" || echo "Slurm does not start: $(tail -n 1 "$SERVERS/slurmctld.out")" >"$SERVERS/no-slurm"
	fi
}

teardown_file() {
	[ ! -e "$SERVERS/slurm.conf" ] || { slurm_environment "$SERVERS" && slurm_stop "$SERVERS"; }
	[ ! -e "$SERVERS/sshd.pid" ] || kill "$(cat "$SERVERS/sshd.pid")" || true
	rm -rf "$SERVERS"
}

# start_sshd DIR: with new keys, on a port of its own, in a mount namespace with another /run.
start_sshd() {
	local sshd=/usr/sbin/sshd
	[ -x $sshd ] && [ "$(id -u)" -eq 0 ] || { why="needs sshd, and root" && return 1; }
	ssh-keygen -q -t ed25519 -N '' -f "$1/host_key" && ssh-keygen -q -t ed25519 -N '' -f "$1/user_key" || return 1
	cp "$1/user_key.pub" "$1/authorized_keys"
	local port=$((20000 + RANDOM % 10000))
	echo "[127.0.0.1]:$port $(cat "$1/host_key.pub")" >"$1/known_hosts"
	cat >"$1/sshd_config" <<-END
		Port $port
		ListenAddress 127.0.0.1
		HostKey $1/host_key
		AuthorizedKeysFile $1/authorized_keys
		PidFile $1/sshd.pid
		StrictModes no
		UsePAM no
		PermitRootLogin prohibit-password
		PasswordAuthentication no
		MaxStartups 100
	END
	cat >"$1/ssh_config" <<-END
		Host there
		HostName 127.0.0.1
		Port $port
		User root
		IdentityFile $1/user_key
		IdentitiesOnly yes
		UserKnownHostsFile $1/known_hosts
	END
	unshare --mount sh -c 'mount -t tmpfs none /run && mkdir -p /run/sshd && exec "$@"' sh $sshd -D -e -f "$1/sshd_config" >"$1/sshd.log" 2>&1 3>&- &
	for _ in {1..100}; do
		[ ! -s "$1/sshd.pid" ] || return 0
		sleep 0.1
	done
	why="sshd does not start: $(tail -n 1 "$1/sshd.log")"
	return 1
}

need_ssh() {
	[ ! -e "$SERVERS/no-ssh" ] || skip "$(cat "$SERVERS/no-ssh")"
	there="$ROOT/experiments/launch/ssh -F $SERVERS/ssh_config there"
	spec s <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, poll: event, messages: 50, warmup: 5, repetitions: 1}
	YAML
}

need_slurm() {
	[ ! -e "$SERVERS/no-slurm" ] || skip "$(cat "$SERVERS/no-slurm")"
	slurm_environment "$SERVERS"
	launch=$ROOT/experiments/launch/slurm
	spec s <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, poll: event, messages: 50, warmup: 5, repetitions: 1}
	YAML
}

one_point() {
	assert_measured
	assert_eq "$(json "$run_dir/run.json" 'd["points"]["completed"]')" 1
}

# bats test_tags=long
@test "ssh: an endpoint by a login, and a pair of hosts by two" {
	need_ssh
	run "$KBLAT" run s.yaml --out runs --no-state --sink "$there"
	one_point
	run "$KBLAT" run s.yaml --out runs --hosts there,here --source "$there" --sink "$there"
	echo "$output"
	assert_contains "$output" "2 hosts, 1 pairs in 1 rounds: 1 measured"
}

# bats test_tags=long
@test "ssh: arguments with blanks arrive unchanged, and KBLAT_REMOTE names the program on the other host" {
	need_ssh
	run $there printf '%s|' "a b" "c'd" '$HOME' '*'
	assert_eq "$output" "a b|c'd|\$HOME|*|"
	KBLAT_REMOTE=/usr/bin/printf run $there kblat '%s|' "a b"
	assert_eq "$output" "a b|"
	run "$ROOT/experiments/launch/ssh" there
	[ "$status" -eq 2 ]
}

# bats test_tags=long
@test "ssh: a host key that is another one, a host that does not answer, no kblat there: the point fails with ssh's words" {
	need_ssh
	sed "s|^UserKnownHostsFile.*|UserKnownHostsFile $T/known|" "$SERVERS/ssh_config" >config
	ssh-keygen -q -t ed25519 -N '' -f other
	sed "s| ssh-ed25519 .*| $(cut -d' ' -f1,2 other.pub)|" "$SERVERS/known_hosts" >known
	run "$KBLAT" run s.yaml --out runs --no-state --sink "$ROOT/experiments/launch/ssh -F $T/config there"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "Host key verification failed"
	sed 's|^Port.*|Port 1|' "$SERVERS/ssh_config" >config
	run "$KBLAT" run s.yaml --out runs --no-state --sink "$ROOT/experiments/launch/ssh -F $T/config there"
	[ "$status" -eq 1 ]
	assert_contains "$output" "Connection refused"
	KBLAT_REMOTE=/nowhere/kblat run "$KBLAT" run s.yaml --out runs --no-state --sink "$there"
	[ "$status" -eq 1 ]
	assert_contains "$output" "/nowhere/kblat"
	[ -z "$(leftovers)" ]
}

# bats test_tags=long
@test "ssh: the coordinator is killed: nothing stays on the other host" {
	need_ssh
	cp "$(readlink -f "$KBLAT")" "$T/kblat-killed"
	"$T/kblat-killed" run s.yaml --set pause=20ms --set messages=100000 --no-state --out runs --sink "$there" --quiet >out 2>&1 &
	pid=$!
	until pgrep -f "^$T/kblat-killed endpoint" >endpoints && [ "$(wc -l <endpoints)" = 2 ]; do sleep 0.1; done
	kill -KILL $pid
	wait $pid || true
	for _ in {1..100}; do
		pgrep -f "^$T/kblat-killed endpoint" >endpoints || break
		sleep 0.1
	done
	assert_eq "$(cat endpoints)" ""
}

# bats test_tags=long
@test "Slurm: endpoints by srun, in an allocation that is made for them, with and without -u" {
	need_slurm
	run "$launch" "$KBLAT" run s.yaml --out runs --no-state
	one_point
	KBLAT_SRUN=-u run "$launch" --nodes=2 -- "$KBLAT" run s.yaml --out runs --no-state
	one_point
	# A job that has ended is shown for a moment as completing.
	for _ in {1..100}; do
		[ -n "$(squeue -h)" ] || break
		sleep 0.1
	done
	assert_eq "$(squeue -h)" ""
	run "$launch" --nodes=1 -- "$KBLAT" run s.yaml --out runs
	[ "$status" -eq 2 ]
	assert_contains "$output" "at least two are needed"
}

# bats test_tags=long
@test "Slurm: a job measures all pairs, and scancel keeps what was measured" {
	need_slurm
	cat >job <<-SH
		#!/usr/bin/env bash
		"$KBLAT" run s.yaml --hosts "\$SLURM_JOB_NODELIST" --source "$launch --on {host}" --sink "$launch --on {host}" --out runs >out 2>err
		echo "\$?" >ended
	SH
	sbatch --quiet --nodes=2 --chdir="$T" --output="$T/job.out" job
	for _ in {1..600}; do [ -e ended ] && break || sleep 0.1; done
	cat out err
	assert_contains "$(cat out)" "2 hosts, 1 pairs in 1 rounds: 1 measured"
	"$launch" "$KBLAT" run s.yaml --set pause=2ms --set messages=100 --set repetitions=1000 --out runs --no-state >out 2>err 3>&- &
	pid=$!
	until compgen -G "runs/s-*.partial/points/0000/rep-02/counters.json" >/dev/null; do sleep 0.1; done
	scancel "$(squeue -h -o %i)"
	status=0
	wait $pid || status=$?
	cat out err
	[ "$status" -ne 0 ]
	for _ in {1..100}; do
		compgen -G "runs/*.partial" >/dev/null || break
		sleep 0.1
	done
	run_dir=$(ls -dt runs/s-2* | head -n 1)
	[ "$(json "$run_dir/summary.json" 'len(d["points"][0]["reps"])')" -ge 2 ]
	assert_contains "$(cat "$run_dir/log.jsonl")" "srun"
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	[ -z "$(leftovers)" ]
}

@test "slurm: from a folder whose name has blanks and quotes" {
	odd="-a \"b\" it's {host}"
	mkdir -p "./$odd" bin
	cp "$ROOT/experiments/launch/slurm" "./$odd/"
	printf '#!/bin/sh\nprintf "%%s\\n" n1 n2\n' >bin/scontrol
	# shellcheck disable=SC2016 # the script expands it
	printf '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n' >bin/srun
	chmod +x bin/*
	spec s <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, messages: 50, warmup: 5, repetitions: 1}
	YAML
	PATH=$T/bin:$PATH SLURM_JOB_ID=1 run "./$odd/slurm" "$KBLAT" run s.yaml --out runs --no-state
	one_point
}
