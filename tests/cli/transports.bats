#!/usr/bin/env bats
# The transports that run anywhere: every kernel over each of them, with checked payloads.

load helper
load transports_helper

# keeps_all TRANSPORT: does it lose nothing, however busy the machine is?
keeps_all() {
	[[ $1 =~ ^(shmem|tcp|zeromq|ucx|fabric)$ ]]
}

# bats test_tags=long
@test "one way: every transport carries what was sent, small and large, however it is polled" {
	for transport in $(native_transports); do
		# Datagrams, and messages published by nanomsg, may be lost if the sink gets no CPU for a long time. ZeroMQ queues far more than 100.
		drain=200ms
		! keeps_all "$transport" || drain=2s
		spec o <<-YAML
			settings: {kernel: oneway, messages: 100, burst: 20, repetitions: 2, warmup: 20, check: yes, depth: 64, drain: $drain}
			matrix:
			  - {poll: [busy, event, adaptive], size: [5, 4096]}
			  - {poll: event, size: 100}
		YAML
		run_over "$transport" o
		assert_eq "$(completed)" 7
		check_counters 'source["posted"], source["completed"], sink["bad_payloads"], sink["duplicates"], sink["overflows"]' "(100, 100, 0, 0, 0)"
		check_counters 'sink["received"] in range(1, 101)' True
		! keeps_all "$transport" || check_counters 'sink["received"]' 100
		run "$KBLAT" verify "$run_dir"
		[ "$status" -eq 0 ]
	done
}

# bats test_tags=long
@test "round trips: every transport carries what was sent, there and back, however it is polled" {
	for transport in $(native_transports); do
		spec p <<-'YAML'
			settings: {kernel: pingpong, messages: 50, repetitions: 2, warmup: 10, check: yes, depth: 4, lost_after: 10s}
			matrix:
			  - {poll: [busy, event, adaptive], size: [5, 60000]}
		YAML
		run_over "$transport" p
		assert_eq "$(completed)" 6
		check_counters '[s[k] for s in (source, sink) for k in ("posted", "received", "bad_payloads")]' "[50, 50, 0, 50, 50, 0]"
	done
}

@test "a message library that cannot be loaded: its points are not possible here, the others run" {
	need_feature ZeroMQ
	: >libzmq.so.5
	spec missing <<-'YAML'
		settings: {kernel: pingpong, messages: 20, repetitions: 1, warmup: 0, lost_after: 10s}
		matrix:
		  - {transport: [zeromq, tcp], poll: event}
	YAML
	LD_LIBRARY_PATH=$PWD run "$KBLAT" run missing.yaml --no-state --out "$T/runs"
	assert_measured 'not possible here: .*'
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "libzmq.so.5: cannot load: $PWD/libzmq.so.5: file too short; install the package libzmq5 (Debian, Ubuntu) or zeromq (Fedora, RHEL)"
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(completed)" 1
}

@test "a library that is too old, or prints, and lanes that cannot reach the other side, are named" {
	need_feature UCX libfabric
	# It also says something on standard output when it is loaded, which the coordinator must not take for an answer.
	cat >old.c <<-'C'
		#include <stdio.h>
		__attribute__((constructor)) static void speak(void) { puts("{\"type\": \"opened\"}"); fflush(stdout); }
	C
	cc -shared -fPIC -o libucp.so.0 old.c
	cp libucp.so.0 libfabric.so.1
	spec old <<-'YAML'
		settings: {kernel: pingpong, messages: 20, repetitions: 1, warmup: 0, lost_after: 10s}
		matrix:
		  - {transport: [ucx, fabric]}
	YAML
	LD_LIBRARY_PATH=$PWD run "$KBLAT" run old.yaml --no-state --out runs
	echo "$output"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "libucp.so.0: cannot use: it has no function ucp_get_version_string; install the package libucx0 (Debian, Ubuntu) or ucx (Fedora, RHEL)"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "libfabric.so.1: cannot use: it has no function fi_version; install the package libfabric1 (Debian, Ubuntu) or libfabric (Fedora, RHEL)"
	run "$KBLAT" run old.yaml --no-state --out runs --only transport=ucx --set tls=self --set lost_after=2s
	echo "$output"
	[ "$status" -ne 0 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "ucx: cannot reach the other side: Destination is unreachable; \`tls\` and \`devices\` leave nothing that can carry messages"
}

# bats test_tags=long
@test "one-sided operations with next to no memory that may be locked: they work, or the limit is named" {
	need_feature UCX libfabric
	spec locked <<-'YAML'
		settings: {kernel: stream, messages: 200, repetitions: 1, warmup: 300, check: yes, size: 3000, depth: 8}
		matrix:
		  - {transport: ucx, api: put, tls: posix}
		  - {transport: fabric, api: write, provider: shm}
	YAML
	run bash -c "ulimit -l 64; '$KBLAT' run locked.yaml --no-state --out runs"
	[[ $output == *"ulimit -l"* ]] || assert_measured
}

# bats test_tags=long
@test "UCX and libfabric in a process that forks while messages are under way: all of them arrive whole" {
	need_feature UCX libfabric
	cat >forks.c <<-'C'
		#include <pthread.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void *forks(void *none) {
		    for (;; usleep(5000)) {
		        pid_t pid = fork();
		        if (pid == 0) { usleep(2000); _exit(0); }
		        waitpid(pid, NULL, 0);
		    }
		    return none;
		}
		__attribute__((constructor)) static void begin(void) {
		    pthread_t thread;
		    pthread_create(&thread, NULL, forks, NULL);
		}
	C
	cc -shared -fPIC -o forks.so forks.c -pthread
	spec f <<-'YAML'
		settings: {kernel: pingpong, messages: 3000, repetitions: 1, warmup: 300, check: yes, size: 3000, lost_after: 10s}
		matrix:
		  - {transport: ucx, api: [am, tag, put], tls: posix}
		  - {transport: fabric, api: [msg, write], provider: shm}
	YAML
	preload=$(preload "$PWD/forks.so")
	run "$KBLAT" run f.yaml --no-state --out runs --source "env LD_PRELOAD=$preload" --sink "env LD_PRELOAD=$preload"
	assert_measured
	assert_eq "$(completed)" 5
	check_counters 'source["posted"], sink["received"], source["bad_payloads"] + sink["bad_payloads"]' "(3000, 3000, 0)"
}

# bats test_tags=long
@test "UCX: what carried the messages is known, and a point whose messages took another lane is not valid" {
	need_feature UCX
	spec lanes <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, messages: 300, repetitions: 1, warmup: 300, check: yes, lost_after: 10s}
		matrix:
		  - {tls: posix, lane: posix, api: [am, tag, stream], poll: [busy, event], size: [64, 9000]}
		  - {tls: tcp, devices: lo, lane: [tcp, rc_verbs], poll: event}
	YAML
	run "$KBLAT" run lanes.yaml --no-state --out runs
	echo "$output"
	[ "$status" -eq 3 ]
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 14
	check_counters '[s[k] for s in (source, sink) for k in ("posted", "received", "bad_payloads")]' "[300, 300, 0, 300, 300, 0]"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["sink"]["lane"][:12], d["granted"]["sink"]["api"]')" "('posix/memory', 'am')"
	assert_eq "$(json "$run_dir/summary.json" '[any("carried by" in r for r in p["reasons"]) for p in d["points"]]')" "$(/usr/bin/python3 -c 'print([False] * 13 + [True])')"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "point 13: the messages were carried by tcp/lo.0, not by rc_verbs (source)"
}

@test "UCX: its environment is captured, what contradicts a setting is refused, and its log does not disturb the run" {
	need_feature UCX
	spec env <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, messages: 50, repetitions: 1, warmup: 0, poll: event, devices: lo}
		matrix:
		  - {tls: [all, posix]}
	YAML
	UCX_TLS=tcp UCX_LOG_LEVEL=info UCX_LOG_FILE=stdout run "$KBLAT" run env.yaml --no-state --out runs
	echo "$output"
	[ "$status" -eq 1 ]
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 1
	assert_contains "$output" "UCX_TLS: tcp contradicts the setting tls: posix; unset one of them"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["lane"][:6], sorted(d["granted"]["source"]["environment"])')" "('tcp/lo', ['UCX_LOG_FILE=stdout', 'UCX_LOG_LEVEL=info', 'UCX_TLS=tcp'])"
}

# A message that is sent at once wakes each side once; at a rendezvous the sides wait for each other, too.
@test "UCX: from rndv_thresh on, messages are sent by rendezvous" {
	need_feature UCX
	spec meet <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, tls: tcp, devices: lo, poll: event, size: 1000, messages: 300, repetitions: 1, warmup: 20, lost_after: 10s}
		matrix:
		  - {rndv_thresh: [1, inf]}
	YAML
	run "$KBLAT" run meet.yaml --no-state --out runs
	assert_measured
	run_dir=${lines[-1]}
	assert_eq "$(/usr/bin/python3 - "$run_dir" <<-'PY'
		import json, sys
		waits = [json.load(open(f"{sys.argv[1]}/points/000{p}/rep-00/counters.json"))["source"]["switches_voluntary"] for p in (0, 1)]
		print(waits[0] > 1.5 * waits[1] or waits)
	PY
	)" True
	UCX_RNDV_THRESH=8k run "$KBLAT" run meet.yaml --no-state --out runs --only rndv_thresh=inf
	[ "$status" -eq 1 ]
	assert_contains "$output" "UCX_RNDV_THRESH: 8k contradicts the setting rndv_thresh: inf; unset one of them"
	run "$KBLAT" run meet.yaml --no-state --out runs --set rndv_thresh=much
	[ "$status" -eq 1 ]
	assert_contains "$output" "rndv_thresh: UCX does not accept much"
}

# Messages that the kernel keeps when the source has posted them all are counted before its counters are read.
@test "UCX and libfabric over TCP: a stream that was carried is not denied by counters that are read too early" {
	need_feature UCX libfabric
	spec kept <<-'YAML'
		settings: {kernel: stream, messages: 200, repetitions: 4, warmup: 50, poll: event, drain: 5s, size: 8KiB}
		matrix:
		  - {transport: ucx, tls: tcp, devices: lo, lane: tcp, api: [am, stream]}
		  - {transport: fabric, provider: tcp, domain: lo}
	YAML
	run "$KBLAT" run kept.yaml --no-state --out runs
	assert_measured
	assert_eq "$(completed)" 3
	assert_eq "$(json "$run_dir/summary.json" '[r for p in d["points"] for r in p["reasons"] if "carried" in r]')" "[]"
}

@test "UCX: active messages that come in greater numbers than the ring holds all arrive" {
	need_feature UCX
	spec many <<-'YAML'
		settings: {kernel: stream, transport: ucx, tls: tcp, devices: lo, lane: tcp, messages: 400000, stamp_every: 16, repetitions: 1, warmup: 2000, check: yes, poll: event, size: 32, drain: 5s}
	YAML
	UCX_TCP_RX_SEG_SIZE=256k run "$KBLAT" run many.yaml --no-state --out runs
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 1
	check_counters 'source["posted"], sink["received"], sink["bad_payloads"]' "(400000, 400000, 0)"
}

# As it does if it finds itself in a state that must not be. A backtrace would hide why.
@test "UCX ends the process by itself: the point fails with its message" {
	need_feature UCX
	cat >fatal.c <<-'C'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <unistd.h>
		static void *ends(void *none) {
		    void *ucs = NULL;
		    while (!(ucs = dlopen("libucs.so.0", RTLD_NOLOAD | RTLD_NOW))) usleep(10000);
		    usleep(500000);
		    ((void (*)(const char *, unsigned, const char *, const char *))dlsym(ucs, "ucs_fatal_error_message"))("fatal.c", 1, "ends", "the test wants it");
		    return none;
		}
		__attribute__((constructor)) static void begin(void) {
		    pthread_t thread;
		    pthread_create(&thread, NULL, ends, NULL);
		}
	C
	cc -shared -fPIC -o fatal.so fatal.c -pthread -ldl
	spec ends <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, tls: tcp, devices: lo, lane: tcp, poll: event, messages: 50, pause: 1ms, repetitions: 1000, warmup: 0}
	YAML
	preload=$(preload "$PWD/fatal.so")
	run "$KBLAT" run ends.yaml --no-state --out runs --source "env LD_PRELOAD=$preload"
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "was killed by signal 6"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "the test wants it"
}

@test "UCX over TCP whose connection is lost: the point fails with the library's reason, and nothing hangs" {
	need_feature UCX
	need_namespaces -rn
	spec lost <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, tls: tcp, devices: lo, lane: tcp, messages: 50, pause: 1ms, repetitions: 10000, warmup: 0}
	YAML
	cat >lose <<-'SH'
		ip link set lo up
		"$KBLAT" run lost.yaml --no-state --out runs >out 2>&1 &
		for _ in {1..1200}; do compgen -G "runs/*.partial/points/0000/rep-00/counters.json" >/dev/null && break || sleep 0.05; done
		ss -K -t state established | grep -q 127.0.0.1 || { kill $!; echo 77; exit; }
		wait $! || echo $?
	SH
	run unshare -rn bash lose
	[ "$output" != 77 ] || skip "this kernel ends no connections of others (ss -K)"
	cat out
	assert_eq "$output" 1
	assert_contains "$(tr -s ' \n' ' ' <out)" "ucx: cannot reach the other side: connection reset by peer; "
}

@test "UCX: two sides make one connection, and what was asked for is given back without a complaint of the library" {
	need_feature UCX
	spec one <<-'YAML'
		settings: {kernel: pingpong, transport: ucx, api: tag, tls: tcp, devices: lo, messages: 200, repetitions: 1, warmup: 20, size: 64}
	YAML
	printf '#!/bin/sh\nexec "$@" 2>>complaints\n' >keep
	chmod +x keep
	cat >one <<-'SH'
		ip link set lo up
		"$KBLAT" run one.yaml --no-state --quiet --out runs --source ./keep --sink ./keep
		echo "connections accepted: $(awk '$1 == "Tcp:" {n = $7} END {print n}' /proc/net/snmp)"
	SH
	need_namespaces -rn
	run unshare -rn bash one
	assert_contains "$output" "connections accepted: 1"
	[ ! -s complaints ] || { head -n 3 complaints; false; }
}

# A millisecond is how long a side sleeps that has nothing else to wait for.
@test "UCX and libfabric, asleep while a large message is sent: what is to be done next wakes them" {
	need_feature UCX libfabric
	spec large <<-'YAML'
		settings: {kernel: pingpong, messages: 100, repetitions: 1, warmup: 20, poll: event, size: 64KiB, lost_after: 10s}
		matrix:
		  - {transport: ucx, tls: tcp, devices: lo, lane: tcp}
		  - {transport: fabric, provider: tcp, domain: lo}
	YAML
	run "$KBLAT" run large.yaml --no-state --out runs
	echo "$output"
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 2
	assert_eq "$(json "$run_dir/summary.json" '[p["metrics"]["half_rtt_ns"]["min"] < 900000 for p in d["points"]]')" "[True, True]"
}

# bats test_tags=long
@test "libfabric: what carried the messages is known, and a point whose messages took another lane is not valid" {
	need_feature libfabric
	spec lanes <<-'YAML'
		settings: {kernel: pingpong, transport: fabric, messages: 300, repetitions: 1, warmup: 300, check: yes, lost_after: 10s, size: 40000}
		matrix:
		  - {provider: shm, api: [msg, tagged]}
		  - {provider: tcp, domain: lo, api: [msg, tagged], poll: event, lane: any}
		  - {provider: tcp, domain: lo, endpoint: msg, poll: [busy, event]}
		  - {provider: udp, domain: lo, endpoint: dgram, size: 1000}
		  - {provider: "tcp;ofi_rxm", domain: lo, poll: event, lane: ["tcp;ofi_rxm/lo", shm, tcp/lo]}
	YAML
	run "$KBLAT" run lanes.yaml --no-state --out runs
	echo "$output"
	[ "$status" -eq 3 ]
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 10
	check_counters '[s[k] for s in (source, sink) for k in ("posted", "bad_payloads")]' "[300, 0, 300, 0]"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["sink"]["lane"], d["granted"]["sink"]["api"]')" "('shm/shm', 'msg')"
	# libfabric 2 needs no layer for these.
	assert_eq "$(json "$run_dir/points/0003/point.json" 'd["granted"]["source"]["lane"].replace(";ofi_rxm", ""), d["granted"]["source"]["api"]')" "('tcp/lo', 'tagged')"
	assert_eq "$(json "$run_dir/points/0004/point.json" 'd["granted"]["source"]["lane"]')" "tcp/lo"
	assert_eq "$(json "$run_dir/summary.json" '[any("carried by" in r for r in p["reasons"]) for p in d["points"]]')" "[False, False, False, False, False, False, False, False, True, True]"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "point 8: the messages were carried by tcp;ofi_rxm/lo, not by shm (source)"
}

@test "libfabric: one-way messages all arrive, though nobody calls the library after the last one" {
	need_feature libfabric
	touch before-shm
	spec o <<-'YAML'
		settings: {kernel: oneway, transport: fabric, messages: 200, burst: 200, repetitions: 2, warmup: 300, check: yes, depth: 8, drain: 2s}
		matrix:
		  - {provider: shm, size: [5, 20000]}
		  - {provider: tcp, domain: lo, poll: [busy, event], size: [5, 60000]}
	YAML
	run "$KBLAT" run o.yaml --no-state --out runs
	assert_measured
	assert_eq "$(completed)" 6
	check_counters 'source["posted"], sink["received"], sink["bad_payloads"]' "(200, 200, 0)"
	[ -z "$(shm_files)" ]
}

@test "libfabric: its environment is captured, and what contradicts a setting is refused" {
	need_feature libfabric
	spec env <<-'YAML'
		settings: {kernel: pingpong, transport: fabric, messages: 50, repetitions: 1, warmup: 0, poll: event, domain: lo}
		matrix:
		  - {provider: [any, shm]}
	YAML
	FI_PROVIDER=tcp FI_LOG_LEVEL=info run "$KBLAT" run env.yaml --no-state --out runs
	echo "$output"
	[ "$status" -eq 1 ]
	run_dir=${lines[-1]}
	assert_eq "$(completed)" 1
	assert_contains "$output" "FI_PROVIDER: tcp contradicts the setting provider: shm; unset one of them"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["source"]["lane"].replace(";ofi_rxm", ""), sorted(d["granted"]["source"]["environment"])')" "('tcp/lo', ['FI_LOG_LEVEL=info', 'FI_PROVIDER=tcp'])"
}

@test "libfabric: what a provider lacks is named, and its points are not possible here" {
	need_feature libfabric
	spec lacks <<-'YAML'
		settings: {kernel: pingpong, transport: fabric, messages: 50, repetitions: 1, warmup: 0}
		matrix:
		  - {provider: warp}
		  - {provider: tcp, domain: warp0}
		  - {provider: shm, endpoint: dgram}
		  - {provider: tcp, endpoint: msg, api: tagged}
		  - {provider: shm, poll: event}
		  - {provider: udp, endpoint: dgram, domain: lo, size: 20000}
		  - {provider: shm}
	YAML
	run "$KBLAT" run lacks.yaml --no-state --out runs
	assert_measured 'not possible here: .*'
	assert_eq "$(completed)" 1
	for lacking in "provider warp: it is not available here; \`fi_info\` lists those that are" \
		"provider tcp: it has no domain warp0; \`fi_info -p tcp\` lists what there is" \
		"provider shm: it has no endpoints of the type dgram" \
		"provider tcp: it has no api tagged for endpoints of the type msg" \
		"provider shm/shm: it has no descriptor to wait on (Function not implemented); use \`poll: busy\`" \
		"provider udp/lo: its messages have at most "; do
		assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "$lacking"
	done
}

@test "exchange: over every transport each message has four stamps, in their order" {
	local transports
	transports=$(native_transports)
	spec e <<-YAML
		settings: {kernel: exchange, messages: 100, repetitions: 1, warmup: 10, depth: 4, lost_after: 10s}
		matrix:
		  - {transport: [${transports// /, }]}
	YAML
	run "$KBLAT" run e.yaml --out runs
	assert_measured
	assert_eq "$(completed)" "$(wc -w <<<"$transports")"
	check_counters '[s[k] for s in (source, sink) for k in ("posted", "received")]' "[100, 100, 100, 100]"
	/usr/bin/python3 - "$run_dir" <<-'PY'
		import glob, numpy, sys
		for rep in glob.glob(sys.argv[1] + "/points/*/rep-00"):
		    subm, recv, answer, back = (numpy.load(f"{rep}/{c}.npy") for c in ("t_subm", "t_recv", "t_answer", "t_back"))
		    assert len(back) == 100 and (subm < recv).all() and (recv <= answer).all() and (answer < back).all(), rep
	PY
}

# bats test_tags=long
@test "message libraries: pairs and Unix sockets, and no such socket is left behind" {
	need_feature ZeroMQ nanomsg
	touch before-shm
	spec m <<-'YAML'
		settings: {messages: 100, repetitions: 1, warmup: 10, check: yes, poll: event, transport: [zeromq, nanomsg], over: [tcp, ipc]}
		matrix:
		  - {kernel: oneway, burst: 10, pattern: pair, poll: [busy, event, adaptive]}
		  - {kernel: pingpong, pattern: [pair, pubsub], size: [5, 60000]}
		  - {kernel: oneway, burst: 10, pattern: pair, transport: zeromq, over: tcp, hwm: 7}
	YAML
	run "$KBLAT" run m.yaml --out runs
	assert_measured
	assert_eq "$(completed)" 29
	assert_eq "$(json "$run_dir/points/0028/point.json" '[d["granted"][side]["hwm"] for side in ("source", "sink")]')" "[7, 7]"
	check_counters 'source["posted"], sink["received"], source["bad_payloads"], sink["bad_payloads"], sink["duplicates"]' "(100, 100, 0, 0, 0)"
	assert_eq "$(json "$run_dir/points/0000/point.json" 'd["granted"]["sink"]["pattern"], d["granted"]["sink"]["local"][:16]')" "('pair', 'tcp://127.0.0.1:')"
	[ -z "$(shm_files)" ]
}
