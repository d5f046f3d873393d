#!/usr/bin/env bats
# Public reports of people who tune and measure on machines of other kinds (README.md).

load ../cli/helper
load ../cli/kbtune_helper

@test "an interrupt whose chip has no affinity stays where it is, whatever its driver answers, and the rest is applied" {
	for error in EINVAL EOPNOTSUPP ENOTSUPP ENODEV ENXIO ENOSYS EIO EPERM; do
		rm -rf m m.before
		machine managed-eio
		sed -i "s/write EIO/write $error/" m/habits m.before/habits
		kb apply isolated
		echo "$error: $output"
		[ "$status" -eq 0 ]
		assert_contains "$output" "/proc/irq/43/smp_affinity_list: the kernel manages it or cannot move it"
		assert_eq "$(value /proc/irq/50/smp_affinity_list)" 0-2
		kb verify
		[ "$status" -eq 0 ]
		kb restore
		[ "$status" -eq 0 ]
		as_before
		kb apply isolated --strict
		[ "$status" -eq 77 ]
		as_before
	done
}

@test "a set of interrupt vectors that is used up, or a missing right, is no such thing: everything is undone" {
	machine managed-eio
	for error in ENOSPC EACCES EROFS; do
		sed -i "s/write E.*/write $error/" m/habits m.before/habits
		kb apply isolated
		echo "$error: $output"
		# What is mounted read-only is foreseen.
		[ "$status" -eq "$([ $error = EROFS ] && echo 77 || echo 1)" ]
		assert_contains "$output" "/proc/irq/43/smp_affinity_list"
		[[ $error != EROFS ]] || assert_contains "$output" "it is mounted read-only (a container?)"
		as_before
	done
}

# capture NAME: the state of machine m.
capture() {
	"$KBLAT" state capture "$1" --sysroot m >/dev/null
}

@test "boot arguments: what the kernel says of itself counts more than its command line" {
	profile boot <<-'YAML'
		kernel_arguments: {isolcpus: 2-3, nohz_full: 2-3, rcu_nocbs: 2-3, irqaffinity: 0-1}
	YAML
	machine small-v2
	echo '2-3' >m/sys/devices/system/cpu/isolated
	echo '2-3' >m/sys/devices/system/cpu/nohz_full
	for line in 'isolcpus=2-N isolcpus=1 nohz_full=2-N rcu_nocbs=all irqaffinity=0,1' 'isolcpus=2,3 nohz_full="2,3" rcu_nocbs=2,3 irqaffinity=0,1' \
		'isolcpus=domain,managed_irq,2-3 "nohz_full=2-N" rcu_nocbs irqaffinity=3 irqaffinity=0-1' 'isolcpus=nohz,domain,2-3, irqaffinity=0-1'; do
		echo "root=/dev/sda1 $line" >m/proc/cmdline
		kb plan ./boot --json
		echo "$output" >p.json
		echo "$line: $output"
		assert_eq "$(json p.json '[(b["argument"], b["met"]) for b in d["reboot"] if b["argument"] != "rcu_nocbs"]')" \
			"[('isolcpus', True), ('nohz_full', True), ('irqaffinity', True)]"
	done
}

@test "boot arguments: one that the kernel has not taken is not there, and the plan says so" {
	profile boot <<-'YAML'
		kernel_arguments: {isolcpus: 3}
	YAML
	machine small-v2
	echo >m/sys/devices/system/cpu/isolated
	echo 'isolcpus=3' >m/proc/cmdline
	kb plan ./boot
	assert_contains "$output" "isolcpus=3: is none; add it and reboot"
	assert_contains "$output" "the command line says isolcpus=3; the kernel has made none of it"
	echo 'isolcpus=' >m/proc/cmdline
	kb plan ./boot
	assert_contains "$output" "isolcpus=3: is none"
	echo 'isolcpus=3-1,x' >m/proc/cmdline
	rm m/sys/devices/system/cpu/isolated
	kb plan ./boot
	assert_contains "$output" "isolcpus=3: is 3-1,x; add it and reboot"
}

@test "boot arguments: callbacks of RCU are off the CPUs that have a thread for them, however that was asked for" {
	profile boot <<-'YAML'
		kernel_arguments: {rcu_nocbs: 2-3, mitigations: off, nosmt: "1", idle: poll}
	YAML
	machine small-v2
	echo '(null)' >m/sys/devices/system/cpu/nohz_full
	echo 'nohz_full=2-3 mitigations=off nosmt=on idle="poll"' >m/proc/cmdline
	kb plan ./boot --json
	echo "$output" >p.json
	assert_eq "$(json p.json '[b["met"] for b in d["reboot"]]')" "[True, True, True, True]"
	for cpu in 2 3; do
		mkdir -p m/proc/20$cpu/task/20$cpu
		echo "20$cpu (rcuop/$cpu) S 2 0 0 0 -1 2097152 0 0 0 0 0 0 0 0 20 0 1 0 20 0 0" | tee m/proc/20$cpu/stat >m/proc/20$cpu/task/20$cpu/stat
		printf 'Cpus_allowed_list:\t0-3\n' >m/proc/20$cpu/task/20$cpu/status
		echo "rcuop/$cpu" >m/proc/20$cpu/comm
	done
	echo 'rcu_nocbs=all mitigations=off nosmt=Y idle=halt' >m/proc/cmdline
	kb plan ./boot --json
	echo "$output" >p.json
	assert_eq "$(json p.json '[b["met"] for b in d["reboot"]]')" "[True, True, True, False]"
}

@test "sets that are spelled in two ways are the same set: diff of states" {
	machine small-v2
	echo 'isolcpus=2-3 nohz_full=2-N rcu_nocbs=2,3 irqaffinity=0,1 console=tty0' >m/proc/cmdline
	echo '(null)' >m/sys/devices/system/cpu/nohz_full
	capture a
	echo 'isolcpus=domain,2,3 nohz_full=2-3 rcu_nocbs="2-3" irqaffinity=0-1 console="tty0"' >m/proc/cmdline
	rm m/sys/devices/system/cpu/nohz_full
	capture b
	echo >m/sys/devices/system/cpu/nohz_full
	capture c
	for pair in "a b" "b c" "c a"; do
		# shellcheck disable=SC2086
		run "$KBLAT" state diff $pair
		echo "$pair: $output"
		[ "$status" -eq 0 ]
		[[ $output != *cpu.nohz_full* && $output != *boot.* ]]
	done
	echo 'isolcpus=managed_irq,2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1 console=tty0' >m/proc/cmdline
	capture d
	run "$KBLAT" state diff b d
	[ "$status" -eq 3 ]
	assert_contains "$output" isolcpus
	echo 2 >m/sys/devices/system/cpu/nohz_full
	capture e
	run "$KBLAT" state diff b e
	[ "$status" -eq 3 ]
	assert_contains "$output" nohz_full
}

@test "values that the kernel spells in its own way: read back, verified and planned by value" {
	machine small-v2
	printf 'Y\n' | tee m/sys/module/pcie_aspm/parameters/x >/dev/null
	mkdir -p m/sys/bus/workqueue/devices/writeback m/proc/sys/net/ipv4
	echo 'f' >m/sys/bus/workqueue/devices/writeback/cpumask
	echo >m/proc/sys/net/ipv4/ip_local_reserved_ports
	echo max >m/sys/fs/cgroup/memory.high
	cat >m/habits <<-'H'
		/proc/sys/kernel/watchdog_cpumask reads 0,2-3
		/sys/module/pcie_aspm/parameters/x reads N
		/sys/bus/workqueue/devices/writeback/cpumask reads 00000000,00000003
		/proc/sys/net/ipv4/ip_local_reserved_ports reads 8080-8082,9148
		/sys/fs/cgroup/memory.high reads 8388608
		/proc/sys/kernel/timer_migration reads 0
	H
	rm -rf m.before && cp -a m m.before
	profile values <<-'YAML'
		sysctl: {kernel.watchdog_cpumask: "3,2,0", net.ipv4.ip_local_reserved_ports: "9148,8080-8081,8082", kernel.timer_migration: "0x0"}
		sysfs: {module/pcie_aspm/parameters/x: n, bus/workqueue/devices/writeback/cpumask: "3", fs/cgroup/memory.high: 8M}
	YAML
	kb apply ./values
	echo "$output"
	[ "$status" -eq 0 ]
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	# What a habit reads is not put back by it.
	rm m/habits
	kb restore
	[ "$status" -eq 0 ]
}

@test "a value that is another one is said with both" {
	machine small-v2
	echo '/proc/sys/kernel/watchdog_cpumask reads 0-3' >m/habits
	profile values <<-'YAML'
		sysctl: {kernel.watchdog_cpumask: "2,3"}
	YAML
	kb apply ./values
	[ "$status" -eq 1 ]
	assert_contains "$output" "/proc/sys/kernel/watchdog_cpumask: cannot change: wrote '2,3', but read back '0-3'"
}

@test "interrupts are numbered without a bound: by device, by number, and away" {
	machine cards
	/usr/bin/python3 - m <<-'PY'
		import os, re, shutil, sys
		root = sys.argv[1]
		for old in range(50, 54):
		    new = old + 70000
		    shutil.move(f'{root}/proc/irq/{old}', f'{root}/proc/irq/{new}')
		    folder = f'{root}/sys/devices/pci0000:00/0000:05:00.0/msi_irqs'
		    os.rename(f'{folder}/{old}', f'{folder}/{new}')
		text = open(f'{root}/proc/interrupts').read()
		open(f'{root}/proc/interrupts', 'w').write(re.sub(r'(?m)^ *(5[0-3]):', lambda m: f'{int(m[1]) + 70000}:', text))
	PY
	rm -rf m.before && cp -a m m.before
	profile irqs <<-'YAML'
		irqs: {all: 0-1, devices: [{device: eth0, cpus: 2-3}]}
	YAML
	kb plan ./irqs
	echo "$output"
	assert_contains "$output" "/proc/irq/70050/smp_affinity_list: 0 -> 2-3"
	kb irq list --device eth0
	assert_contains "$output" 70053
	kb irq set 70050-70051 --cpus 3
	[ "$status" -eq 0 ]
	assert_eq "$(value /proc/irq/70050/smp_affinity_list)" 3
	kb irq restore
	as_before
	kb irq set 70050,99999999999 --cpus 3
	[ "$status" -eq 2 ]
	assert_contains "$output" "there is no such interrupt, see kbtune irq list: '99999999999'"
	for bad in 70051-70050 99999999999999999999 -1 1,,2; do
		kb irq set --cpus 3 -- "$bad"
		[ "$status" -eq 2 ]
		assert_contains "$output" "not the number of an interrupt: '$bad'"
	done
	as_before
}

@test "a place that is a list with a fault says which fault" {
	machine small-v2
	while read -r place said; do
		profile bad <<-YAML
			shields: [{name: rt, place: "$place"}]
		YAML
		kb plan ./bad
		echo "$place: $output"
		[ "$status" -eq 2 ]
		assert_contains "$output" "./bad/profile.yaml:2:"
		assert_contains "$output" "$said"
	done <<-'END'
		3-1 the range 3-1 runs backwards
		9000 CPUs are numbered 0 to 8191
		0-3:0 the step after ':' makes no sense
		4 there is no CPU 4 here; there are 0-3
		2,,3 '2,,3' is not a CPU list
	END
}

@test "sysctls are named as sysctl(8) names them, also those of interfaces with dots" {
	machine small-v2
	for card in eth0 eth0.100 eth0.100.200 bond0; do
		mkdir -p "m/proc/sys/net/ipv4/conf/$card"
		echo 1 >"m/proc/sys/net/ipv4/conf/$card/rp_filter"
	done
	mkdir -p m/proc/sys/net/ipv4/conf/eth0.100/100.x
	rm -rf m.before && cp -a m m.before
	for name in net.ipv4.conf.eth0/100.rp_filter net/ipv4/conf/eth0.100/rp_filter net.ipv4.conf.eth0.100.rp_filter /proc/sys/net/ipv4/conf/eth0.100/rp_filter; do
		profile names <<-YAML
			sysctl: {$name: 2}
		YAML
		kb plan ./names
		echo "$name: $output"
		[ "$status" -eq 0 ]
		assert_contains "$output" "/proc/sys/net/ipv4/conf/eth0.100/rp_filter: 1 -> 2"
		kb apply ./names
		assert_eq "$(value /proc/sys/net/ipv4/conf/eth0.100/rp_filter)" 2
		kb restore
		as_before
	done
	profile names <<-'YAML'
		sysctl: {net.ipv4.conf.eth0.100.200.rp_filter: 2, "net.ipv4.conf.*.rp_filter": 0, vm/swappiness: 1}
	YAML
	kb plan ./names
	echo "$output"
	assert_contains "$output" "/proc/sys/net/ipv4/conf/eth0.100.200/rp_filter: 1 -> 2"
	assert_contains "$output" "/proc/sys/net/ipv4/conf/bond0/rp_filter: 1 -> 0"
	assert_contains "$output" "/proc/sys/vm/swappiness: 60 -> 1"
	profile names <<-'YAML'
		sysctl: {net.ipv4.conf.eth1.7.rp_filter: 2}
	YAML
	kb plan ./names
	assert_contains "$output" "/proc/sys/net/ipv4/conf/eth1/7/rp_filter: this kernel has no such file"
	profile names <<-'YAML'
		sysctl:
		  vm.../swappiness: 1
		  /etc/passwd: 2
	YAML
	kb apply ./names
	[ "$status" -eq 2 ]
	assert_contains "$output" "./names/profile.yaml:3:3: 'vm.../swappiness' is not a name below /proc/sys/"
	assert_contains "$output" "./names/profile.yaml:4:3: '/etc/passwd' is not a name below /proc/sys/"
	as_before
}

@test "a shield takes fast CPUs where there are slow ones, and the plan says which" {
	machine i9-13900k
	kb plan isolated
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "shield rt: CPUs 8-15"
	assert_contains "$output" "the shield rt has fast CPUs only; the slow ones of this machine are 16-31"
	profile told <<-'YAML'
		shields: [{name: rt, place: {node: 0, take: 1/4, fast: no}}]
	YAML
	kb plan ./told
	assert_contains "$output" "shield rt: CPUs 24-31"
	assert_contains "$output" "the shield rt has slow CPUs, 24-31; the fast ones of this machine are 0-15"
	profile told <<-'YAML'
		shields: [{name: rt, place: 20-21}, {name: cores, place: {node: 0, take: 7, cores: yes}}, {name: more, place: {node: 0, take: 2}}]
	YAML
	kb plan ./told
	echo "$output"
	assert_contains "$output" "the shield rt has slow CPUs, 20-21"
	assert_contains "$output" "shield cores: CPUs 2-15"
	assert_contains "$output" "shield more: CPUs 30-31"
	profile told <<-'YAML'
		shields: [{name: rt, place: {node: 0, take: 2, fast: maybe}}]
	YAML
	kb plan ./told
	[ "$status" -eq 2 ]
	assert_contains "$output" "./told/profile.yaml:2:"
}

@test "which CPUs are fast is what the kernel says of their capacity; a turbo that is a little higher is no other kind" {
	machine smt-laptop
	set_capacity() {
		local cpu=0 one
		for one; do
			echo "$one" >"m/sys/devices/system/cpu/cpu$cpu/cpu_capacity"
			cpu=$((cpu + 1))
		done
	}
	set_capacity 1024 1024 980 980 930 930 1010 1010
	kb plan isolated
	[[ $output != *"fast CPUs"* ]]
	set_capacity 446 446 446 446 1024 1024 1024 1024
	kb plan isolated
	assert_contains "$output" "shield rt: CPUs 6-7"
	assert_contains "$output" "the slow ones of this machine are 0-3"
	set_capacity 1024 1024 1024 1024 446 446 446 446
	kb plan isolated
	assert_contains "$output" "shield rt: CPUs 2-3"
	# The kernel may say that all have the same capacity, and which of them are Atoms.
	set_capacity 1024 1024 1024 1024 1024 1024 1024 1024
	mkdir -p m/sys/devices/cpu_core m/sys/devices/cpu_atom
	echo 0-3 >m/sys/devices/cpu_core/cpus
	echo 4-7 >m/sys/devices/cpu_atom/cpus
	kb plan isolated
	assert_contains "$output" "shield rt: CPUs 2-3"
}

@test "a remote partition has its CPUs for itself: it is listed, and a shield on them is refused; so is one on a pod's" {
	machine kubernetes-node
	kb cpuset list
	echo "$output"
	[[ $output =~ ovs.slice/ovsdpdk.slice\ +14-15\ .*isolated ]]
	for place in 15 4-6 12; do
		profile on <<-YAML
			shields: [{name: rt, place: $place}]
		YAML
		kb apply ./on
		echo "$place: $output"
		[ "$status" -eq 1 ]
		assert_contains "$output" "overlap with CPUs"
		as_before
	done
	kb apply isolated
	echo "$output"
	[ "$status" -eq 1 ]
	assert_contains "$output" "its CPUs 12-15 overlap with CPUs"
	as_before
}

@test "a CPU that is offline has no topology, and is in no shield; the rest of 256 CPUs is put back" {
	machine epyc-7742
	kb plan isolated
	[ "$status" -eq 0 ]
	assert_contains "$output" "of 0-254"
	profile near <<-'YAML'
		shields: [{name: rt, place: {near: mlx5_0, take: 1/2, cores: yes}}]
		irqs: {all: housekeeping}
	YAML
	kb apply ./near
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(value /sys/fs/cgroup/rt/cpuset.cpus)" 34-35,162-163
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
	profile gone <<-'YAML'
		shields: [{name: rt, place: 254-255}]
	YAML
	kb apply ./gone
	[ "$status" -eq 2 ]
	assert_contains "$output" "there is no CPU 255 here; there are 0-254"
}

@test "a Raspberry Pi 5: what RP1 has stays, the rest moves, is verified and put back" {
	machine raspberry-pi-5
	kb apply isolated
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "/proc/irq/106/smp_affinity_list: the kernel manages it or cannot move it: it stays on CPUs 0-3"
	assert_eq "$(value /proc/irq/161/smp_affinity_list)" 0-2
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	[ "$status" -eq 0 ]
	as_before
}

@test "a knob is left out by name: planned without it, applied, recorded, and put back" {
	machine small-v2
	kb plan isolated --without irqs --without=kernel_arguments
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "left out (--without): irqs, kernel_arguments"
	[[ $output != */proc/irq* && $output != *isolcpus* ]]
	kb plan isolated --without shields --json
	echo "$output" >p.json
	assert_eq "$(json p.json 'd["without"], [s["cpus"] for s in d["shields"]], "shields" in [s["knob"] for s in d["steps"]], "shields" in [s["knob"] for s in d["settings"]]')" \
		"(['shields'], ['3'], False, False)"
	kb apply isolated --without irqs --without shields
	[ "$status" -eq 0 ]
	assert_contains "$output" "left out (--without): irqs"
	assert_eq "$(value /proc/irq/9/smp_affinity_list)" 0-3
	assert_eq "$(json m/run/kbtune/journal.json 'sorted(d["about"]["without"])')" "['irqs', 'shields']"
	kb restore
	as_before
	run "$KBTUNE" run isolated --without irqs --sysroot m -- cat "$T/m/proc/irq/9/smp_affinity_list"
	assert_eq "$output" 0-3
	for command in plan apply run hold; do
		run "$KBTUNE" "$command" isolated --without irq --sysroot m -- true
		[ "$status" -eq 2 ]
	done
	kb apply isolated --without irq
	[ "$status" -eq 2 ]
	assert_contains "$output" "--without: profile isolated has no setting 'irq'; did you mean 'irqs'"
	as_before
}

@test "what a right is lacking for is in the plan, with the capability and how to leave it out" {
	need_root "to give files away, and to be somebody else"
	machine small-v2
	chmod -R a+rX "$T"
	need_others "$KBTUNE"
	chown -R 65534:65534 m
	chown -R 0:0 m/sys
	run "${as_other[@]}" "$KBTUNE" plan isolated --sysroot "$T/m" --without aspm --without workqueues --without thp
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output =~ "--without shields "\ +"/sys/fs/cgroup"[^:]*": permission denied, it takes CAP_" ]]
	[[ $output != *"--without irqs"* ]]
	run "${as_other[@]}" "$KBTUNE" apply isolated --sysroot "$T/m" --without aspm --without workqueues --without thp
	echo "$output"
	[ "$status" -eq 77 ]
	assert_contains "$output" "; or leave these out: --without shields"
	run "${as_other[@]}" "$KBTUNE" apply isolated --sysroot "$T/m" --without aspm --without workqueues --without thp --without shields
	echo "$output"
	[ "$status" -eq 0 ]
	run "${as_other[@]}" "$KBTUNE" restore --sysroot "$T/m"
	[ "$status" -eq 0 ]
	# One capability, of a process that is root.
	printf 'kbtune: 1\nshields: [{name: rt, place: {node: 0, take: 1, cores: no}, partition: member}]\ntasks: away\n' >one.yaml
	run setpriv --inh-caps=-sys_nice --bounding-set=-sys_nice "$KBTUNE" plan ./one.yaml
	echo "$output"
	[ "$(nproc)" -gt 1 ] || return 0
	assert_contains "$output" "--without tasks            threads: operation not permitted, it takes CAP_SYS_NICE"
}

@test "what runs beside a measurement is noticed in every run, also where no claim is judged, and the page is not just green" {
	local pids=() i
	for ((i = 0; i < 2 * $(nproc); i++)); do
		sh -c 'while :; do :; done' 3>&- &
		pids+=($!)
	done
	spec busy <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 2000, pause: 50us}
	YAML
	run_with busy
	kill "${pids[@]}"
	"$KBLAT" report "$run_dir" >/dev/null
	echo "$output"
	assert_contains "$output" "waited for a CPU that others had, for"
	grep -q "Valid, but other programs ran where it measured\|Not valid" "$run_dir/derived/report.html"
}

@test "an address of a link is used with its interface, whatever that is called on the other host" {
	need_namespaces -rn
	# shellcheck disable=SC2016 # for the inner shell
	run unshare -rn bash -c '
		ip link set lo up
		ip link add eth2.40 type dummy 2>/dev/null || ip link add eth2.40 type veth peer name other || exit 99
		ip link set eth2.40 up
		ip address add fe80::7/64 dev eth2.40 nodad || exit 99
		printf "kblat: 1\nname: scope\nsettings: {kernel: pingpong, transport: %s, messages: 200, source_address: fe80::7%%eth2.40, sink_address: fe80::7%%eth2.40}\n" "$1" >s.yaml
		"$2" run s.yaml --out r' bash tcp "$KBLAT"
	echo "$output"
	[ "$status" -ne 99 ] || skip "no interface can be made"
	[[ $status -eq 0 && $output == *"pingpong, tcp"* ]]
	while read -r address said; do
		spec bad <<-YAML
			settings: {kernel: pingpong, transport: udp, messages: 10, source_address: "$address", sink_address: "$address"}
		YAML
		run_with bad
		echo "$address: $status $output"
		[[ $status -eq 2 || $address == *nope ]]
		assert_contains "$output" "$said"
	done <<-'END'
		fe80::1 source_address is an address of a link: name its interface, as in fe80::1%eth0
		fe80::1%nope fe80::1%nope: there is no interface of that name here
		::1%lo source_address must be one numeric address
		fe80::1% source_address must be one numeric address
		fe80::1%a%b source_address must be one numeric address
	END
}

@test "a preference of energy is set under a governor that lets it be, and one that is refused is listed" {
	local cpu=/sys/devices/system/cpu
	machine smt-laptop
	profile energy <<-'YAML'
		governor: powersave
		epp: power
	YAML
	# order: what is applied first of both.
	order() {
		kb plan ./energy --json
		grep -o 'scaling_governor\|energy_performance_preference' <<<"$output" | head -n 1
	}
	echo performance | tee m$cpu/cpu*/cpufreq/scaling_governor m$cpu/cpu*/cpufreq/energy_performance_preference >/dev/null
	rm -r m.before && cp -a m m.before
	assert_eq "$(order)" scaling_governor
	kb apply ./energy
	[ "$status" -eq 0 ]
	assert_eq "$(value $cpu/cpu3/cpufreq/scaling_governor) $(value $cpu/cpu3/cpufreq/energy_performance_preference)" "powersave power"
	kb verify
	[ "$status" -eq 0 ]
	kb restore
	as_before
	echo powersave | tee m$cpu/cpu*/cpufreq/scaling_governor >/dev/null
	echo 'governor: performance' >>energy/profile.yaml
	sed -i '/powersave/d' energy/profile.yaml
	assert_eq "$(order)" energy_performance_preference
	# The governor is performance, and lets no other be.
	echo performance | tee m$cpu/cpu*/cpufreq/scaling_governor >/dev/null
	for n in 0 1 2 3 4 5 6 7; do echo "$cpu/cpu$n/cpufreq/energy_performance_preference write EBUSY"; done >m/habits
	rm -r m.before && cp -a m m.before
	profile energy <<-'YAML'
		epp: balance_power
		thp: never
	YAML
	kb apply ./energy
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "energy_performance_preference"
	kb restore
	[ "$status" -eq 0 ]
	as_before
	kb apply ./energy --strict
	[ "$status" -eq 77 ]
	as_before
}

@test "turbo that the firmware has locked is listed, and the rest is applied" {
	machine t630
	echo '/sys/devices/system/cpu/intel_pstate/no_turbo write EPERM' >m/habits
	cp m/habits m.before/habits
	profile turbo <<-'YAML'
		turbo: off
		thp: never
	YAML
	kb apply ./turbo
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "/sys/devices/system/cpu/intel_pstate/no_turbo: "
	assert_contains "$(value /sys/kernel/mm/transparent_hugepage/enabled)" "[never]"
	kb restore
	as_before
}

@test "a setting of the scheduler that the kernel has elsewhere now is named there" {
	machine small-v2
	mkdir -p m/sys/kernel/debug/sched
	echo 3000000 >m/sys/kernel/debug/sched/min_granularity_ns
	rm -r m.before && cp -a m m.before
	profile sched <<-'YAML'
		sysctl: {kernel.sched_min_granularity_ns: 10000000, kernel.sched_wakeup_granularity_ns: 15000000, vm.stat_interval: 10}
	YAML
	kb plan ./sched
	echo "$output"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "this kernel has it as /sys/kernel/debug/sched/min_granularity_ns: give that under sysfs"
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "sched_wakeup_granularity_ns: this kernel has no such file"
	profile sched <<-'YAML'
		sysfs: {/sys/kernel/debug/sched/min_granularity_ns: 10000000}
	YAML
	kb apply ./sched
	[ "$status" -eq 0 ]
	assert_eq "$(value /sys/kernel/debug/sched/min_granularity_ns)" 10000000
	kb restore
	as_before
}

@test "a kernel without idle states has no latency to ask for, and the rest is applied" {
	machine small-v2
	rm -f m/dev/cpu_dma_latency
	rm -rf m/sys/devices/system/cpu/cpu*/cpuidle
	rm -r m.before && cp -a m m.before
	profile idle <<-'YAML'
		dma_latency: 0
		cstates: 0
		sysctl: {vm.stat_interval: 10}
	YAML
	kb apply ./idle
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "dma_latency"
	assert_eq "$(value /proc/sys/vm/stat_interval)" 10
	kb restore
	as_before
}

@test "sysctls of a container that may only be read fail with their name, and can be left out" {
	machine small-v2
	echo '/proc/sys/vm/stat_interval write EROFS' >m/habits
	cp m/habits m.before/habits
	profile container <<-'YAML'
		sysctl: {vm.stat_interval: 10}
		thp: never
	YAML
	kb apply ./container
	echo "$output"
	[ "$status" -ne 0 ]
	assert_contains "$output" "/proc/sys/vm/stat_interval: it is mounted read-only (a container?); or leave these out: --without sysctl"
	as_before
	kb apply ./container --without sysctl
	echo "$output"
	[ "$status" -eq 0 ]
	kb restore
	as_before
}

@test "with SMT switched off, every second CPU is none, and a shield has the others" {
	local n
	machine smt-laptop
	echo off >m/sys/devices/system/cpu/smt/control
	echo 0,2,4,6 >m/sys/devices/system/cpu/online
	for n in 1 3 5 7; do
		rm -rf "m/sys/devices/system/cpu/cpu$n/topology" "m/sys/devices/system/cpu/cpu$n/cpufreq"
		echo 0 >"m/sys/devices/system/cpu/cpu$n/online"
	done
	for n in 0 2 4 6; do echo "$n" >"m/sys/devices/system/cpu/cpu$n/topology/thread_siblings_list"; done
	echo 0,2,4,6 >m/sys/devices/system/node/node0/cpulist
	rm -r m.before && cp -a m m.before
	profile half <<-'YAML'
		shields: [{name: rt, place: {cpus: all, take: 2}, partition: member}]
		governor: performance
	YAML
	kb apply ./half
	echo "$output"
	[ "$status" -eq 0 ]
	kb cpuset list
	assert_contains "$output" "4,6"
	kb restore
	[ "$status" -eq 0 ]
	as_before
}
