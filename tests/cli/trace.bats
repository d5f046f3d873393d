#!/usr/bin/env bats
# The requests of another program (traced.c), which delays some of them on purpose and knows why. Needs access to tracefs where late requests
# are explained.

load helper
load tracefs_helper
bats_require_minimum_version 1.5.0

setup() {
	kblat_setup
	need_feature libtracefs
	make_traced
	in_namespace=()
}

eval "plain_$(declare -f teardown)"

teardown() {
	slow_link_end
	rm -f "${TRACED_DISK:-}"
	plain_teardown
}

# more_delays: a file on a disk, of which nothing is in memory, and a slow link, where this machine has them.
more_delays() {
	local file
	file=$(mktemp "${BATS_TMPDIR:-/tmp}/traced.XXXXXX")
	if dd if=/dev/urandom of="$file" bs=1M count=48 oflag=direct conv=fsync 2>/dev/null; then
		export TRACED_DISK=$file
	else
		rm "$file"
	fi
	slow_link || in_namespace=()
}

# As other programs would delay requests, too, this one comes first on its CPU.
first=(chrt -f 1)

# bats test_tags=long
@test "requests with stamps that were delayed on purpose are explained by that" {
	needs_tracefs
	more_delays
	trace --stamps -- "${in_namespace[@]}" "${first[@]}" ./traced 960
	echo "$output"
	[ "$status" -eq 0 ]
	assert_mostly_right 80
	[ -z "${TRACED_DISK:-}" ] || assert_contains "$kinds" "disk" && assert_contains "$kinds" "page"
	[ -z "${TRACED_PEER:-}" ] || assert_contains "$kinds" "net"
	run "$KBLAT" verify "$run_dir"
	assert_eq "$status" 0
	assert_eq "$(latency n)" 960
	assert_eq "$(own_instances)" ""

	run "$KBLAT" explain "$run_dir" --worst 100
	assert_contains "$output" "late requests (latency over 1.00 ms), 100.0 % explained"
	# One level down: what the thread did that the request waited for.
	grep -q "while it slept, thread [0-9]* (holder), which woke it: .* running its own code" <<<"$output"
	"$KBLAT" report "$run_dir"
	# Of all that the thread holder delayed, it shows the latest: perhaps one that waited longer until it had the lock.
	grep -qE "asleep in (futex|read), woken by holder" "$run_dir/derived/report.html"
	[ -s "$run_dir/derived/figures/point-0000-timeline.svg" ]
}

# bats test_tags=long
@test "so are those of an unmodified program, with probes at its function" {
	needs_tracefs
	more_delays
	trace --from ./traced:serve --to ./traced:serve%return --id 1 -- "${in_namespace[@]}" "${first[@]}" ./traced 480 none
	echo "$output"
	[ "$status" -eq 0 ]
	# What the probes cost is said first.
	assert_contains "${lines[0]}" "a request passes 2 probes, which take "
	[ "$(json "$run_dir/points/0000/rep-00/trace-source.json" "d['probes_ns'] > 0")" = True ]
	assert_mostly_right 35
	assert_eq "$(in_tracefs 'cat uprobe_events' | grep -c "$T" || true)" 0
}

# ask PORT WORD…: an answer of redis.
ask() {
	exec {redis}<>"/dev/tcp/127.0.0.1/$1" || return 1
	echo "${*:2}" >&"$redis"
	head -n 1 <&"$redis"
	exec {redis}>&-
}

# bats test_tags=long
@test "redis of Debian, which sleeps for 5 ms when it is asked to" {
	needs_tracefs
	local server=$ROOT/build/servers/usr/bin/redis-server port=$((20000 + RANDOM % 10000)) path
	[ -e "$server" ] || skip "not there: redis; tests/servers gets it"
	export LD_LIBRARY_PATH=$ROOT/build/servers/lib
	"$KBLAT" trace --no-state --out runs --from "$server:processCommand" --to "$server:processCommand%return" -- \
		"${first[@]}" "$server" --port "$port" --bind 127.0.0.1 --save '' --enable-debug-command yes --logfile log >path &
	until ask "$port" PING >/dev/null 2>&1; do sleep 0.1; done
	ask "$port" "$(printf 'PING\n%.0s' {1..1000})"
	for _ in {1..20}; do
		assert_contains "$(ask "$port" DEBUG SLEEP 0.005)" "OK"
	done
	ask "$port" SHUTDOWN NOSAVE || true
	wait $!
	path=$(cat path)
	"$KBLAT" explain "$path" --worst 3
	"$KBLAT" explain "$path" --json --worst 100 >explain.json
	[ "$(json explain.json "sum(m['cause'].startswith('asleep in clock_nanosleep') for m in d[0]['worst']) >= 19")" = True ]
}

@test "requests that a program writes into a file are measured, by the clock that it used" {
	trace --file requests --explain no -- ./traced 100 requests
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(latency n)" 100
	# Each lasts as long as the file says, to a microsecond.
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import struct, sys
		def column(name):
		    data = open(f"{sys.argv[1]}/points/0000/rep-00/{name}.npy", "rb").read()[4096:]
		    return struct.unpack(f"<{len(data) // 8}q", data)
		lines = sorted(tuple(map(int, line.split())) for line in open("requests"))
		for line, begin, end, thread, number in zip(lines, *map(column, ("t_begin", "t_end", "thread", "id")), strict=True):
		    assert abs((line[1] - line[0]) - (end - begin)) < 1000, (line, begin, end)
		    assert line[2:] == (thread, number), line
	PY
	run "$KBLAT" explain "$run_dir"
	assert_eq "$status" 3
}

@test "stamps need no rights; late requests are then not explained, which is said" {
	need_others "$KBLAT"
	chmod 777 "$T"
	run "${as_other[@]}" "$KBLAT" trace --stamps --no-state --out runs -- ./traced 60
	echo "$output"
	[ "$status" -eq 0 ]
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(latency n)" 60
	assert_contains "$("$KBLAT" summary "$run_dir" --json)" "tracefs"
	run "${as_other[@]}" "$KBLAT" trace --stamps --explain required --no-state --out none -- ./traced 60
	assert_eq "$status" 77
	assert_eq "$(find none -mindepth 1 2>/dev/null)" ""
}

@test "the run names the recorded machine whose state it keeps" {
	run -0 "$KBLAT" trace --stamps --explain no --out runs -- ./traced 60
	run_dir=$(tail -n 1 <<<"$output")
	assert_eq "$(json "$run_dir/run.json" "d['sysroot']")" "$KBLAT_SYSROOT"
	[ -s "$(echo "$run_dir"/state/*/before/state.json)" ]
	run -0 "$KBLAT" verify "$run_dir"
}

@test "a program that writes stamps faster than they are read is not valid" {
	cat >fast.c <<-'C'
		#include "measure/program/kblat_stamp.h"
		int main(void)
		{
			for (uint64_t i = 1; i <= 3000000; i++) {
				kblat_begin(i);
				kblat_end(i);
			}
			return 0;
		}
	C
	cc -std=gnu11 -O2 -pthread -I"$ROOT/harness" fast.c -o fast
	./fast # nobody traces it
	trace --stamps --explain no -- ./fast
	assert_eq "$status" 3
	assert_contains "$("$KBLAT" summary "$run_dir")" "stamps for which there was no room"
	# Nothing was matched that does not belong together.
	[ "$(latency min)" -ge 0 ]
}

@test "stamps have a limit of memory, at which the measurement ends" {
	cat >many.c <<-'C'
		#include "measure/program/kblat_stamp.h"
		int main(void)
		{
			for (uint64_t i = 1;; i++) {
				kblat_begin(0);
				kblat_end(0);
				if (i % 4000 == 0)
					usleep(1000);
			}
		}
	C
	cc -std=gnu11 -D_GNU_SOURCE -O2 -pthread -I"$ROOT/harness" many.c -o many
	trace --stamps --explain no --for 60s -- ./many
	echo "$output"
	assert_contains "$output" "there are 4194304 stamps, and more are not kept: the measurement ends"
	# On a busy machine some were lost before.
	[ "$(latency n)" -le 2097152 ]
	[ "$(latency n)" -gt 2000000 ]
}

@test "stamps of C++, of nested requests, and of requests that end in another thread, are matched" {
	cat >nested.cc <<-'C'
		#include "measure/program/kblat_stamp.h"
		static void *end_it(void *) { kblat_end(7); return nullptr; }
		int main()
		{
			pthread_t thread;
			kblat_begin(7);
			kblat_begin(0);
			kblat_begin(0);
			usleep(1000);
			kblat_end(0);
			usleep(20000);
			kblat_end(0);
			pthread_create(&thread, nullptr, end_it, nullptr);
			pthread_join(thread, nullptr);
			kblat_begin(8);  // never ends
			kblat_end(9);    // never began
			return 4;
		}
	C
	g++ -O1 -D_GNU_SOURCE -pthread -I"$ROOT/harness" nested.cc -o nested
	trace --stamps --explain no -- ./nested
	echo "$output"
	assert_contains "$output" "the program ended with status 4"
	assert_eq "$(latency n)" 3
	assert_eq "$(json "$run_dir/points/0000/rep-00/counters.json" '[d["source"][k] for k in ("requests_open", "requests_strange", "program_failures")]')" "[1, 1, 1]"
	# The inner one ends 20 ms before the others.
	[ "$(latency min)" -ge 1000000 ]
	[ $(($(latency max) - $(latency min))) -ge 20000000 ]
}

@test "what cannot be traced is refused with one message, and nothing is left" {
	local words wanted
	usdt
	cp /bin/true own-rights
	chmod u+s own-rights
	: >empty
	printf '1 2\n' >short
	printf '1 2 3 4 5\n' >long
	printf '5 2 3\n' >backwards
	printf '1 2 3\n# ticks\n' >late
	mkfifo fifo
	for words in "" $'two\nlines' "$(printf '%0200d' 0)"; do
		run "$KBLAT" trace --out none --name "$words" --stamps --explain no -- true
		assert_eq "$status" 2
		assert_contains "$output" "--name: '"
	done
	while IFS='|' read -r words wanted; do
		# shellcheck disable=SC2086 # several of them
		run "$KBLAT" trace --out none $words
		echo "$words: $output"
		[ "$status" -eq 2 ] || [ "$status" -eq 1 ]
		assert_contains "$output" "$wanted"
		assert_eq "$(wc -l <<<"$output")" 1
	done <<-'END'
		-- true|give one of --stamps, --file, and --from with --to
		--stamps --file x -- true|give one of
		--stamps|give a COMMAND after --, or the --pid
		--stamps --pid 1|a program takes memory for stamps when it starts
		--stamps --pid 1 -- true|give a COMMAND after --, or the --pid
		--from ./traced:serve -- true|--from and --to belong together
		--stamps --id 1 -- true|is for probes
		--stamps --limit soon -- true|--limit
		--stamps --buffer 1KiB -- true|must be from 64KiB to 1GiB
		--stamps --explain maybe -- true|must be yes, no or required
		--from nowhere:f --to nowhere:f%return -- true|there is no such program or library
		--from ./traced --to ./traced:serve -- true|is not BINARY:FUNCTION
		--from ./traced:serv --to ./traced:serve%return -- true|has no function 'serv'; did you mean 'serve'?
		--from ./empty:f --to ./empty:f -- true|is not a program or library (ELF)
		--from ./traced:0x1 --to ./traced:serve -- true|has no code at address 0x1
		--from ./traced:0xzz --to ./traced:serve -- true|is not an address
		--from ./traced:shop:begin --to ./traced:serve -- true|has no USDT probe 'shop:begin': it has none at all
		--from ./usdt:shop:begim --to ./usdt:shop:end -- true|has no USDT probe 'shop:begim'; did you mean 'shop:begin'?
		--from ./usdt:shop:begin --to ./usdt:shop:end%return -- true|a USDT probe has no return
		--file x --pid 4194304|there is no such process
		--stamps --explain no --no-state -- ./none|cannot be started
		--stamps --explain no --no-state -- true|no request was seen
		--stamps --explain no -- ./own-rights|runs with other rights (setuid, setgid)
		--file nothing --explain no --no-state -- true|nothing: cannot open
		--file fifo --explain no --no-state -- true|fifo: is not a regular file
		--file /dev/zero --explain no --no-state -- true|/dev/zero: is not a regular file
		--file late-fifo --explain no --no-state -- mkfifo late-fifo|late-fifo: is not a regular file any more
		--name ../../up --stamps --explain no -- true|--name: '../../up' is not a name of letters, digits
		--name .hidden --stamps --explain no -- true|--name: '.hidden' is not a name
		--name - --stamps --explain no -- true|--name: '-' is not a name
		--name a/b --file empty -- true|--name: 'a/b' is not a name
		--from ./fifo:f --to ./fifo:f -- true|fifo: is not a program or library (ELF)
		--file . --explain no --no-state -- true|is a directory
		--file empty --explain no --no-state -- true|no request was seen
		--file short --explain no --no-state -- true|line 1: expected begin, end
		--file long --explain no --no-state -- true|line 1: there is more than
		--file backwards --explain no --no-state -- true|line 1: a time or number is negative, or the request ends before it begins
		--file late --explain no --no-state -- true|line 2: '# ticks' must come before
	END
	assert_eq "$(find none -mindepth 1 2>/dev/null)" ""
}

@test "a function of which there are two is refused with both; one in C++ is found as it is written" {
	need_feature libiberty
	needs_tracefs
	cat >two.cc <<-'C'
		#include <unistd.h>
		namespace shop {
		__attribute__((noinline)) int serve(int i) { usleep(100); return i + 1; }
		__attribute__((noinline)) int serve(long i) { usleep(100); return i + 2; }
		}
		int main() { int n = 0; for (int i = 0; i < 50; i++) n += shop::serve(i) + shop::serve(1L * i); return n == 1; }
	C
	g++ -O1 two.cc -o two
	trace --from ./two:shop::serve --to ./two:shop::serve%return -- ./two
	assert_eq "$status" 2
	assert_contains "$output" "shop::serve(int) at 0x"
	assert_contains "$output" "shop::serve(long) at 0x"
	trace --from "./two:shop::serve(long)" --to "./two:shop::serve(long)%return" -- ./two
	echo "$output"
	assert_eq "$(latency n)" 50
}

@test "a stripped binary is traced by its debug symbols where they are installed, and by address" {
	needs_tracefs
	local id address
	address=0x$(nm traced | sed -n 's/ T serve$//p')
	id=$(readelf -n traced | sed -n 's/.*Build ID: //p')
	[ "$id" ] || skip "the compiler leaves out the build's ID"
	cp traced stripped
	strip -s stripped
	objcopy --only-keep-debug traced symbols
	trace --from ./stripped:serve --to ./stripped:serve%return -- ./stripped 20 none
	assert_eq "$status" 2
	assert_contains "$output" "of a stripped binary, install the debug symbols, or give BINARY:0xADDRESS"
	trace --explain no --from "./stripped:$address" --to "./stripped:$address%return" -- ./stripped 20 none
	assert_eq "$(latency n)" 20
	# shellcheck disable=SC2016 # the inner shell expands them
	trace_installed='mount -t tmpfs none /usr/lib/debug && mkdir -p "/usr/lib/debug/.build-id/${0:0:2}" &&
		cp symbols "/usr/lib/debug/.build-id/${0:0:2}/${0:2}.debug" && exec "$@"'
	[ -d /usr/lib/debug ] || skip "there is no /usr/lib/debug"
	run_dir=$(unshare --mount bash -c "$trace_installed" "$id" "$KBLAT" trace --no-state --explain no --out runs --from ./stripped:serve \
		--to ./stripped:serve%return -- ./stripped 20 none)
	"$KBLAT" summary "$run_dir"
	assert_eq "$(latency n)" 20
}

@test "debug symbols are found by the name that the binary tells, if they are its own" {
	needs_tracefs
	cp traced linked
	objcopy --only-keep-debug linked linked.symbols
	strip -s linked
	objcopy --add-gnu-debuglink=linked.symbols linked
	objcopy --remove-section .note.gnu.build-id linked
	mkdir .debug
	mv linked.symbols .debug
	trace --explain no --from ./linked:serve --to ./linked:serve%return -- ./linked 20 none
	echo "$output"
	assert_eq "$(latency n)" 20
	assert_contains "$output" "(build ID none)"
	# Those of another build have other addresses.
	echo >>.debug/linked.symbols
	trace --explain no --from ./linked:serve --to ./linked:serve%return -- ./linked 20 none
	assert_eq "$status" 2
	assert_contains "$output" "has no function 'serve'"
}

# bats test_tags=long
@test "the file that the process runs is probed, whatever its path is now, and the message says which" {
	needs_tracefs
	local id odd="a b:c#d" root=$T/root
	id=$(readelf -n traced | sed -n 's/.*Build ID: //p')
	serving() { # RUN LEAST: that was the running program's
		echo "$output"
		[ "$status" -eq 0 ]
		[ "$(latency n)" -ge "$1" ]
	}
	# A path with a blank, a colon, and what begins a comment.
	mkdir "$odd"
	cp traced "$odd/traced:1"
	trace --explain no --from "./$odd/traced:1:serve" --to "./$odd/traced:1:serve%return" -- "./$odd/traced:1" 20 none
	serving 20
	assert_contains "$output" "kblat: probes are in $T/$odd/traced:1 (build ID $id)"
	# Replaced since it was started, by a file in which the function is elsewhere, or which is none at all.
	cp traced upgraded
	./upgraded 100000 none 3>&- &
	program=$!
	until [ "$(cat "/proc/$program/task"/*/comm | grep -c holder)" = 1 ]; do sleep 0.05; done # it serves
	cp /bin/true new
	mv new upgraded
	for name in ./upgraded "$T/upgraded" upgraded "/proc/$program/exe"; do
		trace --explain no --pid "$program" --for 1s --from "$name:serve" --to "$name:serve%return"
		serving 10
		assert_contains "$output" "kblat: probes are in $T/upgraded (build ID $id), which process $program runs"
	done
	kill -9 "$program"
	wait "$program" || true
	# In a file system of its own (a container), by the path in there; the same path here is another file.
	mkdir -p "$root/srv" "$T/srv"
	cp traced "$root/srv/traced"
	ln -s traced "$root/srv/current"
	while read -r library; do
		mkdir -p "$root/${library%/*}"
		cp "$library" "$root/$library"
	done < <(ldd traced | grep -o '/[^ ]*')
	chroot "$root" /srv/traced 100000 none 3>&- &
	program=$!
	until [ "$(cat "/proc/$program/task"/*/comm | grep -c holder)" = 1 ]; do sleep 0.05; done
	for name in /srv/traced /srv/current traced "$root/srv/traced" "/proc/$program/root/srv/traced"; do
		trace --explain no --pid "$program" --for 1s --from "$name:serve" --to "$name:serve%return"
		serving 10
		assert_contains "$output" "(build ID $id), which process $program runs"
	done
	# What it does not run is said.
	trace --explain no --pid "$program" --for 100ms --from ./usdt-none:serve --to ./usdt-none:serve%return
	assert_eq "$status" 2
	trace --explain no --pid "$program" --for 100ms --from ./traced:serve --to ./traced:serve%return
	assert_contains "$output" "kblat: probes are in $T/traced (build ID $id), which process $program does not run now"
	assert_contains "$output" "no request was seen"
	kill -9 "$program"
	wait "$program" || true
}

@test "of events that did not fit into the buffers, the number is said, and what happened then is not known" {
	needs_tracefs
	trace --buffer 64KiB --stamps -- "${first[@]}" ./traced 400
	echo "$output"
	run "$KBLAT" explain "$run_dir"
	echo "$output"
	[[ $output =~ ([0-9]+)\ events\ did\ not\ fit\ into\ the\ buffers ]]
	[ "${BASH_REMATCH[1]}" -gt 1000 ]
	assert_contains "$output" "not known: events were lost"
	assert_contains "$("$KBLAT" summary "$run_dir")" "${BASH_REMATCH[1]} kernel events did not fit"
}

# usdt: a program with USDT probes, each at two places with its argument elsewhere, that are passed over unless somebody counts himself in their
# semaphore. It writes that counter into the file `counters` whenever it changes.
usdt() {
	cat >usdt.c <<-'C'
		#include <stdio.h>
		#include <unistd.h>
		#define SITE(name, counter, argument) \
			__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
				"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b, _.stapsdt.base, " #counter "\n" \
				".asciz \"shop\"\n.asciz \"" #name "\"\n.asciz \"-4@%0\"\n994: .balign 4\n.popsection\n" \
				".ifndef _.stapsdt.base\n.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
				".weak _.stapsdt.base\n.hidden _.stapsdt.base\n_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n" \
				".popsection\n.endif\n" ::argument)
		volatile unsigned short begin_wanted __attribute__((section(".probes"))), end_wanted __attribute__((section(".probes")));
		__attribute__((noinline)) static void serve(int number)
		{
			volatile int copy = number;
			if (begin_wanted && number % 2)
				SITE(begin, begin_wanted, "r"(number));
			else if (begin_wanted)
				SITE(begin, begin_wanted, "m"(copy));
			usleep(1000);
			if (end_wanted)
				SITE(end, end_wanted, "r"(number));
		}
		int main(void)
		{
			FILE *out = fopen("counters", "we");
			for (int i = 1, last = -1;; i++) {
				if (begin_wanted != last)
					fprintf(out, "%d\n", last = begin_wanted), fflush(out);
				serve(-i);
			}
		}
	C
	cc -O1 usdt.c -o usdt
}

@test "requests between two USDT probes are measured, with an argument of theirs; the program passes them over before and after" {
	needs_tracefs
	usdt
	./usdt 3>&- &
	program=$!
	trace --pid "$program" --for 1s --explain no --id 1 --from ./usdt:shop:begin --to ./usdt:shop:end
	echo "$output"
	[ "$status" -eq 0 ]
	T_out=$T/err await_run eval '[ "$(tail -n 1 counters)" = 0 ]'
	kill "$program"
	wait "$program" || true
	assert_eq "$(head -n 1 counters) $(sort -n counters | tail -n 1) $(tail -n 1 counters)" "0 2 0" # one for each place
	[ "$(latency n)" -ge 50 ]
	[ "$(latency min)" -ge 1000000 ]
	# Both places of the first probe, one after the other, and what a request is called is a number with a sign.
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import struct, sys
		data = open(sys.argv[1] + "/points/0000/rep-00/id.npy", "rb").read()[4096:]
		ids = struct.unpack(f"<{len(data) // 8}q", data)
		assert all(b == a - 1 for a, b in zip(ids, ids[1:])), ids[:9]
		assert ids[0] < 0, ids[:9]
	PY
}

@test "what is inlined is told apart from what is not there, with the functions that have it" {
	need_feature libiberty
	cat >inlined.cc <<-'C'
		#include <unistd.h>
		namespace shop {
		static inline __attribute__((always_inline)) int serve(int i) { usleep(i); return i; }
		__attribute__((noinline)) int answer(int i) { return serve(i) + 1; }
		static inline __attribute__((always_inline)) int again(int i) { return serve(i) * 2; }
		}
		int main() { return shop::answer(100) + shop::again(50); }
	C
	g++ -O2 -g inlined.cc -o inlined
	trace --from ./inlined:shop::serve --to ./inlined:main -- ./inlined
	assert_eq "$status" 2
	assert_contains "$output" "the function 'shop::serve' was inlined into "
	assert_contains "$output" "'shop::answer(int)'"
	assert_contains "$output" "'main'"
	trace --from ./inlined:shop::serves --to ./inlined:main -- ./inlined
	assert_eq "$status" 2
	assert_contains "$output" "has no function 'shop::serves'"
}

# bats test_tags=long
@test "a process that runs already is traced for a time, with its children, and goes on" {
	needs_tracefs
	./traced 100000 none 3>&- &
	program=$!
	trace --pid "$program" --for 2s --from ./traced:serve --to ./traced:serve%return
	echo "$output"
	[ "$status" -eq 0 ]
	kill -0 "$program"
	[ "$(latency n)" -ge 10 ]
	kill -9 "$program"
	wait "$program" || true
}

# living: a program that serves in itself, in a child, and, after it has executed itself, once more, until it dies in the midst of a request.
living() {
	cat >living.c <<-'C'
		#include <signal.h>
		#include <sys/wait.h>
		#include "measure/program/kblat_stamp.h"
		__attribute__((noinline)) int serve(int i)
		{
			kblat_begin(0);
			usleep(300);
			if (i < 0)
				kill(getpid(), SIGKILL);
			kblat_end(0);
			return i;
		}
		static void serve_all(void)
		{
			for (int i = 0; i < 10; i++)
				serve(i);
		}
		int main(int argc, char **argv)
		{
			serve_all();
			if (argc > 1)
				serve(-1);
			if (!fork()) {
				serve_all();
				_exit(0);
			}
			wait(NULL);
			execl(argv[0], argv[0], "again", NULL);
			return 1;
		}
	C
	cc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -I"$ROOT/harness" living.c -o living
}

# counted: requests that were measured, and those that did not end; how often the program failed.
counted() {
	echo "$(latency n) $(json "$run_dir/points/0000/rep-00/counters.json" '"{requests_open} {program_failures}".format(**d["source"])')"
}

@test "a program that forks, executes itself and dies is measured as far as it came" {
	living
	trace --stamps --explain no -- ./living
	echo "$output"
	assert_contains "$output" "the program ended with status 137" # SIGKILL
	assert_eq "$(counted)" "30 1 1"
	[ "$(id -u)" -eq 0 ] && in_tracefs true || skip "tracefs may not be used by this user"
	trace --from ./living:serve --to ./living:serve%return -- ./living
	assert_eq "$(counted)" "30 1 1"
	# Each request has its thread: the process, its child, and the same process.
	/usr/bin/python3 -IS - "$run_dir/points/0000/rep-00/thread.npy" <<-'PY'
		import struct, sys
		data = open(sys.argv[1], "rb").read()[4096:]
		assert len(set(struct.unpack(f"<{len(data) // 8}q", data))) == 2
	PY
}

# share: requests that were measured, that began and did not end, that ended and had not begun, and places without a probe.
share() {
	json "$run_dir/points/0000/rep-00/counters.json" \
		'"{posted} {requests_open} {requests_strange} {places_missing}".format(**d["source"])'
}

@test "an exception that passes a traced function harms nobody, and its request never ended" {
	need_feature libiberty
	needs_tracefs
	cat >throws.cc <<-'C'
		#include <cstdio>
		#include <stdexcept>
		#include <unistd.h>
		__attribute__((noinline)) int serve(int i)
		{
			usleep(200);
			if (i % 10 == 3)
				throw std::runtime_error("x");
			return i;
		}
		int main(int, char **argv)
		{
			int served = 0, caught = 0;
			for (int i = 0; i < 660 || (argv[1] && !access("go-on", F_OK)); i++)
				try {
					serve(i);
					served++;
				} catch (std::exception &) {
					caught++;
				}
			printf("%d served, %d caught\n", argv[1] ? 0 : served, argv[1] ? 0 : caught);
		}
	C
	g++ -O2 throws.cc -o throws
	# A second process of the file, which nobody traces.
	touch go-on
	./throws other >other 3>&- &
	other=$!
	trace --explain no --from './throws:serve(int)' --to './throws:serve(int)%return' -- ./throws
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "594 served, 66 caught"
	assert_eq "$(share)" "594 66 0 0"
	kill -0 "$other"
	rm go-on
	wait "$other"
	assert_eq "$(cat other)" "0 served, 0 caught"
}

@test "longjmp, a thread that ends, and recursion shift no pair" {
	needs_tracefs
	cat >leaves.c <<-'C'
		#include <pthread.h>
		#include <setjmp.h>
		#include <unistd.h>
		static jmp_buf out;
		__attribute__((noipa)) int serve(int i, int depth)
		{
			usleep(20);
			if (depth > 0)
				return serve(i, depth - 1) + 1;
			if (i % 10 == 3)
				longjmp(out, 1);
			if (i % 10 == 5)
				pthread_exit(NULL);
			return i;
		}
		static void *thread(void *i)
		{
			serve((int)(long)i, 1);
			return NULL;
		}
		int main(void)
		{
			pthread_t t;
			for (volatile int i = 0; i < 100; i++)
				if (i % 10 == 5)
					pthread_create(&t, NULL, thread, (void *)(long)i), pthread_join(t, NULL);
				else if (!setjmp(out))
					serve(i, i % 4);
			return 0;
		}
	C
	cc -O1 -pthread leaves.c -o leaves
	trace --explain no --id 1 --from ./leaves:serve --to ./leaves:serve%return -- ./leaves
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(share)" "190 50 0 0"
	# None that was left was taken for a later one's.
	/usr/bin/python3 -IS - "$run_dir" <<-'PY'
		import struct, sys
		data = open(sys.argv[1] + "/points/0000/rep-00/id.npy", "rb").read()[4096:]
		assert not {3, 5} & {i % 10 for i in struct.unpack(f"<{len(data) // 8}q", data)}
	PY
}

# bats test_tags=long
@test "a function that the compiler copied, split, or inlined at one place and called at another is traced whole" {
	needs_tracefs
	cat >inlined.c <<-'C'
		#include <unistd.h>
		static int serve(int i)
		{
			volatile int sum = 0;
			if (i < 0)
				return -1;
			usleep(100);
			for (int k = 0; k < i % 7; k++)
				sum += k;
			return i + sum;
		}
		int (*volatile called)(int) = serve;
		int main(void)
		{
			int n = 0;
			for (int i = 0; i < 600; i++)
				n += serve(i);
			for (int i = 0; i < 60; i++)
				n += called(i);
			return n < 0;
		}
	C
	cat >split.c <<-'C'
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		volatile long sum;
		__attribute__((cold, noinline)) void seldom(const char *s)
		{
			sum += (long)strlen(s);
		}
		int serve(int i)
		{
			if (__builtin_expect(i % 2 == 0, 1))
				return i;
			usleep(100);
			for (int k = 0; k < i % 5; k++) {
				sum += k;
				usleep(1);
			}
			if (i == 33)
				seldom("x");
			sum += i * 3;
			for (int k = 0; k < i % 3; k++)
				sum ^= k * i;
			return i + (int)sum;
		}
		__attribute__((noinline)) int one(int i) { return serve(i) + 1; }
		__attribute__((noinline)) int two(int i) { return serve(i) + 2; }
		__attribute__((noinline)) int three(int i) { sum++; return serve(i); }
		int (*volatile called)(int) = serve;
		int main(void)
		{
			int n = 0;
			for (int i = 0; i < 200; i++)
				n += one(i) + two(i) + three(i);
			for (int i = 0; i < 60; i++)
				n += called(i);
			return n == 1;
		}
	C
	cat >copied.c <<-'C'
		#include <unistd.h>
		volatile long sum;
		static __attribute__((noinline)) int serve(int i, int mode, const char *s)
		{
			usleep(50);
			if (mode == 3) {
				for (int k = 0; k < i % 4; k++)
					sum += s[k % 2];
				return i;
			}
			for (int k = 0; k < mode; k++)
				sum += k;
			return i + mode;
		}
		int main(int argc, char **argv)
		{
			int n = 0;
			for (int i = 0; i < 300; i++)
				n += serve(i, 3, "ab") + serve(i + 1, 3, "ab");
			for (int i = 0; i < 60; i++)
				n += serve(i, argc + i % 3, argv[0]);
			return n == 1;
		}
	C
	cc -O2 -g inlined.c -o inlined
	cc -O2 -g split.c -o split
	cc -O3 -g copied.c -o copied
	nm split | grep -q 'serve\.part\.' && nm split | grep -q 'serve\..*cold' && nm copied | grep -q 'serve\.constprop\.'
	for program in inlined split copied; do
		trace --explain no --from "./$program:serve" --to "./$program:serve%return" -- "./$program"
		echo "$output"
		[ "$status" -eq 0 ]
		assert_eq "$(share)" "660 0 0 0"
	done
	# Which argument is where differs.
	trace --explain no --id 1 --from ./copied:serve --to ./copied:serve%return -- ./copied
	assert_eq "$status" 2
	assert_contains "$output" "argument 1 may be elsewhere in each"
	# Without debugging information nobody knows where its beginning is.
	strip -g split
	trace --explain no --from ./split:serve --to ./split:serve%return -- ./split
	echo "$output"
	assert_eq "$status" 3
	assert_contains "$output" "its beginning was inlined elsewhere"
	assert_contains "$("$KBLAT" summary "$run_dir")" "requests are missing"
}

@test "an address within an instruction, or where a probe would do harm, is refused with its neighbours" {
	needs_tracefs
	[ "$(uname -m)" = x86_64 ] || skip "instructions of x86-64"
	cat >places.c <<-'C'
		int main(void) { return 0; }
		__asm__(".text\n.type f,@function\nf: mov $57,%eax\nf_call: syscall\nf_flags: pushf\npopf\n"
			"f_lock: lock incl -4(%rsp)\nf_nop: .byte 0x0f,0x1f,0x44,0,0\nret\n.size f,.-f\n"
			".type g,@function\ng: ret\n.long 0,0,0\nret\n.size g,.-g\n"
			".type h,@function\nh: jmp *table(,%rdi,8)\n.size h,.-h\n"
			".globl f,g,h,f_call,f_flags,f_lock,f_nop\n.data\ntable: .quad f,g\n.text\n");
	C
	cc -O1 -no-pie places.c -o places
	at() { printf '0x%x' $((0x$(nm places | sed -n "s/ [tT] $1\$//p") + ${2:-0})); }
	refused() {
		run "$KBLAT" trace --out none --from "./places:$1" --to ./places:main%return -- ./places
		echo "$1: $output"
		assert_eq "$status" 2
		assert_contains "$output" "$2"
		assert_eq "$(wc -l <<<"$output")" 1
	}
	refused "$(at f 2)" "address $(at f 2) is inside of an instruction; instructions begin at $(at f) and $(at f 5)"
	refused "$(at f_call)" "it enters the kernel"
	refused "$(at f_flags)" "it stores the processor's flags"
	refused "$(at f_lock)" "lock prefix"
	refused "$(at f_nop)" "the kernel replaces this instruction"
	refused "$(at f 2)%return" "is within the function 'f'"
	refused g%return "there is no instruction that is known"
	refused h%return "it jumps to a place that a probe cannot see"
	refused 0x400000 "has no code at address 0x400000"
	refused __libc_start_main "has no function '__libc_start_main'"
	trace --explain no --from "./places:$(at f)" --to ./places:main%return -- ./places
	assert_contains "$output" "no request was seen"
}

@test "of a function that is chosen when the program starts, the one that was chosen is traced" {
	needs_tracefs
	cat >chosen.c <<-'C'
		#include <unistd.h>
		static int serve_a(int i) { usleep(i % 100); return i; }
		static int serve_b(int i) { usleep(i % 50); return i + 1; }
		volatile int which = 1;
		static int (*choose(void))(int) { return which ? serve_b : serve_a; }
		int serve(int) __attribute__((ifunc("choose")));
		static int (*table[])(int) = {serve_a, serve_b};
		static int (*choose_other(void))(int) { return table[which]; }
		int other(int) __attribute__((ifunc("choose_other")));
		int main(int argc, char **argv)
		{
			int n = 0;
			for (int i = 0; i < 660; i++)
				n += argc > 1 ? serve_a(i) + serve(i) : serve(i);
			return other(n) == 1;
		}
	C
	cc -O1 -fno-inline chosen.c -o chosen
	trace --explain no --from ./chosen:serve --to ./chosen:serve%return -- ./chosen
	echo "$output"
	[ "$status" -eq 0 ]
	assert_eq "$(share)" "661 0 0 0" # as other() chooses it, too
	# The other one is called by its own name, which is no call of this function.
	trace --explain no --from ./chosen:serve --to ./chosen:serve%return -- ./chosen both
	assert_eq "$status" 3
	assert_contains "$("$KBLAT" summary "$run_dir")" "requests are missing"
	trace --explain no --from ./chosen:other --to ./chosen:other%return -- ./chosen
	assert_eq "$status" 2
	assert_contains "$output" "chooses when the program is loaded (IFUNC)"
}

@test "of several versions of a function, the default one is traced" {
	needs_tracefs
	cat >versions.c <<-'C'
		#include <unistd.h>
		__asm__(".symver serve_1,serve@V1\n.symver serve_2,serve@@V2\n");
		int serve_1(int i) { usleep(10); return i; }
		int serve_2(int i) { usleep(20); return i + 1; }
	C
	echo 'V1 {}; V2 { global: serve; local: *; } V1;' >versions.map
	sed -i 's/V1 {};/V1 { global: serve; };/' versions.map
	cc -O1 -shared -fPIC -Wl,--version-script=versions.map versions.c -o libversions.so
	cat >uses.c <<-'C'
		int serve(int);
		int main(void) { int n = 0; for (int i = 0; i < 66; i++) n += serve(i); return n == 1; }
	C
	cc -O1 uses.c -o uses -L. -lversions -Wl,-rpath,"$T"
	for name in serve serve@@V2; do
		trace --explain no --from "./libversions.so:$name" --to "./libversions.so:$name%return" -- ./uses
		echo "$output"
		[ "$status" -eq 0 ]
		assert_eq "$(share)" "66 0 0 0"
	done
	trace --explain no --from ./libversions.so:serve@V1 --to ./libversions.so:serve@V1%return -- ./uses
	assert_contains "$output" "no request was seen"
}

@test "a program that dies while probes are in it: the message says so first, and the status is 1" {
	needs_tracefs
	cat >dies.c <<-'C'
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		__attribute__((noipa)) int serve(int i) { usleep(1000); return i; }
		int main(int argc, char **argv)
		{
			for (int i = 0; i < (argc > 3 ? 5000 : 300); i++)
				serve(i);
			if (argc == 3 && !fork())
				raise(SIGSEGV);
			if (argc == 3)
				return wait(NULL) < 0;
			raise(atoi(argv[1]));
			return 0;
		}
	C
	cc -O1 dies.c -o dies
	dies_by() {
		assert_eq "$status" 1
		assert_contains "$(grep '^kblat: ' <<<"$output" | sed -n 3p)" "kblat: the program died by signal $1 ("
		assert_contains "$output" "while probes were in it"
		[ "$(latency n)" -gt 10 ]
	}
	trace --explain no --from ./dies:serve --to ./dies:serve%return -- ./dies 11
	echo "$output"
	dies_by 11
	trace --explain no --from ./dies:serve --to ./dies:serve%return -- ./dies 9
	dies_by 9
	trace --explain no --from ./dies:serve --to ./dies:serve%return -- ./dies 0 child
	dies_by 11
	# Whose parent does not ask how it ended.
	sh -c './dies 6 for long & echo $! >pid; exec sleep 1000' 3>&- &
	parent=$!
	until [ -s pid ]; do sleep 0.05; done
	program=$(cat pid)
	trace --explain no --from ./dies:serve --to ./dies:serve%return --pid "$program"
	echo "$output"
	dies_by 6
	kill "$parent"
	# One that kblat ends does not die.
	trace --explain no --from ./traced:serve --to ./traced:serve%return --for 2s -- ./traced 100000 none
	[ "$status" -eq 0 ]
	# Nobody sees a request of one that dies at once.
	trace --explain no --from ./dies:serve --to ./dies:serve%return -- sh -c 'kill -6 $$'
	assert_eq "$status" 1
	assert_contains "$output" "the program died by signal 6 (Aborted) while probes were in it; no request was seen"
}

@test "who may not trace is told why: no rights, a user namespace, a kernel that is locked down, a PID namespace" {
	local words=(trace --no-state --out none --from ./traced:serve --to ./traced:serve%return)
	need_others "$KBLAT"
	chmod 777 "$T"
	run "${as_other[@]}" "$KBLAT" "${words[@]}" -- ./traced 10 none
	assert_eq "$status" 77
	assert_contains "$output" "tracefs: you have no access; run kblat as root"
	run "${as_other[@]}" "$KBLAT" "${words[@]}" --pid $$ --for 1s
	assert_eq "$status" 77
	assert_contains "$output" "tracefs: you have no access; run kblat as root"
	if unshare --user --map-root-user --mount true; then
		run "${as_other[@]}" unshare --user --map-root-user --mount "$KBLAT" "${words[@]}" -- ./traced 10 none
		assert_eq "$status" 77
		assert_contains "$output" "tracefs: is refused even to root"
	fi
	assert_eq "$(find none -mindepth 1 2>/dev/null)" ""
	needs_tracefs
	run unshare --mount sh -c 'mount -t tmpfs none /sys/kernel/security && echo "none integrity [confidentiality]" >/sys/kernel/security/lockdown &&
		exec "$@"' - "${as_other[@]}" "$KBLAT" "${words[@]}" -- ./traced 10 none
	assert_eq "$status" 77
	assert_contains "$output" "tracefs: the kernel is locked down (confidentiality)"
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 run unshare --pid --fork --kill-child "$KBLAT" "${words[@]}" -- ./traced 10 none
	assert_eq "$status" 77
	assert_contains "$output" "in a PID namespace (a container)"
	assert_eq "$(find none -mindepth 1 2>/dev/null)" ""
}

# steady STATEMENT: a program of that name, with a request each millisecond.
steady() {
	cat >steady.c <<-C
		#include <signal.h>
		#include "measure/program/kblat_stamp.h"
		int main(void)
		{
			$1;
			for (uint64_t i = 1;; i++) {
				kblat_begin(i);
				usleep(1000);
				kblat_end(i);
			}
		}
	C
	cc -std=gnu11 -D_GNU_SOURCE -O1 -pthread -I"$ROOT/harness" steady.c -o steady
}

@test "a program that was started here is ended after --for, also if it ignores that" {
	steady
	trace --stamps --explain no --for 300ms -- ./steady
	echo "$output"
	assert_eq "$(wc -l <<<"$output")" 1
	[ "$status" -eq 0 ]
	steady "signal(SIGTERM, SIG_IGN)"
	trace --stamps --explain no --for 300ms -- ./steady
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "ended with status 137" # SIGKILL
	assert_eq "$(pgrep -f "$T/steady" || true)" ""
}

# bats test_tags=long
@test "the program goes on when kblat is killed, and the next run removes what it left" {
	needs_tracefs
	local i
	for ((i = 0; i < 5; i++)); do
		"$KBLAT" trace --no-state --out "$T/runs" --from ./traced:serve --to ./traced:serve%return -- ./traced 100000 none >out 2>&1 3>&- &
		pid=$!
		T_out=$T/out await_run eval 'child=$(pgrep -P "$pid" traced)'
		sleep "0.$i"
		kill -9 "$pid"
		wait "$pid" || true
		kill -0 "$child"
		trace --stamps -- ./traced 20
		assert_eq "$(own_instances)" ""
		assert_eq "$(in_tracefs 'cat uprobe_events' | grep -c "$T" || true)" 0
		# Its probe is gone, and it serves.
		kill -0 "$child"
		kill -9 "$child"
	done
}

@test "recording costs what it costs: requests before it are kept apart, and compared" {
	needs_tracefs
	steady
	trace --stamps --untraced 1s --for 2s -- ./steady
	echo "$output"
	[ -s "$run_dir/points/0000/untraced/t_end.npy" ]
	assert_eq "$("$KBLAT" explain "$run_dir" --json | json /dev/stdin '0.2 < d[0]["p50_ratio"] < 5')" True
}

# bats test_tags=long
@test "the worst requests are a trace for viewers" {
	needs_tracefs
	trace --stamps -- "${first[@]}" ./traced 320
	"$KBLAT" export "$run_dir" --perfetto >perfetto.json
	/usr/bin/python3 -IS - perfetto.json <<-'PY'
		import json, sys
		events = json.load(open(sys.argv[1]))["traceEvents"]
		late = [e for e in events if e["ph"] == "b"]
		assert len(late) >= 20 and len(late) == sum(e["ph"] == "e" for e in events)
		assert any("asleep in futex, woken by holder" in e["name"] for e in late), late
		# What viewers make of the numbers: Perfetto multiplies by 1000, and truncates (until 2025) or rounds. Slices of a track are one after the other then.
		for to_ns in (lambda us: int(us * 1000), lambda us: round(us * 1000)):
		    end = {}
		    for e in sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"]):
		        track = e["pid"], e["tid"]
		        assert to_ns(e["ts"]) >= end.get(track, 0), e
		        end[track] = to_ns(e["ts"]) + to_ns(e["dur"])
		    assert end
		for e in events:
		    for key in {"ts", "dur"} & set(e):
		        assert int(e[key] * 1000) == round(e[key] * 1000), e
		# A track has one name.
		names = [(e["name"], e["pid"], e["tid"]) for e in events if e["ph"] == "M"]
		assert len(names) == len(set(names)), names
		assert any(e["name"] == "thread_name" and e["args"]["name"].startswith("traced ") for e in events)
	PY
	run "$KBLAT" export "$run_dir" --perfetto --point 3
	assert_eq "$status" 2
	assert_contains "$output" "has no point 3"
	trace --stamps --explain no -- ./traced 50
	run "$KBLAT" export "$run_dir" --perfetto
	assert_eq "$status" 3
	assert_contains "$output" "there are no events"
}
