#!/usr/bin/env bats
# All pairs of hosts, simulated on this one: the launcher knows which host its endpoint represents, and makes a pair slow by
# changing the delay of its transport.

load helper

# A launcher "host NAME PEER COMMAND…" over the scripted transport, where medians are the delay. It is 5 times as long between
# n1 and n3, and N2_N5 ns between n2 and n5. n5 fails if there is a file `lost`; runs wait while there is a file `slow`.
setup_hosts() {
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: scripted, delay: 1us, messages: 2500, warmup: 10, repetitions: 1}
	YAML
	cat >host <<-'SH'
		#!/usr/bin/env bash
		name=$1 peer=$2
		shift 2
		echo "$name $peer" >>"${0%/*}/started"
		if [ -e "${0%/*}/lost" ] && [ "$name" = n5 ]; then
			echo "n5: no route to host" >&2
			exit 255
		fi
		while [ -e "${0%/*}/slow" ]; do sleep 0.1; done
		case $name-$peer in
		n1-n3 | n3-n1) sed -u 's/"delay_ns": *1000,/"delay_ns":5000,/' | "$@" ;;
		n2-n5 | n5-n2) sed -u "s/\"delay_ns\": *1000,/\"delay_ns\":${N2_N5:-1000},/" | "$@" ;;
		*) exec "$@" ;;
		esac
	SH
	chmod +x host
	launch=(--source "$T/host {host} {sink}" --sink "$T/host {host} {source}")
}

# bats test_tags=long
@test "each pair of hosts is measured once, and slower pairs are named with status 3" {
	setup_hosts
	N2_N5=3000 run "$KBLAT" run s.yaml --hosts 'n[1-5]' --out runs "${launch[@]}"
	echo "$output"
	[ "$status" -eq 3 ]
	dir=${lines[-1]}
	assert_contains "$output" "5 hosts, 10 pairs in 5 rounds: 10 measured, 0 failed, 0 left"
	assert_eq "$(grep -o "stands out: .* times" <<<"$output" | tr '\n' ' ')" \
		"$(printf 'stands out: %s times ' '5.00 us, 5.0' '3.00 us, 3.0' '5.00 us, 5.0' '3.00 us, 3.0')"
	assert_eq "$(cells "$dir" 'len({frozenset((x["source"], x["sink"])) for x in d}), {x["state"] for x in d}')" "(10, {'completed'})"
	assert_eq "$(json "$dir/study.json" '[sorted((p["source"], p["sink"])) for p in d["answer"]["points"][0]["p50"]["slow_pairs"]], d["status"]')" \
		"([['n1', 'n3'], ['n2', 'n5']], 'COMPLETED')"
	assert_eq "$(cells "$dir" 'max(sum(h in (x["source"], x["sink"]) for x in d if x["block"] == r) for h in ("n1", "n2", "n3", "n4", "n5") for r in range(5))')" 1
	# The matrix has all cells, an empty diagonal, and crosses in both cells of a pair that stands out.
	assert_eq "$(awk -F'\t' 'NR > 1 { n++; e += $3 == "NaN"; s += $4 > 0 } END { print n, e, s }' "$dir/derived/figures/point-0000-p50.tsv")" "25 5 4"
	grep -q "some stand out" "$dir/derived/report.html"
	# The state of each host would be thousands of files; runs of pairs do without.
	run_dir=$dir/$(cells "$dir" 'd[0]["run"]')
	[ ! -e "$run_dir/state" ]
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
	[ -z "$(leftovers)" ]
	# Its page is made again from cells.jsonl.
	rm -r "$dir/derived"
	sed -i '/"source":"n1","sink":"n3"\|"source":"n3","sink":"n1"\|"source":"n2","sink":"n5"\|"source":"n5","sink":"n2"/d' "$dir/cells.jsonl"
	run "$KBLAT" report "$dir"
	[ "$status" -eq 0 ]
	assert_eq "$output" "$(realpath "$dir")/derived/report.html"
	grep -q "8 measured" "$dir/derived/report.html"
	! grep -q "some stand out" "$dir/derived/report.html"
}

# bats test_tags=long
@test "pairs of a lost host fail and are soon not tried any more, and only those are repeated" {
	setup_hosts
	touch lost
	run "$KBLAT" run s.yaml --hosts n2,n4,n5,n6,n7,n8 --at-once 2 --out runs "${launch[@]}"
	echo "$output"
	[ "$status" -eq 1 ]
	dir=${lines[-1]}
	assert_contains "$output" "no route to host"
	assert_contains "$output" "10 measured, 5 failed"
	assert_eq "$(cells "$dir" 'sum("3 pairs in a row failed with n5" in x["why"] for x in d), sum("no route to host" in x["why"] for x in d)')" "(2, 3)"
	rm lost started
	for option in --set=delay=1us --mask; do
		run "$KBLAT" run --resume "$dir" "$option"
		[ "$status" -eq 2 ]
		assert_contains "$output" "omit all others"
	done
	run bash -c "ulimit -n 67; '$KBLAT' run --resume '$dir'"
	[ "$status" -eq 77 ]
	assert_contains "$output" "2 pairs need 68 open files, the limit is 67"
	run "$KBLAT" run --resume "$dir" --quiet
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "15 measured, 0 failed"
	[[ $output != *"kblat: round"* ]]
	assert_eq "$(grep -c 'n5' started)" 10 # both sides of 5 pairs
	assert_eq "$(wc -l <started)" 10
}

# bats test_tags=long
@test "an interrupted or killed measurement leaves no processes, and goes on where it was" {
	setup_hosts
	touch slow
	"$KBLAT" run s.yaml --hosts 'n[1-4]' --out runs "${launch[@]}" >out 2>err &
	pid=$!
	until [ "$(wc -l <started 2>/dev/null)" = 4 ]; do sleep 0.05; done
	kill -INT $pid
	status=0
	wait $pid || status=$?
	cat out err
	[ "$status" -eq 1 ]
	dir=$(tail -n 1 out)
	assert_contains "$(cat err)" "--resume"
	assert_eq "$(json "$dir/study.json" 'd["status"]')" INTERRUPTED
	for _ in {1..100}; do [ -n "$(leftovers)" ] || break; sleep 0.1; done
	[ -z "$(leftovers)" ]
	rm -f started
	"$KBLAT" run --resume "$dir" >out 2>err &
	pid=$!
	until [ "$(wc -l <started 2>/dev/null)" = 4 ]; do sleep 0.05; done
	kill -KILL $pid
	wait $pid || true
	rm slow
	for _ in {1..100}; do [ -n "$(leftovers)" ] || break; sleep 0.1; done
	[ -z "$(leftovers)" ]
	echo '{"pair": 0, "half of a li' >>"$dir/cells.jsonl"
	mkdir profiles-of-it
	/usr/bin/python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
d["options"]["profile_path"] = sys.argv[2]
json.dump(d, open(sys.argv[1], "w"))' "$dir/study.json" "$T/profiles-of-it"
	run "$KBLAT" run --resume "$dir"
	echo "$output"
	assert_contains "$output" "profiles will be searched in '$T/profiles-of-it'"
	assert_contains "$output" "a spec is '$T/s.yaml'"
	assert_contains "$output" "endpoints will be started by"
	[ "$status" -eq 3 ]
	assert_contains "$output" "6 measured, 0 failed, 0 left"
}

@test "hosts that are none, options that do not go together; the plan for a thousand hosts" {
	setup_hosts
	local rows=(
		"n1|there is only one host" "n1,n2,n1|this host is listed twice: 'n1'" "n1,-oProxyCommand=true|a host's name consists of"
	)
	for row in "${rows[@]}"; do
		run "$KBLAT" run s.yaml --hosts "${row%%|*}" --out runs
		[ "$status" -eq 2 ]
		assert_contains "$output" "${row#*|}"
	done
	run "$KBLAT" run s.yaml --at-once 3
	[ "$status" -eq 2 ]
	assert_contains "$output" "require --hosts"
	run "$KBLAT" run s.yaml --hosts n1,n2 --budget 1h
	[ "$status" -eq 2 ]
	run "$KBLAT" run s.yaml --hosts n1,n2 --set 'delay={source}' --out runs
	[ "$status" -eq 2 ]
	assert_contains "$output" "delay"
	[ ! -e runs ]
	run "$KBLAT" run s.yaml --hosts "$(printf 'node-of-a-cluster-%04d,' {1..1000})" --dry-run
	[ "$status" -eq 0 ]
	assert_contains "$output" "1000 hosts, 499500 pairs"
	run bash -c "ulimit -n 300; '$KBLAT' run s.yaml --hosts 'n[1-600]' --at-once 200 --out runs"
	[ "$status" -eq 77 ]
	assert_contains "$output" "200 pairs need 464 open files, the limit is 300"
	[ ! -e runs ]
	printf 'n%d 10.0.0.1\n' {1..1000} >hosts
	run "$KBLAT" run s.yaml --hosts hosts --dry-run
	[ "$status" -eq 0 ]
	assert_contains "$output" "1000 hosts, 499500 pairs, 1 points each; 999 rounds, 128 pairs at once"
	"$KBLAT" run s.yaml --hosts hosts --dry-run --json >plan.json # megabytes, so not into a variable
	assert_eq "$(json plan.json 'len(d["rounds"]), {len(r) for r in d["rounds"]}, {len({h for p in r for h in p}) for r in d["rounds"]}')" \
		"(999, {500}, {1000})"
}

# Loopback in a network namespace of its own, at 100 Mbit/s, between 127.0.0.2 and 127.0.0.4 at a fifth of that.
write_network() {
	cat >network <<-'SH'
		#!/bin/bash
		set -e
		between() { tc filter add dev lo parent 1: protocol ip u32 match ip src "$1" match ip dst "$2" flowid 1:2; }
		ip link set lo up mtu 1500
		tc qdisc add dev lo root handle 1: htb default 1
		tc class add dev lo parent 1: classid 1:1 htb rate 100mbit burst 4kb cburst 4kb quantum 1500
		tc class add dev lo parent 1: classid 1:2 htb rate 20mbit burst 4kb cburst 4kb quantum 1500
		between 127.0.0.2 127.0.0.4
		between 127.0.0.4 127.0.0.2
		exec "$@"
	SH
	chmod +x network
}

# bats test_tags=long
@test "over tcp, a pair whose link is slower by 5 is the one that is named" {
	need_namespaces -n
	write_network
	unshare -n ./network true || skip "this kernel cannot shape a link"
	spec t <<-'YAML'
		settings: {kernel: pingpong, transport: tcp, poll: event, size: 60000, messages: 60, warmup: 5, repetitions: 1}
	YAML
	printf 'n%d 127.0.0.%d\n' 1 1 2 2 3 3 4 4 >hosts
	run unshare -n ./network "$KBLAT" run t.yaml --hosts hosts --at-once 1 --out runs --source env --sink env \
		--set "source_address={source_address}" --set "sink_address={sink_address}"
	echo "$output"
	[ "$status" -eq 3 ]
	dir=${lines[-1]}
	# On a busy machine another pair may stand out, but less.
	assert_eq "$(json "$dir/study.json" '[(sorted((p["source"], p["sink"])), 4 < p["times"] < 6)
		for p in [max(d["answer"]["points"][0]["p50"]["slow_pairs"], key=lambda p: p["times"])]]')" "[(['n2', 'n4'], True)]"
}
