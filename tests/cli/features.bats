#!/usr/bin/env bats
# What is left out where a library is missing (common/features).
load helper

# What this build was made without is not what the tests leave out.
setup() {
	unset WITHOUT
	kblat_setup
}

find_features() { env CC=cc "$ROOT/common/find-features" "$@"; }

# pc_without MODULE…: a folder for pkg-config, $PKG_CONFIG_LIBDIR, with all modules but these.
pc_without() {
	local dir module
	mkdir -p pc
	for dir in $(pkg-config --variable pc_path pkg-config | tr ':' ' '); do
		cp -n "$dir"/*.pc pc/ 2>/dev/null || true
	done
	for module in "$@"; do
		rm "pc/$module.pc"
	done
	export PKG_CONFIG_LIBDIR=$T/pc
}

@test "a library that everything needs: one line says which, what pkg-config misses, and its packages" {
	pc_without numa
	run find_features make out
	assert_eq "$status" 77
	assert_eq "$output" "kblat: libnuma: pkg-config finds no numa.pc: install libnuma-dev (Debian, Ubuntu) or numactl-devel (Fedora, RHEL)"
	[ ! -e out/features.mk ]
}

@test "without pkg-config: which package has it" {
	PKG_CONFIG=none-here run find_features make out
	assert_eq "$status" 77
	assert_contains "$output" "install pkgconf (Debian, Ubuntu) or pkgconf-pkg-config (Fedora, RHEL)"
}

@test "a library that one feature needs: a table says what is left out, once" {
	pc_without sqlite3 liburing
	run find_features make out
	assert_eq "$status" 0
	assert_contains "$output" "liburing    | the transport uring "
	assert_contains "$output" "SQLite      | kblat index, report and history of a folder "
	assert_eq "${#lines[@]}" 4
	grep -x 'ABSENT := uring:liburing' out/features.mk
	grep -x 'FEATURE("SQLite", false, "kblat", "kblat index, report and history of a folder", "libsqlite3-dev", "sqlite-devel")' out/common/features.def
	run find_features make out
	assert_eq "$output" ""
}

@test "a library of two modules is there if both are" {
	pc_without libtraceevent
	run find_features make out
	assert_contains "$output" "libtracefs  | "
}

@test "WITHOUT leaves out what is there; what everything needs stays" {
	WITHOUT="UCX libnuma" run find_features make out
	assert_eq "$status" 0
	grep -x 'ABSENT := ucx:UCX' out/features.mk
	grep -w -e -lnuma out/features.mk
}

# symbols OBJECT…: "OBJECT SYMBOL KIND" of each, where the kind U is one of another object.
symbols() {
	nm --extern-only --print-file-name --format=posix "$@" | sed 's/: / /'
}

@test "what others call of a module that can be left out is in what replaces it: a build without it links" {
	local name out module build left replaced
	build=$(dirname -- "$KBLAT")
	! grep -q '^LEFT_OUT := .' "$build/features.mk" || skip "this build has left out something itself"
	# In a folder that is kept, objects may be left of sources that are gone.
	(cd "$build" && find harness tuning common -name '*.o') | while read -r name; do
		name=${name%.o}
		[ ! -e "$ROOT/$name.c" ] && [ ! -e "$ROOT/${name%-*}_loop.c" ] || echo "$build/$name.o"
	done >objects
	mapfile -t objects <objects
	symbols "${objects[@]}" >symbols
	while IFS='|' read -r name _ _ _ _ _ out; do
		left=() replaced=() absent=(-e '^$')
		for module in $out; do
			# A transport without its library is compiled without what it calls.
			[[ $module != transport:* ]] || absent+=(-e "/transports/${module#*:}\.o .* U")
			[[ $module == *:* ]] && continue
			left+=("$build/$module.o")
			[ -e "$ROOT/${module}_without.c" ] || continue
			cc -c -std=gnu11 -D_GNU_SOURCE -I"$ROOT" -I"$ROOT/harness" -I"$build" -I"$build/harness" "$ROOT/${module}_without.c" -o "$T/${module##*/}.o"
			replaced+=("$T/${module##*/}.o")
		done
		[ ${#left[@]} -gt 0 ] || continue
		echo "without $name:"
		{ printf '%s\n' "${left[@]}" && echo && symbols "${replaced[@]}" && echo && grep -v "${absent[@]}" symbols; } | awk '
			!NF {part++; next}
			!part {left[$1] = 1; next}
			part == 1 {if ($3 != "U") replaced[$2] = 1; next}
			$1 in left {if ($3 != "U") gone[$2] = 1; next}
			$3 == "U" {called[$2] = $1}
			END {for (s in called) if (s in gone && !(s in replaced)) print s ", of " called[s]}' >missing
		assert_eq "$(cat missing)" ""
	done < <(grep -v '^#' "$ROOT/common/features")
}

@test "the programs say what they are without" {
	"$KBLAT" --version >version
	"$KBLAT" list features >list
	"$KBLAT" list features --json >features.json
	while read -r name built; do
		if [ "$built" = True ]; then
			! grep "^without $name:" version || false
		else
			grep "^without $name: .*install .*, and build again" version
			tr -s ' \n' ' ' <list | grep "$name .*: not in this build; install"
		fi
	done < <(/usr/bin/python3 -IS -c 'import json
for f in json.load(open("features.json"))["features"]: print(f["name"], f["built"])')
	assert_eq "$(grep -v '^#' "$ROOT/common/features" | awk -F'|' '$2 ~ /kblat|loaded|apart/ && $6 !~ /everything/' | wc -l)" \
		"$(grep -c needed_by features.json)"
}

@test "a point over a transport that was left out is not possible here, with the package to install; its settings are known" {
	local transport checked=0 addresses=()
	spec some <<-'YAML'
		settings: {kernel: pingpong, messages: 100}
	YAML
	for transport in uring zeromq nanomsg ucx fabric dpdk xdp; do
		! "$KBLAT" list transports | grep -q "^$transport: not in this build" && [ $transport != xdp ] && continue
		[ $transport != xdp ] || "$KBLAT" --version | grep -q '^without libbpf' || continue
		[ $transport != xdp ] || addresses=(--set source_address=127.0.0.1 --set sink_address=127.0.0.2)
		run "$KBLAT" run some.yaml --set transport=$transport "${addresses[@]}" --out runs
		echo "$output"
		assert_eq "$status" 77
		[[ $(tr -s ' \n' ' ' <<<"$output") == *"this build is without "*"; install "*", and build again"* ]]
		checked=$((checked + 1))
	done
	[ "$checked" -gt 0 ] || skip "this build is without nothing: see make WITHOUT=all"
}

@test "without apt, dnf's command is printed, with Fedora's names" {
	mkdir bin
	printf '#!/bin/sh\n' >bin/dnf
	chmod 755 bin/dnf
	for name in bash sh dirname sed grep cut tr sort paste id env readlink cat cc pkg-config cmp printf mkdir; do
		ln -s "$(command -v $name)" bin/$name
	done
	pc_without numa libfabric
	CC=cc PATH=$T/bin run "$ROOT/common/deps" build
	echo "$output"
	assert_eq "$status" 77
	assert_contains "$output" "deps: missing: make numactl-devel"
	assert_contains "$output" "only some features need it: libbpf-devel clang libfabric-devel"
	assert_contains "$output" "type: sudo dnf install --skip-unavailable clang libbpf-devel libfabric-devel make numactl-devel"
}
