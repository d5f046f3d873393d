#!/usr/bin/env bats
# Programs, data and pages where `make install` puts them, and the tarball of `make dist`.

load helper
KBTUNE=${KBTUNE:-$BATS_TEST_DIRNAME/../../build/kbtune}

# A build folder without building: the programs under test, and the pages made from them.
built() {
	mkdir -p build
	cp "$KBLAT" build/kblat
	cp "$KBTUNE" build/kbtune
	"$ROOT/docs/man/generate" build/kblat build/kbtune build/man
}

# install_to DESTDIR PREFIX
install_to() {
	make -s -C "$ROOT" put-kblat put-kbtune BUILD="$T/build" DESTDIR="$1" PREFIX="$2"
}

@test "installed below any prefix, programs find experiments, plots, profiles and each other" {
	built
	install_to "$T/stage" "/opt/a b"
	at="$T/stage/opt/a b"
	cd "$T"
	run env PATH=/usr/bin:/bin "$at/bin/kblat" list experiments
	[ "$status" -eq 0 ]
	assert_contains "$output" "$at/share/kblat/experiments/thesis/oneway-busy"

	# Found by name; installed files are not written to.
	find "$at" -printf '%P %s %T@\n' | sort >before
	run "$at/bin/kblat" run quickstart --only transport=shmem --only poll=busy --set messages=200 --set burst=100 --set pause=0s --reps 2 --set warmup=10
	assert_measured
	made=$(tail -n 1 <<<"$output")
	[[ $made == "$T/runs/quickstart-"* ]]
	"$at/bin/kblat" verify "$made"
	run "$at/bin/kblat" report "$made"
	echo "$output"
	[ "$status" -eq 0 ]
	ls "$made"/derived/figures/*.svg
	find "$at" -printf '%P %s %T@\n' | sort | diff before -

	# So does the guest, with what it needs.
	run env PATH=/usr/bin:/bin KBLAT_VM_DIR="$T/kernels" "$at/bin/kblat-guest" --prepare --kernel ../x
	assert_contains "$output" "prepare: '../x' is not a kernel version"
	[ "$status" -eq 2 ] || [ "$status" -eq 77 ]
	run env PATH=/usr/bin:/bin KBLAT_VM_DIR="$T/kernels" "$at/bin/kblat" boots start quickstart --loader guest --old x.y --new v2
	assert_contains "$output" "x.y: it cannot be made ready for the guest"
	diff -r "$ROOT/guest" "$at/share/kblat/guest"

	# kbtune in the same folder is used, with the installed profiles.
	run env PATH=/usr/bin:/bin "$at/bin/kblat" run quickstart --only transport=shmem --set environment=baselin
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'baseline'?"
	run "$at/bin/kbtune" profiles --json
	assert_contains "$output" "$at/share/kbtune/profiles/thesis/profile.yaml"
}

@test "an installed tree may be moved as a whole, and runs of its experiments are kept in ./runs" {
	built
	install_to "$T/stage" /usr
	mv "$T/stage/usr" "$T/moved"
	run "$T/moved/bin/kblat" run "$T/moved/share/kblat/experiments/quickstart" --only transport=shmem --dry-run
	echo "$output"
	[ "$status" -eq 0 ]
	run "$T/moved/bin/kblat" run "$T/moved/share/kblat/experiments/quickstart" --only transport=shmem --only poll=busy --set messages=200 \
		--set burst=100 --set pause=0s --reps 2 --set warmup=10
	[[ $(tail -n 1 <<<"$output") == "$T/runs/quickstart-"* ]]
	[ ! -e "$T/moved/share/kblat/experiments/quickstart/runs" ]
	run "$T/moved/bin/kbtune" profiles
	assert_contains "$output" "low-latency-laptop"
}

@test "the check after each boot runs the programs that it was installed with, and is not enabled" {
	built
	install_to "$T/stage" /usr/local
	at=$T/stage/usr/local
	grep -qx 'ExecStart=/usr/local/libexec/kblat/kernel-check' "$at/lib/systemd/system/kblat-kernel-check.service"
	grep -qx 'ExecStart=/usr/local/bin/kblat boots go %f' "$at/lib/systemd/system/kblat-boots@.service"
	[ -z "$(find "$T/stage" -name '*.wants')" ]
	printf 'SPEC=quickstart\nOPTIONS="--only transport=shmem"\nSTORE=%s\nBASELINE=%s\nRUNS=1\n' "$T/store" "$(uname -r)" >check.conf
	mv "$at/bin/kblat" "$at/bin/kblat.real"
	printf '#!/bin/sh\necho "asked: $*"\n' >"$at/bin/kblat"
	chmod +x "$at/bin/kblat"
	run env PATH=/usr/bin:/bin "$at/libexec/kblat/kernel-check" check.conf
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "asked: run quickstart --out $T/store/"
}

@test "kblat run NAME prefers ./experiments to installed ones, and a path stays a path" {
	mkdir -p experiments/mine
	spec mine <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 100, repetitions: 1, warmup: 0}
	YAML
	mv mine.yaml experiments/mine/spec.yaml
	run "$KBLAT" run mine
	assert_measured
	[[ $(tail -n 1 <<<"$output") == "$T/experiments/mine/runs/mine-"* ]]
	run "$KBLAT" run ./mine
	[ "$status" -eq 2 ]
	run "$KBLAT" run nothing-of-that-name
	[ "$status" -eq 2 ]
	assert_contains "$output" "nothing-of-that-name"
}

@test "--version: the version of debian/changelog, the commit, the compiler, the libraries in use" {
	version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$ROOT/debian/changelog")
	for program in "$KBLAT" "$KBTUNE"; do
		run "$program" --version
		[ "$status" -eq 0 ]
		[[ ${lines[0]} =~ ^${program##*/}\ ${version//./\\.}\ \(([0-9a-f]{12}\+?|unknown)\)$ ]]
		[[ ${lines[1]} =~ ^compiler:\ (gcc|clang)\ [0-9]+\. ]]
		[[ ${lines[2]} == "libraries: glibc "*"Jansson 2."* ]]
		[[ ${lines[2]} != *"not loaded"* ]]
	done
}

# bats test_tags=long
@test "make dist: twice the same bytes, with the commit in it" {
	git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1 || skip "this is no clone"
	for n in 1 2; do
		make -s -C "$ROOT" dist BUILD="$T/dist$n" 2>/dev/null
		[ "$n" -eq 2 ] || sleep 1.1 # so that a time stamp in it would differ
	done
	cmp dist1/*.tar.gz dist2/*.tar.gz
	tar -xf dist1/*.tar.gz
	[ "$(echo kblat-*)" = "$(basename dist1/*.tar.gz .tar.gz)" ]
	[ "$(cat kblat-*/common/commit)" = "$(git -C "$ROOT" rev-parse HEAD)" ]
	# also inside another repository, the version is that of the tarball
	run make -s -C kblat-* --eval 'show: ; @echo $(VERSION) $(COMMIT)' show
	assert_eq "$output" "$(sed -n '1s/.*(\(.*\)).*/\1/p' kblat-*/debian/changelog) $(git -C "$ROOT" rev-parse HEAD | cut -c1-12)"
}

@test "the Debian package is built with what common/deps and common/features name" {
	cd "$ROOT"
	{
		sed -nE 's/^\t\t(build|man) +\| [^|]*\| ([a-z0-9.+-]+) .*$/\2/p' common/deps | grep -vxE 'gcc|make|libc6-dev'
		grep -v '^#' common/features | cut -d'|' -f4 | xargs -n1
	} | sort -u >"$T/deps"
	sed -n '/^Build-Depends:/,/^[A-Z]/{s/^Build-Depends://;/^[A-Z]/d;s/debhelper-compat[^,]*,//;p}' debian/control | tr -d ' \n' | tr ',' '\n' | sort >"$T/control"
	echo >>"$T/control"
	[ "$(wc -l <"$T/deps")" -ge 10 ]
	diff "$T/deps" <(grep . "$T/control")
}

# prerm WORD…: the script that dpkg calls before it removes or replaces kbtune 1.1.0; prints what it does with kbtune.
prerm() {
	mkdir -p bin
	printf '#!/bin/sh\necho 1.1.0\n' >bin/dpkg-query
	# shellcheck disable=SC2016
	printf '#!/bin/sh\necho "kbtune $*"\nexit "$(cat status)"\n' >bin/kbtune
	chmod +x bin/dpkg-query bin/kbtune
	run env PATH="$PWD/bin:$PATH" sh "$ROOT/debian/kbtune.prerm" "$@"
}

@test "what is applied is restored before the package is removed or replaced by an earlier version, and kept by later ones" {
	command -v dpkg >/dev/null || skip "needs dpkg"
	echo 0 >status
	for words in remove "remove in-favour another 1.0" "upgrade 1.0.0" "upgrade 1.1.0~rc1"; do
		# shellcheck disable=SC2086
		prerm $words
		assert_eq "$status $output" "0 kbtune restore"
	done
	for words in "upgrade 1.1.0" "upgrade 1.2.0-1" "failed-upgrade 1.0.0" "deconfigure in-favour another 1.0"; do
		# shellcheck disable=SC2086
		prerm $words
		assert_eq "$status $output" "0 "
	done
	# What cannot be restored keeps the package.
	echo 1 >status
	for words in remove "upgrade 1.0.0"; do
		# shellcheck disable=SC2086
		prerm $words
		assert_eq "$status $output" "1 kbtune restore"
	done
}
