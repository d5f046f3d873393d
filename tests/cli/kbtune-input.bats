#!/usr/bin/env bats
# Wrong input for kbtune: profiles, command lines, journals. It prints one clear message, exits with the documented status,
# and changes nothing.

load helper
load kbtune_helper

wrong_profile() {
	kb plan "./$1"
	echo "$output"
	[ "$status" -eq 2 ]
	kb apply "./$1"
	[ "$status" -eq 2 ]
	as_before
}

@test "everything wrong with a profile is said at once, with file, line, column, caret, and what was meant" {
	machine small-v2
	profile p <<-'YAML'
		govenor: performance
		shields:
		  - {name: rt, place: {cpus: 9}, partiton: root}
		irqs: {al: housekeeping}
		thp: [never]
		stat_interval: often
		timer_migration: maybe
		sysfs: {/etc/passwd: x}
		dma_latency: -1
	YAML
	wrong_profile p
	kb plan ./p
	assert_contains "$output" "profile.yaml:2:1: unknown setting 'govenor'; did you mean 'governor'?"
	assert_contains "$output" "  ^"
	sed -i 2d p/profile.yaml
	kb plan ./p
	assert_contains "$output" "there is no CPU 9 here; there are 0-3"
	assert_contains "$output" "unknown key 'partiton' in 'shields'; did you mean 'partition'?"
	sed -i '/shields/,+1d' p/profile.yaml
	kb plan ./p
	for said in "unknown key 'al' in 'irqs'; did you mean 'all'?" "'thp' must be one word, not a list" "'stat_interval' must be a number from 1 to 86400, not 'often'" \
		"'timer_migration' must be one of on, off, not 'maybe'" "'/etc/passwd' is not a name below /sys/" \
		"'dma_latency' must be a number of microseconds from 0, not '-1'"; do
		assert_contains "$output" "$said"
	done
}

@test "CPUs that are not here, all CPUs, overlapping shields, a shield twice" {
	machine small-v2
	for shields in '[{name: a, place: 7}]' '[{name: a, place: 0-3}]' '[{name: a, place: 1-2}, {name: b, place: 2-3}]' \
		'[{name: a, place: 1}, {name: a, place: 2}]' '[{name: ../a, place: 1}]' '[{name: housekeeping, place: 1}]' \
		'[{name: a}]' '[]x' '{}' '[{name: a, place: {node: 0, near: eth0}}]' '[{name: a, place: {node: 0, take: 0}}]' \
		'[{name: a, place: {cpus: 1-2, take: 3/2}}]' '[{name: a, place: x, partition: none}]'; do
		profile s <<<"shields: $shields"
		wrong_profile s
		rm -r s
	done
	profile s <<<'shields: [{name: a, place: 0-3}]'
	kb plan ./s
	assert_contains "$output" "the shields take all CPUs (0-3); one must be left for everything else"
	profile s <<<'shields: [{name: a, place: 1-2}, {name: b, place: 2-3}]'
	kb plan ./s
	assert_contains "$output" "the shield 'b' (CPUs 2-3) overlaps with one above"
}

@test "an unknown profile, device, tuned profile: with what was meant" {
	machine t630
	kb plan thesys
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'thesis'?"
	profile d <<<'shields: [{name: a, place: {near: mlx5_9, take: 1}}]'
	wrong_profile d
	kb plan ./d
	assert_contains "$output" "there is no device 'mlx5_9' here; did you mean 'mlx5_"
	profile t <<<'tuned: latency-perfomance'
	wrong_profile t
	kb plan ./t
	assert_contains "$output" "did you mean 'latency-performance'?"
	profile n <<<'shields: [{name: a, place: {node: 7}}]'
	kb plan ./n
	[ "$status" -eq 0 ]
	assert_contains "$output" "there is no NUMA node 7"
}

@test "profiles that are no profiles: garbage, a folder, none, another version, an include of itself" {
	machine small-v2
	mkdir -p g dir/profile.yaml
	head -c 2000 /dev/urandom >g/profile.yaml
	for p in ./g ./dir ./nowhere; do
		kb plan "$p"
		[ "$status" -eq 2 ]
	done
	mkdir v
	echo 'kbtune: 2' >v/profile.yaml
	kb plan ./v
	[ "$status" -eq 2 ]
	assert_contains "$output" "expected a profile of version 1"
	echo 'thp: never' >v/profile.yaml
	kb plan ./v
	[ "$status" -eq 2 ]
	profile i <<<'include: i'
	wrong_profile i
	kb plan ./i
	assert_contains "$output" "include each other"
}

@test "an include is overridden key by key, and faults in it name its own file" {
	machine small-v2
	profile base <<-'YAML'
		thp: madvise
		stat_interval: 5
	YAML
	profile top <<-'YAML'
		include: base
		thp: never
	YAML
	kb plan ./top --json
	[ "$status" -eq 0 ]
	echo "$output" >p.json
	assert_eq "$(json p.json 'sorted((s["knob"], s["after"]) for s in d["steps"])')" "[('stat_interval', '5'), ('thp', 'never')]"
	echo 'ksm: perhaps' >>base/profile.yaml
	kb plan ./top
	[ "$status" -eq 2 ]
	assert_contains "$output" "base/profile.yaml:4:6:"
}

@test "a cpuset of that name, with tasks; CPUs that another cpuset has: refused, nothing changed" {
	machine small-v2
	mkdir -p m/sys/fs/cgroup/rt
	printf '41\n42\n' >m/sys/fs/cgroup/rt/cgroup.procs
	echo >m/sys/fs/cgroup/rt/cpuset.cpus
	cp -a m/sys/fs/cgroup/rt m.before/sys/fs/cgroup/
	kb apply isolated
	[ "$status" -eq 1 ]
	assert_contains "$output" "a cpuset of that name exists, with 2 tasks in it"
	as_before
	for d in m m.before; do
		mv $d/sys/fs/cgroup/rt $d/sys/fs/cgroup/batch.slice
		echo 2-3 >$d/sys/fs/cgroup/batch.slice/cpuset.cpus
	done
	kb apply isolated
	[ "$status" -eq 1 ]
	assert_contains "$output" "overlap with CPUs 2-3 of the cpuset /sys/fs/cgroup/batch.slice"
	as_before
}

@test "a journal that cannot be relied on: truncated, no journal, another version, others' access, a link, a folder" {
	machine small-v2
	kb apply isolated
	cp m/run/kbtune/journal.json good
	j=m/run/kbtune/journal.json
	refused() {
		for c in restore verify status "apply thesis"; do
			# shellcheck disable=SC2086
			kb $c
			echo "$c: $output"
			[ "$status" -eq 2 ]
			assert_contains "$output" "$1"
		done
	}
	head -c 700 good >$j
	refused "truncated or damaged"
	echo '[]' >$j
	refused "not a journal of kbtune"
	sed 's/"schema": 1/"schema": 9/' good >$j
	refused "of schema 9, this kbtune knows 1 to 1; restore with the kbtune that wrote it ("
	sed 's/"op": "file"/"op": "format"/' good >$j
	refused "no operation 'format'"
	cp good $j
	chmod 644 $j
	refused "others have access to it (mode 0644)"
	chmod 600 $j
	chmod 755 m/run/kbtune
	refused "others have access to it (mode 0755)"
	chmod 700 m/run/kbtune
	rm $j
	ln -s "$T/good" $j
	refused "symbolic link"
	rm $j
	mkdir $j
	refused "not a regular file"
	rmdir $j
	cp good $j
	chmod 600 $j
	if is_root; then
		chown 65534 $j
		refused "belongs to user 65534"
		chown 0 $j
	fi
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "a journal of an earlier boot no longer applies: restore says so, and a new apply goes ahead" {
	machine small-v2
	kb apply isolated
	echo 11111111-2222-3333-4444-555555555555 >m/proc/sys/kernel/random/boot_id
	kb verify
	[ "$status" -eq 3 ]
	kb restore
	[ "$status" -eq 0 ]
	assert_contains "$output" "of an earlier boot"
	assert_eq "$(value /proc/sys/vm/stat_interval)" 120
	[ ! -e m/run/kbtune/journal.json ]
}

@test "wrong command lines: one message, status 2" {
	machine small-v2
	for c in "" frobnicate "plan" "plan a b" "apply isolated --stirct" "restore x" "irq fly" "irq set" "irq set 4" "irq set x --cpus 1" \
		"irq set 4 --cpus 9" "irq set 999 --cpus 1" "irq list --device nope" "cpuset create" "cpuset create a" "cpuset create a --cpus x" \
		"cpuset create a --cpus 9" "cpuset create ../a --cpus 1" "cpuset create a --cpus 1 --partition odd" \
		"cpuset create a --cpus 0-3 --partition root" "cpuset fly" "cpuset exec a" "cpuset destroy nope" "dma-latency" "dma-latency hold" \
		"dma-latency hold x -- true" "tuned" "tuned fly" "tuned apply" "tuned apply nope" "run isolated"; do
		# shellcheck disable=SC2086
		case $c in
		'' | frobnicate | dma*) run "$KBTUNE" $c ;;
		*) run "$KBTUNE" $c --sysroot "$T/m" ;;
		esac
		echo "'$c': $status $output"
		[ "$status" -eq 2 ]
		[ -n "$output" ]
	done
	run "$KBTUNE" plan isolated --sysroot "$T/nowhere"
	[ "$status" -eq 2 ]
	as_before
}

@test "help for all and for each, on standard output; --version" {
	run "$KBTUNE" help
	[ "$status" -eq 0 ]
	# descriptions are complete and wrapped
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "restore everything when the command ends, after a signal, and when kbtune is killed. hold"
	[ "$(wc -L <<<"$output")" -le 80 ]
	for c in status plan apply verify restore run cpuset irq dma-latency tuned profiles; do
		run "$KBTUNE" "$c" --help 2>/dev/null
		[ "$status" -eq 0 ]
		assert_contains "$output" "Usage: kbtune $c"
	done
	run "$KBTUNE" --version
	[[ $output =~ ^kbtune\ [0-9]+\.[0-9]+ ]]
	run bash -c '"$1" help >/dev/full' _ "$KBTUNE"
	[ "$status" -eq 1 ]
}

@test "a share of more than there can be is refused, however many digits it has" {
	machine small-v2
	for share in 9223372036854775807/9223372036854775807 99999999999999999999/99999999999999999999 2/1 0/3 1/0; do
		profile share <<-YAML
			shields: [{name: rt, place: {node: 0, take: $share}}]
		YAML
		kb plan ./share
		[ "$status" -eq 2 ]
		assert_contains "$output" "'take' must be a number, a share such as 1/3, or all"
	done
}

@test "a journal with an empty value of the form controller is undone, or refused, and does not crash" {
	machine small-v2
	kb apply isolated
	json m/run/kbtune/journal.json '__import__("json").dump({**d, "steps": [{**s, "before": "", "after": ""} if s["data"].get("form") == "controller" else s for s in d["steps"]]}, open("j", "w"))' >/dev/null
	grep -q '"after": ""' j
	chmod 600 j
	mv j m/run/kbtune/journal.json
	kb verify
	[ "$status" -le 3 ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "all errors of a profile are told in one round: unknown settings, shields, places and values" {
	machine two-cpus
	profile wrong <<-'YAML'
		titel: hello
		shields:
		  - {name: rt, place: {cpus: 99}, partition: isolatd}
		watchdog_cpus: rt
		dma_latency: -3
	YAML
	for command in plan apply "apply --dry-run"; do
		# shellcheck disable=SC2086 # several words
		run "$KBTUNE" $command ./wrong --sysroot m
		[ "$status" -eq 2 ]
		assert_contains "$output" "unknown setting 'titel'; did you mean 'title'?"
		assert_contains "$output" "'partition' must be isolated, root or member, not 'isolatd'"
		assert_contains "$output" "there is no CPU 99 here"
		assert_contains "$output" "'dma_latency' must be a number of microseconds"
		# what follows from them is no fault of its own
		[[ $output != *"'rt' is not a place"* ]]
	done
	as_before m
}
