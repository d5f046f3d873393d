#!/usr/bin/env bats
# Public reports of people who put probes into programs of other kinds than C with all symbols (README.md). Needs access to tracefs.

load ../cli/helper
load ../cli/tracefs_helper
bats_require_minimum_version 1.5.0

setup() {
	kblat_setup
	needs_tracefs
	need_feature libdw
	cat >serve.c <<-'C'
		#include <stdlib.h>
		#include <unistd.h>
		__attribute__((noipa)) int serve(int i) { usleep(100); return i; }
		int main(int argc, char **argv)
		{
			for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 50); i++)
				serve(i);
			return 0;
		}
	C
	cc -O1 serve.c -o serve
	program=
}

eval "plain_$(declare -f teardown)"

teardown() {
	[ -z "$program" ] || kill -9 "$program" || true
	plain_teardown
}

# traces PLACE COMMAND…: each call of a function is a request; there are 50.
traces() {
	trace --explain no --from "$1" --to "$1%return" -- "${@:2}"
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(latency n)" 50
}

# refused PLACE TEXT
refused() {
	run "$KBLAT" trace --no-state --out none --from "$1" --to "$1%return" -- true
	echo "$output"
	assert_eq "$status" 2
	assert_contains "$output" "$2"
	assert_eq "$(wc -l <<<"$output")" 1
}

# attaches PLACE: to $program, for so long that a busy machine, too, has ten calls.
attaches() {
	trace --explain no --for 2s --pid "$program" --from "$1" --to "$1%return"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(latency n)" -ge 10 ]
}

# runs COMMAND…: as $program, from when its thread is in a call on.
runs() {
	"$@" 3>&- &
	program=$!
	for ((tries = 0; tries < 100; tries++)); do
		! grep -q nanosleep "/proc/$program/wchan" "/proc/$program/task"/*/wchan 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

@test "symbols that are compressed in the binary (.gnu_debugdata), as Fedora and RHEL have them" {
	objcopy --only-keep-debug serve mini
	objcopy --strip-debug mini
	xz mini
	strip -s serve
	refused ./serve:serve "has no function 'serve'"
	objcopy --add-section .gnu_debugdata=mini.xz serve
	traces ./serve:serve ./serve
	# Less than all of it is nothing.
	truncate -s 200 mini.xz
	objcopy --update-section .gnu_debugdata=mini.xz serve
	refused ./serve:serve "has no function 'serve'"
}

@test "symbols that a client of debuginfod has fetched" {
	local id
	id=$(readelf -n serve | sed -n 's/.*Build ID: //p')
	[ "$id" ] || skip "the compiler leaves out the build's ID"
	mkdir -p "home/.cache/debuginfod_client/$id" "other/$id"
	objcopy --only-keep-debug serve "other/$id/debuginfo"
	strip -s serve
	refused ./serve:serve "has no function 'serve'"
	DEBUGINFOD_CACHE_PATH=$T/other traces ./serve:serve ./serve
	mv "other/$id/debuginfo" "home/.cache/debuginfod_client/$id"
	HOME=$T/home XDG_CACHE_HOME='' traces ./serve:serve ./serve
	HOME=$T XDG_CACHE_HOME='' refused ./serve:serve "has no function 'serve'"
}

# bats test_tags=long
@test "Rust, whose names are mangled in its new way" {
	need_feature libiberty
	command -v rustc >/dev/null || skip "not there: rustc"
	cat >shop.rs <<-'RUST'
		mod desk {
		    #[inline(never)]
		    pub fn serve(i: u64) -> u64 { std::thread::sleep(std::time::Duration::from_micros(100)); i }
		    #[inline(never)]
		    pub fn ask<T: Into<u64>>(i: T) -> u64 { std::thread::sleep(std::time::Duration::from_micros(100)); i.into() }
		}
		fn main() { let mut n = 0; for i in 0..50u32 { n += desk::serve(i as u64) + desk::ask(i); } std::process::exit((n == 1) as i32); }
	RUST
	rustc -O -C symbol-mangling-version=v0 shop.rs -o shop || skip "rustc cannot link here"
	nm shop | grep -q ' [tT] _RNv.*4desk5serve$'
	traces ./shop:shop::desk::serve ./shop
	traces ./shop:shop::desk::ask ./shop
	traces "./shop:shop::desk::ask::<u32>" ./shop
	refused ./shop:shop::desk::serf "has no function 'shop::desk::serf'"
}

# bats test_tags=long
@test "a program in Go without symbols (-s -w) has its functions all the same" {
	command -v go >/dev/null || skip "not there: go"
	cat >serve.go <<-'GO'
		package main

		var sum int

		type Desk struct{ n int }

		//go:noinline
		func serve(i int) int {
			for k := 0; k < 100000; k++ {
				sum += k % (i + 1)
			}
			return sum
		}

		//go:noinline
		func (d *Desk) Serve(i int) int { return serve(i) + d.n }

		func main() {
			d := Desk{1}
			for i := 0; i < 50; i++ {
				sum += d.Serve(i)
			}
		}
	GO
	HOME=$T GOCACHE=$T/cache GO111MODULE=off go build -ldflags='-s -w' -o stripped serve.go || skip "go cannot build here"
	[ "$(nm stripped 2>/dev/null | wc -l)" -eq 0 ]
	traces ./stripped:main.serve ./stripped
	traces './stripped:main.(*Desk).Serve' ./stripped
	refused ./stripped:main.serf "has no function 'main.serf'; did you mean 'main.serve'?"
}

@test "a stripped program is traced by the address of a function, wherever it is loaded" {
	local address flags
	for flags in -no-pie -pie -static-pie; do
		cc -O1 "$flags" serve.c -o serve || continue # without a static library
		address=0x$(nm serve | sed -n 's/ T serve$//p')
		strip -s serve
		traces "./serve:$address" ./serve
	done
}

@test "segments that are elsewhere in the file than in memory" {
	cc -O1 -fuse-ld=lld serve.c -o serve 2>/dev/null || skip "not there: lld"
	readelf -lW serve | awk '$1 == "LOAD" && / R E / && $2 != $3 {found = 1} END {exit !found}'
	traces ./serve:serve ./serve
}

@test "a function of a library is not one of the program that calls it, and what to give is said" {
	cc -O1 -shared -fPIC -Dmain=unused serve.c -o libserve.so
	chmod 644 libserve.so
	echo 'int serve(int); int main(void) { for (int i = 0; i < 50; i++) serve(i); return 0; }' >calls.c
	cc -O1 calls.c -o calls -L. -lserve -Wl,-rpath,"$T"
	refused ./calls:serve "has no function 'serve' of its own: it calls that of a library (\`ldd $T/calls\` lists them): give LIBRARY:serve"
	traces ./libserve.so:serve ./calls
	refused libserve.so:serve "there is no such program or library: a library is given by its path, which \`ldd\` shows for a program"
	# Of a process that runs, its name does.
	sed -i 's/50/100000/' calls.c
	cc -O1 calls.c -o calls -L. -lserve -Wl,-rpath,"$T"
	runs ./calls
	attaches libserve.so:serve
}

@test "what nobody runs, or not as it is, is refused with what it is" {
	cp serve symbols
	objcopy --only-keep-debug symbols
	refused ./symbols:serve "is a file of debug symbols, which nobody runs: give the program or library that they are of"
	printf '#! /bin/sh -e\nexec ./serve\n' >script
	chmod +x script
	refused ./script:serve "is a script, in which there are no functions that can be probed; what runs it is /bin/sh"
	# Its machine is in bytes 18 and 19.
	cp serve other
	case $(uname -m) in
	x86_64) printf '\xb7\0' | dd of=other bs=1 seek=18 conv=notrunc status=none ;;
	aarch64) printf '\x3e\0' | dd of=other bs=1 seek=18 conv=notrunc status=none ;;
	*) skip "which processor is another one?" ;;
	esac
	refused ./other:serve "is for another processor ("
}

@test "a process whose first thread has ended is traced on" {
	cat >leader.c <<-'C'
		#include <pthread.h>
		#include <unistd.h>
		__attribute__((noipa)) int serve(int i) { usleep(100); return i; }
		static void *thread(void *unused)
		{
			for (int i = 0; i < 100000; i++)
				serve(i);
			return unused;
		}
		int main(void)
		{
			pthread_t t;
			pthread_create(&t, NULL, thread, NULL);
			pthread_exit(NULL);
		}
	C
	cc -O1 -pthread leader.c -o leader
	runs ./leader
	until grep -q 'State:.*Z' "/proc/$program/status"; do sleep 0.05; done
	attaches ./leader:serve
	attaches leader:serve
	# When all have ended, so has the measurement.
	local begin=$SECONDS
	(sleep 8 && kill -9 "$program") 3>&- &
	trace --explain no --for 60s --pid "$program" --from ./leader:serve --to ./leader:serve%return
	[ $((SECONDS - begin)) -lt 50 ]
	[ "$(latency n)" -ge 10 ]
}

@test "a program on an overlay, as in a container, from without" {
	mkdir over
	cp serve over-serve
	# shellcheck disable=SC2016 # for the inner shell
	overlay='mount -t tmpfs none over && cd over && mkdir lower upper work merged && cp ../over-serve lower/serve &&
		mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged && exec "$@"'
	unshare --mount sh -c "$overlay" - true || skip "no overlay can be mounted here"
	runs unshare --mount sh -c "$overlay" - merged/serve 1000000
	attaches serve:serve
	attaches "$T/over/merged/serve:serve"
	attaches "/proc/$program/exe:serve"
}

@test "a program that is only in memory (memfd)" {
	cat >memory.c <<-'C'
		#include <fcntl.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			static char buffer[1 << 20];
			int from = open(argv[1], O_RDONLY), to = memfd_create("serve", 0);
			for (ssize_t got; (got = read(from, buffer, sizeof(buffer))) > 0;)
				write(to, buffer, (size_t)got);
			fexecve(to, argv + 1, (char *[]){NULL});
			return argc;
		}
	C
	cc -D_GNU_SOURCE -O1 -w memory.c -o memory
	runs ./memory ./serve 1000000
	attaches "/proc/$program/exe:serve"
	assert_contains "$output" "kblat: probes are in /memfd:serve"
}

@test "names of C++: one that begins another's, templates, const, and what a compiler adds" {
	need_feature libiberty
	cat >names.cc <<-'C'
		#include <string>
		#include <unistd.h>
		struct Desk {
			__attribute__((noipa)) int serve(int i) const { usleep(100); return i; }
			template <class T> __attribute__((noipa)) T ask(T i) { usleep(100); return i; }
		};
		template <class T> __attribute__((noipa)) T more(T a, T b) { usleep(100); return a > b ? a : b; }
		namespace {
		__attribute__((noipa)) int inside(std::string s) { usleep(100); return (int)s.size(); }
		}
		__attribute__((noipa)) bool main_test() { return false; }
		int main()
		{
			Desk d;
			int n = main_test();
			for (int i = 0; i < 50; i++)
				n += d.serve(i) + d.ask(i) + more(i, n) + inside("x");
			return n == 1;
		}
	C
	g++ -O1 names.cc -o names
	traces ./names:Desk::serve ./names
	traces './names:Desk::serve(int)' ./names
	traces './names:Desk::serve(int) const' ./names
	traces ./names:Desk::ask ./names
	traces './names:Desk::ask<int>' ./names
	traces ./names:more ./names
	traces './names:more<int>(int,int)' ./names
	traces './names:(anonymous namespace)::inside' ./names
	trace --explain no --from ./names:main --to ./names:main%return -- ./names
	assert_eq "$(latency n)" 1
	refused './names:more<long>' "has no function 'more<long>'"
}

@test "a call of a coroutine ends when it first waits, which is said" {
	need_feature libiberty
	cat >waits.cc <<-'C'
		#include <coroutine>
		#include <unistd.h>
		struct Task {
			struct promise_type {
				Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
				std::suspend_never initial_suspend() { return {}; }
				std::suspend_always final_suspend() noexcept { return {}; }
				void return_void() {}
				void unhandled_exception() {}
			};
			std::coroutine_handle<promise_type> handle;
		};
		__attribute__((noinline)) Task serve(int i)
		{
			usleep(100);
			co_await std::suspend_always{};
			usleep(100 + i);
		}
		int main()
		{
			for (int i = 0; i < 50; i++) {
				Task t = serve(i);
				t.handle.resume();
				t.handle.destroy();
			}
		}
	C
	g++ -std=c++20 -O1 waits.cc -o waits || skip "the compiler has no coroutines"
	traces ./waits:serve ./waits
	assert_contains "$output" "kblat: serve is a coroutine: its call, and the request, ends when it first waits"
}

@test "functions that the linker has folded into one are told" {
	cat >twins.c <<-'C'
		#include <unistd.h>
		__attribute__((noipa)) int serve(int i) { usleep(100); return i; }
		__attribute__((noipa)) int ask(int i) { usleep(100); return i; }
		__attribute__((noipa, alias("serve"))) int my_serve(int i);
		int main(void) { int n = 0; for (int i = 0; i < 25; i++) n += serve(i) + ask(i); return n == 1; }
	C
	cc -O1 -w -ffunction-sections -fuse-ld=gold -Wl,--icf=all twins.c -o twins 2>/dev/null || skip "not there: gold"
	traces ./twins:serve ./twins
	assert_contains "$output" "kblat: serve has its code together with 'ask', as the linker found that both do the same: its calls are requests, too"
	cc -O1 -w twins.c -o twins
	trace --explain no --from ./twins:serve --to ./twins:serve%return -- ./twins
	assert_eq "$(latency n)" 25
	[[ $output != *"its code together"* ]]
}

@test "a place within a function is given by its distance, and must be where an instruction begins" {
	[ "$(uname -m)" = x86_64 ] || skip "instructions of x86-64"
	cat >places.c <<-'C'
		#include <unistd.h>
		int main(void) { void serve(void); for (int i = 0; i < 50; i++) { serve(); usleep(100); } return 0; }
		__asm__(".globl serve\n.type serve,@function\nserve: mov $57,%eax\nmov $3,%ecx\nret\n.size serve,.-serve\n"
			".globl plain\nplain: ret\n.globl sizeless\n.type sizeless,@function\nsizeless: mov $1,%eax\nret\n");
	C
	cc -O1 places.c -o places
	for place in serve serve+0 serve+5 serve+0x5; do
		trace --explain no --from "./places:$place" --to "./places:serve+10" -- ./places
		echo "$output"
		[ "$status" -eq 0 ]
		assert_eq "$(latency n)" 50
	done
	run "$KBLAT" trace --out none --from ./places:serve+2 --to ./places:serve+10 -- true
	assert_eq "$status" 2
	assert_contains "$output" "is inside of an instruction"
	run "$KBLAT" trace --out none --from ./places:serve+5 --to ./places:sizeless%return -- true
	assert_eq "$status" 2
	assert_contains "$output" "neither its symbol nor the table of unwinding says how long it is"
	refused ./places:serve+4000000 "has no code at address"
}

@test "a program that goes on in the background, when its command has ended" {
	cat >daemon.c <<-'C'
		#include <unistd.h>
		__attribute__((noipa)) int serve(int i) { usleep(1000); return i; }
		int main(void)
		{
			if (fork())
				return 0;
			sleep(1);
			for (int i = 0; i < 1000; i++)
				serve(i);
			return 0;
		}
	C
	cc -O1 daemon.c -o daemon
	trace --explain no --for 10s --from ./daemon:serve --to ./daemon:serve%return -- ./daemon
	echo "$output"
	assert_eq "$status" 1
	assert_contains "$output" "If the program goes on in the background, trace that with --pid"
}
