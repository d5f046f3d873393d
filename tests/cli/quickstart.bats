#!/usr/bin/env bats
# What `make run` prints first and last.

load helper

answer() {
	"$ROOT/experiments/quickstart/answer" "$KBLAT" "a device" "$@"
}

@test "the first line of make run: what will happen, on one line" {
	run "$ROOT/experiments/quickstart/run" --plan
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "make run: installs missing packages, builds, measures "*" and writes a report"* ]]
}

@test "the answer: medians of the busily polled points, and whether all are valid" {
	run answer "$ROOT/tests/runs/1.0.0/made/quickstart"
	assert_eq "$output" "shared memory 0.071 us; all valid"

	# Like an export of two runs, with numbers of all sizes.
	cat >kblat <<-'SH'
		#!/bin/sh
		if [ "$2" = shmem ]; then
			printf 'id,valid,transport,poll,metric,p50\n0,true,shmem,busy,lat_ns,1540\n1,false,shmem,event,lat_ns,9000\n'
		else
			printf 'id,valid,qp,transport,poll,metric,p50\n0,true,rc,verbs,busy,lat_ns,14449\n0,true,rc,verbs,busy,comp_lat_ns,1\n1,true,uc,verbs,busy,lat_ns,123456\n2,true,ud,verbs,busy,lat_ns,\n'
		fi
	SH
	chmod +x kblat
	KBLAT=$T/kblat
	run answer verbs shmem
	assert_eq "$output" "RC 14 us, UC 123 us over a device; shared memory 1.5 us; 1 of 5 points are not valid, for the reasons above"
}

# A tree with the quickstart and a fake guest, which ends with the statuses in the file `statuses`, one after the other, and counts its starts.
tree_with_guest() {
	! grep -qs ACTIVE /sys/class/infiniband/*/ports/*/state || skip "this machine has an RDMA device"
	mkdir -p tree/experiments tree/tests/vm
	cp -r "$ROOT/experiments/quickstart" "$ROOT/experiments/launch" tree/experiments/
	rm -rf tree/experiments/quickstart/runs
	cat >tree/tests/vm/guest <<-'SH'
		#!/bin/bash
		mapfile -t statuses <statuses
		echo started >>guests
		echo "guest: some reason" >&2
		exit "${statuses[$(wc -l <guests) - 1]}"
	SH
	chmod +x tree/tests/vm/guest
	printf '%s\n' "$@" >statuses
}

quick_run() {
	run tree/experiments/quickstart/run "$KBLAT" --set messages=200 --set warmup=0 --reps 2 --no-state
	echo "$output"
}

@test "where there can be no guest, the rest is measured and the reason is given" {
	need_feature libbpf
	tree_with_guest 77
	quick_run
	[ "$status" -eq 0 ]
	[[ $output == *"guest: some reason"*"this machine cannot run the virtual machine, for the reason above: measuring without verbs"* ]]
	[[ ${lines[-1]} == "Median one-way latency with busy polling: shared memory "*"; report: "* ]]
	[[ ${lines[-1]} == *"; AF_XDP between virtual cards "* || $output == *"netns: "*"AF_XDP is left out, for the reason above"* ]]
	[ "$(id -u)" -ne 0 ] || [[ ${lines[-1]} == *"; AF_XDP between virtual cards "* || $output == *"cannot be made on this machine"* ]]
}

@test "DPDK is measured where it is installed, and left out with the reason where it is not" {
	tree_with_guest 77
	quick_run
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} == *"; DPDK through shared memory "*" us"* || $output == *"quickstart: DPDK is left out, for the reason above"* ]]
	[[ ${lines[-1]} == *"; DPDK through shared memory "* || $output == *"install the package dpdk"* || $output == *"without DPDK"* ]]
}

@test "a guest whose emulator failed is started once more, any other failure ends make run" {
	tree_with_guest 75 1
	quick_run
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} == "quickstart: measuring over a software device ended with status 1" ]]
	[ "$(wc -l <guests)" -eq 2 ]
}

@test "an ordinary user, whose PATH has no sbin, finds what the guest needs" {
	[ -x /usr/sbin/depmod ] || skip "there is no /usr/sbin/depmod here"
	run env PATH=/usr/bin:/bin bash -c 'source "$1"; need depmod kmod' sh "$ROOT/guest/lib.bash"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "a service that comes with a package which only tests need is stopped and disabled" {
	run bash -c 'source "$1"; sudo=(); systemctl() { echo "called: $*"; }; stop_services gcc openssh-server tuned qemu-system-x86' sh "$ROOT/common/deps"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "called: --quiet disable --now ssh" ]
	[[ ${lines[1]} == "deps: stopped and disabled the service ssh, which comes with openssh-server"* ]]
	[ "${lines[2]}" = "called: --quiet disable --now tuned" ]
	[ "${#lines[@]}" -eq 4 ]
}

@test "where no package has it, the guest's kernel is the newest installed one that has rdma_rxe" {
	for version in 6.9.12 6.12.3 6.13.1; do
		mkdir -p "lib/modules/$version/kernel/drivers/infiniband/sw/rxe"
		touch "lib/modules/$version/kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz"
	done
	mkdir boot
	run bash -c 'source "$1"; installed_kernel "$PWD"' sh "$ROOT/guest/lib.bash"
	assert_eq "$status" 1
	touch boot/vmlinuz-6.9.12 lib/modules/6.12.3/vmlinuz boot/vmlinuz-6.14
	run bash -c 'source "$1"; installed_kernel "$PWD"' sh "$ROOT/guest/lib.bash"
	assert_eq "$output" "$PWD/lib/modules/6.12.3/vmlinuz:$PWD/lib/modules/6.12.3"
}
