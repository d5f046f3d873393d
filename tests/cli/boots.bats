#!/usr/bin/env bats
# kblat boots on a machine whose boot loader is a folder (boots_machine). tests/vm/two-kernels has a real one.

load helper
bats_require_minimum_version 1.5.0

setup() {
	kblat_setup
	umask 022
	MACHINE=$T/machine M=$T/boots_machine
	export MACHINE
	install -m 755 "$BATS_TEST_DIRNAME/boots_machine" "$M" # nobody else may be able to change it
	mkdir machine out
	cp -r "${KBLAT_SYSROOT:?tests/run sets it}" sysroot
	export KBLAT_SYSROOT=$T/sysroot
	echo old >machine/default
	echo 6.1.0-old >machine/osrelease
	cat /proc/sys/kernel/random/uuid >machine/boot_id
	need_namespaces -rm
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: scripted, delay: 1us, messages: 2500, warmup: 10, repetitions: 1}
	YAML
}

# on COMMAND…: on the machine
on() { "$M" in "$@"; }

# start BOOTS RUNS OPTION…: sets $status, $output, and $dir
start() {
	run on "$KBLAT" boots start s.yaml --old 6.1.0-old --new 6.1.0-new --old-entry old --new-entry new --loader "$M" \
		--boots "${1:-4}" --runs "${2:-1}" --settle "${settle:-0s}" --out "$T/out" "${@:3}"
	dir=$(echo "$T"/out/*)
}

# power: the machine starts, and goes on until it is neither to go on nor down. Sets $status and $output, of the last boot.
power() {
	local i
	for ((i = 0; i < 40; i++)); do
		run on "$M" boot "$KBLAT" "$dir"
		[ -e machine/down ] || [ -e machine/enabled ] || return 0
	done
	echo "it does not end: $output"
	return 1
}

plan() { json "$dir/study.json" "$1"; }

# nothing_left: neither in the boot loader nor in systemd
nothing_left() { [ ! -s machine/next ] && [ ! -e machine/enabled ] && [ "$(cat machine/default)" = old ]; }

# is_whole: eight boots were measured, in turn, each with a boot of its own, and nothing became slower.
is_whole() {
	nothing_left
	assert_eq "$(plan 'd["status"], d["answer"]["verdict"], d["answer"]["boots"]')" "('COMPLETED', 'no regression', [4, 4])"
	assert_eq "$(cells "$dir" '" ".join(x["name"] for x in d)')" "old new new old old new new old"
	assert_eq "$(cells "$dir" '{x["state"] for x in d}')" "{'completed'}"
	assert_eq "$(for one in $(cells "$dir" '" ".join(x["run"] for x in d)'); do
		json "$dir/$one/run.json" '[h["boot_id"] for h in d["hosts"].values()][0]'
	done | sort -u | wc -l)" 8
	run -0 "$KBLAT" verify "$dir/$(cells "$dir" 'd[7]["run"]')"
}

# bats test_tags=long
@test "two kernels in turn, until there is an answer; nothing stays in the boot loader" {
	start
	[ "$status" -eq 0 ]
	[ -e machine/down ]
	run -0 "$KBLAT" boots status "$dir"
	assert_contains "$output" "RUNNING, 0 of at most 8 boots measured"
	power
	assert_contains "$output" "no regression: s: NEW (6.1.0-new, 4 runs of 4 boots) is not slower than BASE (6.1.0-old"
	is_whole
	assert_eq "$(tr '\n' ' ' <machine/booted)" "old new new old old new new old "
	assert_eq "$(grep -c '^set' machine/calls)" 8
	[ -f "$dir/comparison/report.html" ]
	run -0 "$KBLAT" boots status "$dir"
	assert_contains "$output" "COMPLETED, 8 of at most 8 boots measured"
	assert_contains "$output" "boot 2, new: booted"
	rm -r "$dir/comparison"
	run -0 "$KBLAT" report "$dir"
	[ -f "$dir/comparison/report.html" ]
	# A unit that is still enabled, as after a power failure at the end, only puts the machine back.
	touch machine/enabled
	echo new >machine/next
	power
	nothing_left
	assert_eq "$(grep -c '^set' machine/calls)" 8
}

# bats test_tags=long
@test "a slower kernel is decided at the first look, and the machine returns to its default" {
	cat >launch <<-'SH'
		#!/bin/sh
		if [ "$(cat "$MACHINE/osrelease")" = 6.1.0-new ]; then
			sed -u 's/"delay_ns": *1000,/"delay_ns":1500,/' | "$@"
		else
			exec "$@"
		fi
	SH
	chmod +x launch
	start 6 1 --source "$T/launch" --sink "$T/launch"
	run on "$M" boot "$KBLAT" "$dir"
	for _ in 2 3 4 5 6 7; do
		run on "$M" boot "$KBLAT" "$dir"
	done
	[ -e machine/enabled ]
	run on env MACHINE="$MACHINE" "$KBLAT" boots status "$dir"
	assert_contains "$output" "7 of at most 12 boots measured"
	power
	assert_contains "$output" "regression: s: NEW (6.1.0-new, 4 runs of 4 boots) is slower"
	nothing_left
	assert_eq "$(plan 'd["status"], d["answer"]["verdict"]')" "('COMPLETED', 'regression')"
	assert_eq "$(cells "$dir" '[x["state"] for x in d[8:]]')" "['skipped', 'skipped', 'skipped', 'skipped']"
	assert_eq "$(cat machine/osrelease)" 6.1.0-old
}

# bats test_tags=long
@test "killed at any step, and switched off: it goes on at the next boot, with the same answer" {
	local step
	for step in "pending before" "set before" "set after" "reboot before" "reboot after" "disable before" "disable after"; do
		rm -rf out machine/booted
		mkdir out
		start 4 1 --tries 5
		[ "$status" -eq 0 ]
		# In the fourth boot, or at the end.
		for _ in 1 2 3; do
			run on "$M" boot "$KBLAT" "$dir"
		done
		echo "$step" >machine/die
		power
		echo "$step: $output"
		[ ! -e machine/die ]
		is_whole
	done
}

# disarmed: nothing is armed, nothing happens at the next boot, and it can be continued.
disarmed() {
	nothing_left
	run on "$M" boot "$KBLAT" "$dir"
	[ ! -e machine/down ]
	nothing_left
	run -0 on "$KBLAT" boots start --resume "$dir"
	[ -s machine/next ]
	[ -e machine/enabled ]
	[ -e machine/down ]
	run -0 on "$KBLAT" boots stop "$dir"
	nothing_left
}

# bats test_tags=long
@test "killed, interrupted or failed at whatever step of its start: nothing is armed" {
	local signal step
	for signal in KILL INT TERM HUP; do
		for step in "enable before" "enable after" "set before" "set after" "reboot before"; do
			rm -rf out machine/{down,booted}
			mkdir out
			echo "$step $signal" >machine/die
			start
			echo "$signal $step: $status $output"
			[ "$status" -ne 0 ]
			[ ! -e machine/down ] || rm machine/down
			disarmed
		done
	done
	# What had been started is waited for.
	rm -rf out machine/{down,booted}
	mkdir out
	echo "enable before KILL" >machine/die
	touch machine/stubborn
	start
	rm machine/stubborn
	disarmed
	for step in enable set reboot; do
		rm -rf out machine/{down,booted}
		mkdir out
		echo "$step" >machine/refuses
		start
		echo "refused $step: $status $output"
		[ "$status" -eq 1 ]
		rm machine/refuses
		disarmed
	done
}

@test "Ctrl-C is not for the boot loader's program, and takes back a reboot that was just asked for" {
	printf 'trap "touch %s/hit" INT; sleep 1\n' "$T" >machine/slow
	set -m
	on "$KBLAT" boots start s.yaml --old 6.1.0-old --new 6.1.0-new --old-entry old --new-entry new --loader "$M" --settle 0s \
		--out "$T/out" >out.txt 2>&1 3>&- &
	pid=$!
	set +m
	for _ in $(seq 200); do
		! grep -q '^reboot' machine/calls 2>/dev/null || break
		sleep 0.05
	done
	kill -INT -- "-$pid"
	status=0
	wait "$pid" || status=$?
	dir=$(echo "$T"/out/*)
	cat out.txt
	[ "$status" -eq 1 ]
	[ ! -e hit ]
	nothing_left
	assert_eq "$(plan 'd["status"], d["plan"]["at"]["asked"]')" "('INTERRUPTED', None)"
}

@test "one comparison at a time: another one is refused, with who has the machine" {
	local first
	start
	[ "$status" -eq 0 ]
	first=$dir
	rm machine/{next,down}
	run -1 on "$KBLAT" boots start s.yaml --old 6.1.0-old --new 6.1.0-new --loader "$M" --out "$T/other"
	assert_contains "$output" "the machine's next boots are those of another comparison, $first"
	[ ! -e other ]
	assert_eq "$(grep -c '^enable' machine/calls)" 1
	run -0 on "$KBLAT" boots stop "$first"
	run -0 on "$KBLAT" boots start s.yaml --old 6.1.0-old --new 6.1.0-new --loader "$M" --out "$T/other"
	# The first one takes nothing from the second one.
	run -1 on "$KBLAT" boots start --resume "$first"
	assert_contains "$output" "those of another comparison"
	run -0 on "$KBLAT" boots stop "$first"
	[ -s machine/next ]
	run -0 on "$KBLAT" boots stop "$(echo "$T"/other/*)"
	nothing_left
}

# bats test_tags=long
@test "switched off in the middle of a run: the whole boot is repeated, and its first run is kept apart" {
	cat >launch <<-'SH'
		#!/bin/sh
		if [ -e "$MACHINE/die" ] && [ "$(ls "$MACHINE/../out"/*/runs/new | grep -vc partial)" -ge 1 ]; then
			rm -f "$MACHINE/die"
			kill -KILL "$(cat "$MACHINE/pid")"
		fi
		exec "$@"
	SH
	chmod +x launch
	start 4 2 --source "$T/launch"
	run on "$M" boot "$KBLAT" "$dir"
	touch machine/die
	run on bash -c 'echo $$ >"$MACHINE/pid"; exec "$0" boot "$1" "$2"' "$M" "$KBLAT" "$dir"
	[ "$status" -eq 137 ]
	[ ! -e machine/die ]
	power
	nothing_left
	assert_eq "$(plan 'd["status"], d["answer"]["verdict"], d["answer"]["boots"]')" "('COMPLETED', 'no regression', [4, 4])"
	assert_eq "$(cells "$dir" '[len(x["earlier"]) for x in d if x["block"] == 1]')" "[1, 0]"
	assert_contains "$(plan '[v["why"] for v in d["plan"]["events"]]')" "was rebooted or switched off while it was measured"
	[ -d "$dir/$(cells "$dir" 'd[2]["earlier"][0]')" ]
}

# bats test_tags=long
@test "a kernel that does not boot: said, tried again, ended, and continued once it boots" {
	echo new >machine/fails
	start 4 1 --tries 2
	power
	assert_contains "$output" "boot 2 has failed 2 times in a row, at last: 6.1.0-new did not come up: the default, 6.1.0-old, is running"
	nothing_left
	assert_eq "$(plan 'd["status"], d["answer"]')" "('FAILED', None)"
	run -0 "$KBLAT" boots status "$dir"
	assert_contains "$output" "FAILED, 1 of at most 8 boots measured"
	rm machine/fails
	run on "$KBLAT" boots start --resume "$dir"
	[ "$status" -eq 0 ]
	power
	is_whole
}

# bats test_tags=long
@test "another kernel than the one asked for is said, not measured" {
	echo other >machine/wrong
	start 4 1 --tries 2
	power
	run -0 "$KBLAT" boots status "$dir"
	assert_contains "$output" "6.1.0-new was asked for, but 6.1.0-other is running: is 'new' its entry?"
	nothing_left
	assert_eq "$(cells "$dir" '[x["state"] for x in d if x["name"] == "new"].count("completed")')" 0
	assert_eq "$(cat machine/osrelease)" 6.1.0-old
}

# bats test_tags=long
@test "a boot loader that cannot clear its entry is not used again" {
	touch machine/sticky
	start
	run on "$M" boot "$KBLAT" "$dir"
	[ "$status" -eq 1 ]
	assert_contains "$output" "the entry of the next boot is still set after that boot"
	nothing_left
}

# bats test_tags=long
@test "a full disk ends it, with nothing left, and it is continued when there is room" {
	run on bash -c 'mount -t tmpfs -o size=40m none out && exec "$@"' - bash -c '
		set -u
		"$1" boots start s.yaml --old 6.1.0-old --new 6.1.0-new --old-entry old --new-entry new --loader "$2" --boots 4 \
			--runs 1 --settle 0s --out out
		dir=$(echo "$PWD"/out/*-boots-*)
		"$2" boot "$1" "$dir"
		for room in 0 4; do
			dd if=/dev/zero of=out/full bs=1M 2>/dev/null
			truncate -s "-${room}M" out/full
			"$2" boot "$1" "$dir"
			echo "with $room MiB: status $?, $([ -e "$MACHINE/enabled" ] || echo disabled)"
			rm out/full
			"$1" boots start --resume "$dir"
		done
		for i in 2 3 4 5 6 7 8 9; do
			[ ! -e "$MACHINE/enabled" ] || "$2" boot "$1" "$dir"
		done
		"$1" boots status "$dir"
	' - "$KBLAT" "$M"
	echo "$output"
	assert_contains "$output" "study.json: cannot write: no space left on the file system"
	assert_contains "$output" "the disk is full: only 4 MiB are free"
	assert_contains "$output" "with 0 MiB: status 1, disabled"
	assert_contains "$output" "with 4 MiB: status 1, disabled"
	assert_contains "$output" "COMPLETED, 8 of at most 8 boots measured"
	nothing_left
	assert_eq "$(grep -c '^disable' machine/calls)" 3
}

# bats test_tags=long
@test "stopped: nothing goes on, and it can be continued" {
	start
	run on "$M" boot "$KBLAT" "$dir"
	run on "$KBLAT" boots stop "$dir"
	[ "$status" -eq 0 ]
	assert_contains "$output" "stopped: nothing is left in the boot loader"
	nothing_left
	assert_eq "$(plan 'd["status"], d["plan"]["at"]["asked"]')" "('INTERRUPTED', None)"
	run on "$M" boot "$KBLAT" "$dir"
	assert_eq "$(cells "$dir" 'sum(x["state"] == "completed" for x in d)')" 1
	run on "$KBLAT" boots start --resume "$dir"
	[ "$status" -eq 0 ]
	power
	is_whole
}

@test "--dry-run says what it costs, and does nothing" {
	settle=2min start 8 3 --dry-run
	[ "$status" -eq 0 ]
	assert_contains "$output" "about 1 min 0 s to reboot (assumed)"
	assert_contains "$output" "2 min 0 s to settle, 3 runs of about"
	assert_contains "$output" "at most 16 boots: "
	assert_contains "$output" "at the earliest after 8 boots: "
	assert_eq "$(ls out)" ""
	[ ! -e machine/calls ]
}

@test "entries are found by the kernel's release, as grub-mkconfig and kernel-install write them" {
	mkdir -p sysroot/boot/grub sysroot/boot/efi/loader/entries
	cat >sysroot/boot/grub/grub.cfg <<-'CFG'
		menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1234' {
			linux /boot/vmlinuz-6.1.0-new
		}
		submenu 'Advanced options' $menuentry_id_option 'gnulinux-advanced-1234' {
		    menuentry 'Debian GNU/Linux, with Linux 6.1.0-new' --class debian $menuentry_id_option 'gnulinux-6.1.0-new-advanced-1234' {
		    }
		    menuentry 'Debian GNU/Linux, with Linux 6.1.0-old' --class debian $menuentry_id_option 'gnulinux-6.1.0-old-advanced-1234' {
		    }
		}
	CFG
	touch sysroot/boot/efi/loader/entries/abcd-6.1.0-{old,new}.conf
	local options=(start s.yaml --old 6.1.0-old --new 6.1.0-new --dry-run)
	run -0 "$KBLAT" boots "${options[@]}" --loader grub
	assert_contains "$output" "old: 6.1.0-old (entry 'gnulinux-advanced-1234>gnulinux-6.1.0-old-advanced-1234'), new: 6.1.0-new (entry 'gnulinux-advanced-1234>gnulinux-6.1.0-new-advanced-1234')"
	run -0 "$KBLAT" boots "${options[@]}" --loader bootctl
	assert_contains "$output" "(entry 'abcd-6.1.0-old.conf'), new: 6.1.0-new (entry 'abcd-6.1.0-new.conf')"
	run -0 "$KBLAT" boots "${options[@]}" --loader kexec
	assert_contains "$output" "old: 6.1.0-old (entry '6.1.0-old')"
	run -2 "$KBLAT" boots start s.yaml --old 6.1.0-old --new 6.1.0-none --loader grub --dry-run
	assert_contains "$output" "it has no entry for the kernel 6.1.0-none that could be found: name it with --old-entry or --new-entry"
}

@test "wrong usage is said before anything is done" {
	local options=(s.yaml --old 6.1.0-old --new 6.1.0-new) loader=(--loader "$M") out=(--out "$T/out")
	run -2 "$KBLAT" boots
	run -2 "$KBLAT" boots begin
	assert_contains "$output" "expects start, status or stop, not 'begin'"
	run -2 "$KBLAT" boots status
	assert_contains "$output" "expects: kblat boots status DIR"
	run -2 "$KBLAT" boots start --old a --new b --loader "$M"
	assert_contains "$output" "no SPEC given"
	run -2 "$KBLAT" boots start s.yaml --old a --loader "$M"
	assert_contains "$output" "no --new given"
	run -2 "$KBLAT" boots start s.yaml --old a --new b
	assert_contains "$output" "no --loader given"
	run -2 "$KBLAT" boots start s.yaml --old a --new a --loader "$M"
	assert_contains "$output" "they could not be told apart"
	run -2 "$KBLAT" boots start s.yaml --old a/b --new a --loader "$M"
	assert_contains "$output" "is not the release of a kernel"
	run -2 "$KBLAT" boots start "${options[@]}" "${loader[@]}" --settle 2d
	assert_contains "$output" "--settle"
	run -2 "$KBLAT" boots start "${options[@]}" "${loader[@]}" --quantity p77
	assert_contains "$output" "--quantity"
	run -2 "$KBLAT" boots start "${options[@]}" "${loader[@]}" --quantity p50 --judge p99
	assert_contains "$output" "--judge: p99 is not compared; name it with --quantity, too"
	run -2 "$KBLAT" boots start "${options[@]}" --loader lilo
	assert_contains "$output" "must be one of grub, bootctl, kexec, guest, or the path of a program, not 'lilo'"
	run -1 "$KBLAT" boots start "${options[@]}" --loader /none
	assert_contains "$output" "no such file"
	run -2 "$KBLAT" boots start "${options[@]}" --loader kexec
	assert_contains "$output" "KBLAT_SYSROOT names a recorded machine, so this one is not rebooted"
	run -2 env -u KBLAT_SYSROOT "$KBLAT" boots start "${options[@]}" "${loader[@]}" --out /dev/shm/none
	assert_contains "$output" "would be lost at the first boot"
	echo new >machine/next
	run -1 "$KBLAT" boots start "${options[@]}" "${loader[@]}" "${out[@]}"
	assert_contains "$output" "an entry of the next boot is set already"
	assert_eq "$(ls out)" ""
	assert_eq "$(sort -u machine/calls)" pending
}

@test "a record that was changed is refused, and options are not taken when it is continued" {
	start
	rm machine/next machine/down
	run -2 "$KBLAT" boots start --resume "$dir" --runs 2
	assert_contains "$output" "--resume uses the study's original options"
	run -2 "$KBLAT" boots start --resume "$dir" --set delay=1us
	local change
	for change in '"boots": 4/"boots": 999' '"tries": 3/"tries": 0' '"kernel": "6.1.0-new"/"kernel": "..\/new"' '"boot": 0/"boot": 77' '"settle_s": 0.0/"settle_s": "x"'; do
		cp "$dir/study.json" saved
		sed -i "s/$change/" "$dir/study.json"
		run -2 "$KBLAT" boots status "$dir"
		assert_contains "$output" "not a comparison of boots that this kblat can read"
		mv saved "$dir/study.json"
	done
	run -0 "$KBLAT" boots status "$dir" --json
	# As 1.0.0 wrote it.
	/usr/bin/python3 - "$dir/study.json" <<-'PY'
		import json, sys
		d = json.load(open(sys.argv[1]))
		p = d["plan"]
		for arm in p["arms"]:
		    del arm["append"], arm["beside"]
		for key in "first", "low", "high", "with":
		    del p["at"][key]
		del p["way"], p["guest"]
		json.dump(d, open(sys.argv[1], "w"))
	PY
	run -0 "$KBLAT" boots status "$dir"
	assert_contains "$output" "old: 6.1.0-old (entry 'old'), new: 6.1.0-new (entry 'new'), by"
	run -0 on "$KBLAT" boots start --resume "$dir"
}
