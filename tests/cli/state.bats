#!/usr/bin/env bats
# The state of a machine: captured and compared. Nothing here changes the machine; other machines are recorded ones.

load helper
state_of_this_machine
bats_require_minimum_version 1.5.0

# captured MACHINE: captures a recorded or synthetic machine into $T/MACHINE.
captured() {
	"$ROOT/tests/sysroots/machine" unpack "$1" "$T/$1.root"
	"$KBLAT" state capture "$T/$1" --sysroot "$T/$1.root"
}

# edit FILE EXPRESSION: changes the keys `k` of a state.json with a Python statement.
edit() {
	/usr/bin/python3 - "$1" "$2" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		k = d["keys"]
		exec(sys.argv[2])
		json.dump(d, open(sys.argv[1], "w"))
	PY
}

@test "diff: status 0 for equal states, 3 for a fatal key that changed, with its meaning" {
	captured small-v2
	run "$KBLAT" state diff small-v2 small-v2/state.json
	[ "$status" -eq 0 ]
	assert_contains "$output" "0 fatal"
	cp -a small-v2 other
	edit other/state.json 'k["scheduling.rt_runtime_us"] = -1; k["irq.4.affinity"] = "1"'
	run "$KBLAT" state diff small-v2 other
	[ "$status" -eq 3 ]
	assert_contains "${lines[0]}" "fatal"
	assert_contains "$output" "scheduling.rt_runtime_us"
	assert_contains "$output" "950000 -> -1"
	assert_contains "$output" "real-time tasks are stopped"
	assert_contains "$output" "1 fatal, 1 may matter"
	run "$KBLAT" state diff small-v2 other --json
	[ "$status" -eq 3 ]
	echo "$output" >d.json
	assert_eq "$(json d.json '[(x["key"], x["group"], x["class"], x["varying"], x["a"], x["b"]) for x in d["differences"]]')" \
		"[('scheduling.rt_runtime_us', 'scheduling', 'fatal', False, 950000, -1), ('irq.4.affinity', 'irq', 'warn', False, '0-3', '1')]"
}

@test "diff --varying: what is under test is told, and forbids nothing" {
	captured small-v2
	cp -a small-v2 other
	edit small-v2/state.json 'k["identity.kernel"] = "6.1.0"'
	edit other/state.json 'k["identity.kernel"] = "6.12.0"'
	run "$KBLAT" state diff small-v2 other
	[ "$status" -eq 3 ]
	run "$KBLAT" state diff small-v2 other --varying kernel
	[ "$status" -eq 0 ]
	assert_contains "$output" "under test"
	assert_contains "$output" "6.1.0 -> 6.12.0"
	edit other/state.json 'k["clock.source"] = "hpet"'
	run "$KBLAT" state diff small-v2 other --varying kernel
	[ "$status" -eq 3 ]
	run "$KBLAT" state diff small-v2 other --varying kernel,clock
	[ "$status" -eq 0 ]
	run "$KBLAT" state diff small-v2 other --varying kernl
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'kernel'"
}

@test "diff of two recorded machines: fatal, and many CPUs in one line" {
	captured t630
	captured smt-laptop
	run "$KBLAT" state diff t630 smt-laptop
	[ "$status" -eq 3 ]
	assert_contains "$output" "0-23 -> 0-7"
	assert_contains "$output" "idle.cpu0-7.state3.latency_us"
	[ "$(grep -c 'state3.latency_us' <<<"$output")" -eq 2 ]
}

@test "diff takes run directories and their hosts" {
	scripted messages=200
	[ "$status" -eq 0 ]
	run "$KBLAT" state diff "$run_dir" "$run_dir/state/$(hostname)/before"
	[ "$status" -eq 0 ]
	run "$KBLAT" state diff "$run_dir" "$run_dir/state/$(hostname)/after" --all
	[ "$status" -eq 0 ]
	assert_contains "$output" "moved by itself"
}

@test "diff refuses what is no state, with one message and status 2" {
	captured small-v2
	mkdir empty
	echo '{"schema": 9, "keys": {}}' >newer.json
	echo '{"schema": 1, "keys": {"a": []}}' >odd.json
	echo 'text' >text.json
	mkfifo fifo
	for bad in empty newer.json odd.json text.json fifo nowhere small-v2.root; do
		run --separate-stderr "$KBLAT" state diff small-v2 "$bad"
		echo "$bad: $status $stderr"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		assert_contains "$stderr" "$bad"
	done
	run --separate-stderr "$KBLAT" state diff small-v2 newer.json
	assert_contains "$stderr" "newer kblat"
	run --separate-stderr "$KBLAT" state diff small-v2
	[ "$status" -eq 2 ]
	run --separate-stderr "$KBLAT" state diff small-v2 small-v2 --sysroot /
	[ "$status" -eq 2 ]
}

@test "capture without privileges has the kernel, its settings, errno for what is refused, and its own cost" {
	chmod 777 "$T"
	cp "$KBLAT" kblat
	need_others "$T/kblat"
	"${as_other[@]}" ./kblat state capture here >out
	assert_eq "$(cat out)" here
	assert_eq "$(json here/state.json 'd["keys"]["identity.kernel"]')" "$(uname -r)"
	assert_eq "$(cat here/proc/sys/kernel/osrelease)" "$(uname -r)"
	assert_eq "$(json here/state.json 'd["keys"]["sysctl.vm.dirty_ratio"]')" "$(cat /proc/sys/vm/dirty_ratio)"
	assert_eq "$(json here/state.json 'd["cost_ns"] > 0 and d["keys"]["capture.cpu_ns"] > 0')" True
	assert_eq "$(json here/state.json 'd["keys"]["thread.kernel.ksoftirqd/0"]')" other:0:0
	assert_eq "$(json here/state.json 'list(d["keys"]) == sorted(d["keys"])')" True
	assert_eq "$(json here/state.json 'sum(v == "!EACCES" for v in d["keys"].values()) > 0')" True
	grep -q "ksoftirqd/0" here/made/threads.tsv
	# a file for each key that has the content of a file, and no links
	[ -z "$(find here -type l)" ]
}

@test "the sums of the program and its libraries are those of the files, before a run and after it" {
	spec sums <<<"settings: {kernel: oneway, transport: shmem, messages: 10, repetitions: 1, warmup: 0}"
	run "$KBLAT" run sums.yaml --out runs
	assert_measured
	local libc side
	libc=$(ldd "$KBLAT" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
	for side in before after; do
		assert_eq "$(json "$run_dir"/state/*/"$side/state.json" 'd["keys"]["software.kblat.sha256"]')" "$(sha256sum "$KBLAT" | cut -d ' ' -f 1)"
		assert_eq "$(json "$run_dir"/state/*/"$side/state.json" 'd["keys"]["software.libc.so.6.sha256"]')" "$(sha256sum "$libc" | cut -d ' ' -f 1)"
	done
}

@test "capture keeps no secret of the environment" {
	MY_API_TOKEN=abc GOOD=plain URL=https://me:word@host/ ODD=ghp0123456789abcdefghijklmnop MYSQL_PWD=abc \
		"$KBLAT" state capture here
	assert_eq "$(json here/state.json '[d["keys"]["environment." + k] for k in ("MY_API_TOKEN", "GOOD", "URL", "ODD", "MYSQL_PWD", "PWD")]')" \
		"['(hidden)', 'plain', '(hidden)', '(hidden)', '(hidden)', '$T']"
	run ! grep -rE 'me:word|ghp0123' here
}

@test "capture --mask hides the host's name and hardware addresses, in raw files, too" {
	"$ROOT/tests/sysroots/machine" unpack small-v2 root
	mkdir -p root/proc/sys/kernel root/sys/class/net/eth0 root/sys/class/dmi/id
	echo lab-host >root/proc/sys/kernel/hostname
	echo 02:fc:00:00:00:05 >root/sys/class/net/eth0/address
	echo SN12345 >root/sys/class/dmi/id/board_serial
	"$KBLAT" state capture masked --sysroot root --mask
	run ! grep -rE 'lab-host|fc:00|SN1' masked
	assert_eq "$(json masked/state.json 'd["keys"]["identity.hostname"]')" "xxx-xxxx"
	"$KBLAT" state capture open --sysroot root
	grep -q lab-host open/proc/sys/kernel/hostname
	run "$KBLAT" state diff open masked
	[ "$status" -eq 0 ]
}

# bats test_tags=long
@test "capture of recorded machines follows no link that leads outside" {
	for m in $("$ROOT/tests/sysroots/machine" list | cut -d' ' -f1); do
		captured "$m"
		[ -s "$m/state.json" ]
		run "$KBLAT" state diff "$m" "$m"
		[ "$status" -eq 0 ]
	done
	mkdir -p evil/proc/sys/kernel
	ln -s /etc/passwd evil/proc/cmdline
	ln -s ../../../../../../../../etc/passwd evil/proc/sys/kernel/osrelease
	"$KBLAT" state capture caught --sysroot evil
	assert_eq "$(json caught/state.json '[d["keys"][k] for k in ("identity.cmdline", "identity.kernel")]')" "['!ENOENT', '!ENOENT']"
	run ! grep -r root: caught
}

@test "capture refuses what it would spoil or cannot make" {
	mkdir full
	echo x >full/x
	touch file
	for bad in full file; do
		run --separate-stderr "$KBLAT" state capture "$bad"
		echo "$bad: $status $stderr"
		[ "$status" -ne 0 ]
		[ -z "$output" ]
		assert_contains "$stderr" "$bad"
	done
	run --separate-stderr "$KBLAT" state capture new --sysroot nowhere
	[ "$status" -eq 2 ]
	[ ! -e new ]
	run --separate-stderr "$KBLAT" state capture new --json
	[ "$status" -eq 2 ]
}

@test "sources lists the table, and docs/state.md has all of its groups" {
	run "$KBLAT" state sources
	[ "$status" -eq 0 ]
	assert_contains "$output" "idle.governor"
	run "$KBLAT" state sources --json
	[ "$status" -eq 0 ]
	echo "$output" >s.json
	assert_eq "$(json s.json 'sorted(set(s["class"] for s in d["sources"]))')" "['fatal', 'informative', 'volatile', 'warn']"
	assert_eq "$(json s.json 'any(s["needs_root"] for s in d["sources"])')" True
	for group in $(json s.json '" ".join(sorted(set(s["group"] for s in d["sources"])))'); do
		grep -q "^- .*\`$group\`" "$ROOT/docs/state.md" || { echo "docs/state.md: no $group"; return 1; }
	done
	run "$KBLAT" state sources --mask
	[ "$status" -eq 2 ]
}

@test "capture: what was read from a file with restricted access can be read by its owner alone" {
	mkdir -p root/sys/class/dmi/id
	echo SN12345 >root/sys/class/dmi/id/board_serial
	echo board >root/sys/class/dmi/id/board_name
	"$KBLAT" state capture public --sysroot root
	assert_eq "$(stat -c %a public/sys/class/dmi/id/board_serial public/state.json | paste -sd' ')" "644 644"
	for mode in 600 400 640; do
		chmod "$mode" root/sys/class/dmi/id/board_serial
		"$KBLAT" state capture "private-$mode" --sysroot root
		run grep -rl SN12345 "private-$mode"
		[ "${#lines[@]}" -eq 2 ]
		assert_eq "$(stat -c %a "${lines[@]}" | sort -u)" 600
		assert_eq "$(stat -c %a "private-$mode/sys/class/dmi/id/board_name")" 644
	done
	# Everybody may read the file, but nobody may enter its folder.
	chmod 644 root/sys/class/dmi/id/board_serial
	chmod 700 root/sys/class/dmi
	"$KBLAT" state capture folder --sysroot root
	assert_eq "$(stat -c %a folder/sys/class/dmi/id/board_serial folder/state.json | sort -u)" 600
}

@test "names of threads are the owner's alone where users may not see each other's processes" {
	mkdir -p root/proc/7/task/7 root/proc/self
	echo "7 (secret) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0" >root/proc/7/task/7/stat
	echo "Cpus_allowed_list: 0-1" >root/proc/7/task/7/status
	for options in rw:644 rw,hidepid=invisible:600 rw,gid=4,hidepid=2:600; do
		echo "24 30 0:22 / /proc rw,relatime shared:5 - proc proc ${options%:*}" >root/proc/self/mountinfo
		"$KBLAT" state capture "${options%:*}" --sysroot root
		run grep -rlw secret "${options%:*}"
		[ "${#lines[@]}" -eq 2 ]
		assert_eq "$(stat -c %a "${lines[@]}" | sort -u)" "${options#*:}"
	done
}

@test "the kernel's log is the owner's alone where only root may read it" {
	"$KBLAT" state capture here
	[ -e here/made/kernel.log ] || skip "the kernel's log may not be read"
	if [ "$(cat /proc/sys/kernel/dmesg_restrict)" -eq 0 ]; then
		assert_eq "$(stat -c %a here/made/kernel.log)" 644
	else
		assert_eq "$(stat -c %a here/made/kernel.log here/state.json | sort -u)" 600
	fi
}

@test "run --mask: neither the host's name nor a hardware address is in the run directory" {
	local address
	scripted messages=100
	run "$KBLAT" run scripted.yaml --out "$T/masked" --mask
	[ "$status" -eq 0 ]
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/run.json" 'sorted(d["hosts"])')" "['host-1']"
	[ -s "$run_dir/state/host-1/before/state.json" ]
	if [ "$(hostname | wc -c)" -gt 3 ]; then
		run grep -rlwF -- "$(hostname)" "$run_dir/state"
		[ -z "$output" ]
	fi
	for address in $(cat /sys/class/net/*/address); do
		[ "${address//[0:]/}" ] || continue
		run grep -rlF -- "$address" "$run_dir/state"
		[ -z "$output" ]
	done
	run "$KBLAT" verify "$run_dir"
	[ "$status" -eq 0 ]
}
