#!/usr/bin/env bats
# Samples of other programs as run directories (docs/import.md).

load helper

IMPORTS=$BATS_TEST_DIRNAME/../imports

# import FORMAT FILE [OPTION…]: imports it; sets $run_dir, and $status and $output like `run`.
import() {
	run "$KBLAT" import --out "$T/imported" "$@"
	run_dir=$(tail -n 1 <<<"$output")
}

# refuses PART FORMAT FILE [OPTION…]: status 2, the message has that part, and nothing is left.
refuses() {
	local part=$1
	shift
	import "$@"
	[ "$status" -eq 2 ] || { echo "status $status: $output" && return 1; }
	[[ $output == *"$part"* ]] || { echo "$output" && return 1; }
	[ -z "$(ls -A "$T/imported" 2>/dev/null)" ] || { ls "$T/imported" && return 1; }
}

# quantile KEY: of the imported samples, in ns.
quantile() {
	json "$run_dir/summary.json" "d['points'][0]['metrics']['lat_ns']['$1']"
}

@test "the real output of each program has the quantiles that an independent count of it has" {
	local -A sorted=(
		[sockperf]="grep -E '^[0-9]+, ' $IMPORTS/sockperf.log | awk -F', ' '{printf \"%d\\n\", \$4 * 1000 + 0.5}'"
		[cyclictest]="awk '/^ +0: +[0-9]/ {print \$3 * 1000}' $IMPORTS/cyclictest.txt"
		[fio]="awk -F', ' '{print \$2}' $IMPORTS/fio.log"
		[cyclictest-json]="/usr/bin/python3 -c 'import json; [print(int(k) * 1000) for t in json.load(open(\"$IMPORTS/cyclictest.json\"))[\"thread\"].values() for k, n in t[\"histogram\"].items() for _ in range(n)]'"
	)
	local -A file=([sockperf]=sockperf.log [cyclictest]=cyclictest.txt [fio]=fio.log [cyclictest-json]=cyclictest.json)
	local format n
	for format in "${!sorted[@]}"; do
		import "$format" "$IMPORTS/${file[$format]}"
		[ "$status" -eq 0 ]
		eval "${sorted[$format]}" | sort -n >all
		n=$(wc -l <all)
		[ "$n" -ge 60 ]
		assert_eq "$format $(quantile n)" "$format $n"
		assert_eq "$format $(quantile p50)" "$format $(sed -n "$(((n + 1) / 2))p" all)"
		assert_eq "$format $(quantile max)" "$format $(tail -n 1 all)"
		run "$KBLAT" verify "$run_dir"
		[ "$status" -eq 0 ]
		run "$KBLAT" summary "$run_dir"
		[[ $output == *"measured by another program"* ]]
	done
}

@test "perftest: samples in order, or sorted; another unit, a gap and a cut are refused" {
	{ printf -- '----\n#, usec\n' && for i in 1 2 3 4; do echo "$i, $((5 - i)).25"; done && printf -- '---\n'; } >u
	import perftest u
	assert_eq "$(quantile min) $(quantile max) $(quantile n)" "1250 4250 4"
	assert_eq "$(json "$run_dir/resolved.json" 'd["points"][0]["traits"]["rules"]["unordered"]')" False
	{ printf '#, usec\n1, 1.5\n2, 2.5\n---\n'; } >h
	import perftest h
	assert_eq "$(json "$run_dir/resolved.json" 'd["points"][0]["traits"]["rules"]["unordered"]')" True
	rm -rf imported
	sed 's/usec/clock cycles/' u >c && refuses "not in usec" perftest c
	sed '/^2/d' u >g && refuses "g:4: samples are missing before number '3'" perftest g
	sed '$d' u >s && refuses "cut off" perftest s
	cat u u >two && refuses "second list" perftest two
}

@test "what cannot be latencies, or was cut off, is refused with its line" {
	printf 'lat_us\n1.5\n-3\n' >neg && refuses "neg:3: not a latency: '-3'" csv neg
	printf 'lat_us\n1.5\nnan\n' >nan && refuses "nan:3: not a latency" csv nan
	printf 'lat_us\n1.5\n0x10\n' >hex && refuses "hex:3: not a number" csv hex
	printf 'lat_us\n1.5\n1.' >cut.csv && refuses "cut.csv:3: the line has no end" csv cut.csv
	printf 'lat_us\n' >none && refuses "it has no samples" csv none
	printf 'lat_us\n1\n' >one && refuses "--unit contradicts" csv one --unit ns
	printf 'latency\n1\n' >plain && refuses "give --unit" csv plain
	printf 'a_us,b_us\n1,2\n' >both && refuses "several columns" csv both
	refuses "has no column 'c_us'" csv both --column c_us
	printf 'rep,lat_ns\n1,5\n0,5\n' >back && refuses "back:3: the repetitions are not in order" csv back
	refuses "not a line of a clat log" fio "$IMPORTS/sockperf.log"
	refuses "there is no list of samples" sockperf "$IMPORTS/fio.log"
	refuses "not JSON" cyclictest-json "$IMPORTS/fio.log"
	head -n 100 "$IMPORTS/sockperf.log" >short && refuses "cut off" sockperf short
	sed 's/^100, [0-9.]*/100, 0.1/' "$IMPORTS/sockperf.log" >time.log && refuses "goes back to '0.1'" sockperf time.log
	printf '5, 10, 0, 4096\n4, 10, 0, 4096\n' >fb && refuses "fb:2: time goes back" fio fb
	printf '5, 10, 0, 4096\n5, 10, 1, 4096\n' >mix && refuses "reads and writes are mixed" fio mix
	refuses "there is no format 'gauss'" gauss one
	refuses "are for csv" fio --unit us "$IMPORTS/fio.log"
}

@test "a histogram whose last bin was exceeded is refused, and its order is not taken for that of time" {
	sed '0,/"cycles": [0-9]*/s/"cycles": \([0-9]*\)/"cycles": 1\1/' "$IMPORTS/cyclictest.json" >"more"
	refuses "beyond the last bin" cyclictest-json more
	import cyclictest-json "$IMPORTS/cyclictest.json"
	assert_eq "$(json "$run_dir/summary.json" '"pattern" in d["points"][0]["metrics"], len(d["points"][0]["reps"])')" "(False, 2)"
	run "$KBLAT" summary "$run_dir"
	[[ $output == *"known in steps of 1000 ns"* ]]
}

@test "a missing number is a lost message" {
	sed '/^100, /d' "$IMPORTS/sockperf.log" >lost
	import sockperf lost
	[ "$status" -eq 0 ]
	assert_eq "$(quantile lost) $(quantile n)" "1 221"
}

# bats test_tags=long
@test "runs that were exported and imported get the verdicts of the originals" {
	local i r arm
	spec ab <<-'YAML'
		settings: {kernel: oneway, transport: shmem, messages: 3000, warmup: 100, repetitions: 2, size: 8B}
	YAML
	for i in 1 2 3 4 5 6 7; do
		for arm in base new; do
			run "$KBLAT" run ab.yaml --no-state --out "native/$arm" --set "size=$([ $arm = base ] && echo 8B || echo 64KiB)"
			[ "$status" -eq 0 ] || { echo "$output" && return 1; }
			r=$(tail -n 1 <<<"$output")
			"$KBLAT" export "$r" --samples >"$arm-$i.csv"
			run "$KBLAT" import csv --column lat_ns --out "imported/$arm" "$arm-$i.csv"
			[ "$status" -eq 0 ] || { echo "$output" && return 1; }
		done
	done
	run "$KBLAT" compare native/base --with native/new --ignore size --json
	local native=$status
	echo "$output" >n.json
	run "$KBLAT" compare imported/base --with imported/new --json
	assert_eq "$status" "$native"
	echo "$output" >i.json
	for f in n i; do
		json $f.json '(d["verdict"], d["unit"], d["in_turn"], [(q["quantity"], q["verdict"], q["base"], q["with"], q["p"], q["low"], q["high"], q["margin"]) for q in d["points"][0]["quantities"]])' >$f.txt
	done
	grep -q p50 n.txt || { cat n.txt && return 1; }
	diff n.txt i.txt
}

@test "index, history, report and claims take imported runs" {
	import sockperf "$IMPORTS/sockperf.log"
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ]
	[ -s "$run_dir/derived/report.html" ]
	run "$KBLAT" index imported
	[ "$status" -eq 0 ]
	run "$KBLAT" history imported
	[[ $output != *"cannot"* ]]
	run "$KBLAT" export "$run_dir" --csv
	[[ $output == *",lat_ns,222,0,"* ]]
}
