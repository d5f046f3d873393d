#!/usr/bin/env bats
# Can this machine measure? Whatever it is, each check says ok, warn or bad, what it found and what to do.

load helper
bats_require_minimum_version 1.5.0

@test "doctor: a line for each check, status 0 or 3 by the worst" {
	run --separate-stderr "$KBLAT" doctor
	assert_eq "$status" "$(grep -qE "^[a-zA-Z/ ]+ bad " <<<"$output" && echo 3 || echo 0)"
	[ -z "$stderr" ]
	for check in clock stamp cpus skew noise frequency "idle states" "virtual machine" "locked memory" "huge pages" "RDMA devices"; do
		grep -qE "^$check +(ok|warn|bad) +[^ ]" <<<"$output"
	done
	# The worst first; and no paragraph on one line, however many interrupts there were.
	levels=$(grep -oE "^[a-zA-Z/ ]+ (ok|warn|bad) " <<<"$output" | awk '{print index("bad warn ok", $NF)}')
	assert_eq "$levels" "$(sort -n <<<"$levels")"
	[ "$(wc -L <<<"$output")" -le 100 ]
}

@test "doctor --json: numbers, and what interrupted the CPUs that spun" {
	run --separate-stderr "$KBLAT" doctor --json
	echo "$output" >d.json
	assert_eq "$(json d.json '3 * any(c["level"] == "bad" for h in [d, *d.get("hosts", [])] for c in h["checks"])')" "$status"
	assert_eq "$(json d.json 'd["schema"]')" 1
	assert_eq "$(json d.json 'all(c["level"] == "ok" or c["advice"] for c in d["checks"])')" True
	assert_eq "$(json d.json 'all(n["duration_ns"] > 0 and sum(n["interrupted_by"].values()) > 0
		for c in d["checks"] if c["name"] == "noise" for n in c["data"])' 2>&1)" True
	if [ "$(id -u)" -eq 0 ] && ! "$KBLAT" --version | grep -q '^without libtracefs:' && unshare --mount mount -t tracefs none /mnt 2>/dev/null; then
		assert_eq "$(json d.json 'all(len(n["causes"]) > 0 and all(k["times"] > 0 and k["longest_ns"] <= k["total_ns"] for k in n["causes"])
			for c in d["checks"] if c["name"] == "noise" for n in c["data"])')" True
		assert_eq "$(json d.json 'all("CPU %d by cause: " % n["cpu"] in c["finding"] for c in d["checks"] if c["name"] == "noise" for n in c["data"])')" True
	fi
	assert_eq "$(json d.json '[(c["data"]["first_access_ns"] > 2000 and c["data"]["virtual"]) == ("first access to each page" in c["finding"])
		for c in d["checks"] if c["name"] == "virtual machine"]')" "[True]"
	assert_eq "$(json d.json '[c["data"]["transparent"] != "" for c in d["checks"] if c["name"] == "huge pages"]')" "[True]"
}

# bats test_tags=long
@test "doctor shows the findings of each host under its name, and which host cannot be reached" {
	run --separate-stderr "$KBLAT" doctor --source "$BATS_TEST_DIRNAME/far_host alpha --" --sink "$BATS_TEST_DIRNAME/far_host beta --" --json
	echo "$stderr"
	echo "$output" >d.json
	assert_eq "$(json d.json '3 * any(c["level"] == "bad" for h in [d, *d.get("hosts", [])] for c in h["checks"])')" "$status"
	assert_eq "$(json d.json '[(h["role"], h["host"], len(h["checks"]) > 10) for h in d["hosts"]], d["checks"]')" \
		"([('source', 'alpha', True), ('sink', 'beta', True)], [])"
	printf '#!/bin/bash\n"$@" | sed -u "1s/\\"protocol\\": *[0-9]*/\\"protocol\\":1/"\n' >older
	chmod +x older
	run "$KBLAT" doctor --source "$BATS_TEST_DIRNAME/far_host alpha --" --sink "$T/older"
	[ "$status" -eq 1 ]
	assert_contains "$output" "source: alpha"
	assert_contains "$output" "speaks protocol 1"
	run "$KBLAT" doctor --source "/no/such launcher" --sink "/no/such launcher"
	[ "$status" -eq 1 ]
	assert_contains "$output" "/no/such: cannot start: no such file or directory"
}
