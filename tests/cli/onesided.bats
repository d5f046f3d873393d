#!/usr/bin/env bats
# Reads and atomics: what is not possible is refused before anything starts, on any machine. tests/vm/verbs.bats tests what they do.

load helper

# refused SENTENCE SETTING…: a dry run ends with status 2 and the sentence.
refused() {
	local sentence=$1
	local -a sets
	shift
	set_flags "$@"
	run "$KBLAT" run r.yaml --dry-run "${sets[@]}"
	echo "$* -> $status: $output"
	assert_eq "$status" 2
	assert_contains "$output" "$sentence"
}

@test "reads and atomics that cannot be are refused, each with both settings and what to use" {
	spec r <<-'YAML'
		settings: {kernel: stream, transport: verbs, size: 8B, depth: 8}
	YAML
	run "$KBLAT" run r.yaml --dry-run --set op=compare_swap --set check=yes --set batch=4 --set signal_every=2
	[ "$status" -eq 0 ]
	refused "op read and qp uc: only a reliable connection has reads and atomics; use qp rc" op=read qp=uc
	refused "op read and qp ud: only a reliable connection" op=read qp=ud
	refused "op fetch_add and qp uc: only a reliable connection" op=fetch_add qp=uc
	refused "size 16 and op fetch_add: an atomic works on 8 bytes; use size 8B" op=fetch_add size=16B
	refused "size 4 and op compare_swap: an atomic works on 8 bytes; use size 8B" op=compare_swap size=4B
	refused "inline on and op read: no payload is sent that could be copied; use inline off" op=read inline=on
	refused "both, check and a one-sided op" op=read both=yes check=yes
	refused "both, check and a one-sided op" op=fetch_add both=yes check=yes
	refused "rd_atomic" op=read rd_atomic=256
	refused "fetch_ad" op=fetch_ad
	for kernel in oneway pingpong; do
		sed "s/kernel: stream/kernel: $kernel/" r.yaml >k.yaml && mv k.yaml r.yaml
		refused "op read and a kernel that receives: nothing arrives at the sink; use kernel stream" op=read
		sed "s/kernel: $kernel/kernel: stream/" r.yaml >k.yaml && mv k.yaml r.yaml
	done
}

@test "what a read brings, an atomic takes there and back, is what the block wire counts" {
	spec w <<-'YAML'
		settings: {kernel: stream, transport: verbs, size: 8B}
		matrix:
		  - {op: [write, read, fetch_add]}
		  - {op: send, both: yes}
	YAML
	# Without a device each point is reported as impossible, but resolved.json exists.
	run "$KBLAT" run w.yaml --out runs
	run_dir=$(ls -d runs/*)
	assert_eq "$(json "$run_dir/resolved.json" '[tuple(p["traits"]["wire"].values()) for p in d["points"]]')" \
		"[(8, 0, False), (0, 8, True), (8, 8, True), (8, 8, False)]"
}
