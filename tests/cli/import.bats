#!/usr/bin/env bats
# Samples of other programs as run directories (docs/import.md).

load helper
load import_helper
bats_require_minimum_version 1.5.0

@test "the real output of each program has the quantiles that an independent count of it has" {
	local -A sorted=(
		[sockperf]="grep -E '^[0-9]+, ' $IMPORTS/sockperf.log | awk -F', ' '{printf \"%d\\n\", \$4 * 1000 + 0.5}'"
		[cyclictest]="awk '/^ +0: +[0-9]/ {print \$3 * 1000}' $IMPORTS/cyclictest.txt"
		[fio]="awk -F', ' '{print \$2}' $IMPORTS/fio.log"
		[cyclictest-json]="/usr/bin/python3 -c 'import json; [print(int(k) * 1000) for t in json.load(open(\"$IMPORTS/cyclictest.json\"))[\"thread\"].values() for k, n in t[\"histogram\"].items() for _ in range(n)]'"
	)
	local -A file=([sockperf]=sockperf.log [cyclictest]=cyclictest.txt [fio]=fio.log [cyclictest-json]=cyclictest.json)
	sorted[cyclictest-hist]="awk '/^[0-9]/ {for (i = 2; i <= 3; i++) for (k = 0; k < \$i; k++) print \$1 * 1000}' $IMPORTS/cyclictest-hist.txt"
	file[cyclictest-hist]=cyclictest-hist.txt
	sorted[perftest]="awk -F', ' '/^[0-9]+, / {printf \"%d\\n\", \$2 * 1000 + 0.5}' $IMPORTS/perftest.txt"
	file[perftest]=perftest.txt
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
	refuses "the slowest messages are not listed; run perftest with -U" perftest "$IMPORTS/perftest-sorted.txt"
	sed 's/usec/clock cycles/' u >c && refuses "not in usec" perftest c
	sed '/^2/d' u >g && refuses "g:4: samples are missing before number '3'" perftest g
	sed '$d' u >s && refuses "cut off" perftest s
	cat u u >two && refuses "second list" perftest two
}

@test "what cannot be latencies, or was cut off, is refused with its line" {
	printf 'lat_us\n1.5\n-3\n' >neg && refuses "neg:3:1: not a latency: '-3'" csv neg
	printf 'lat_us\n1.5\nnan\n' >nan && refuses "nan:3:1: not a latency" csv nan
	printf 'lat_us\n1.5\n0x10\n' >hex && refuses "hex:3:1: not a number" csv hex
	printf 'lat_us\n1.5\n1.' >cut.csv && refuses "cut.csv:3:1: the line has no end" csv cut.csv
	printf 'lat_us\n' >none && refuses "it has no samples" csv none
	printf 'lat_us\n1\n' >one && refuses "--unit contradicts" csv one --unit ns
	printf 'latency\n1\n' >plain && refuses "give --unit" csv plain
	printf 'a_us,b_us\n1,2\n' >both && refuses "several columns" csv both
	refuses "has no column 'c_us'" csv both --column c_us
	printf 'lat_us\n1\n1,5\n' >comma && refuses "comma:3: the line has more or fewer columns than the first line" csv comma
	printf 'a_us,b_us\n1,2\n3\n' >fewer && refuses "fewer:3: the line has more or fewer columns" csv --column a_us fewer
	printf 'rep,lat_ns\n1,5\n0,5\n' >back && refuses "back:3:1: the repetitions are not in order" csv back
	refuses "not a line of a clat log" fio "$IMPORTS/sockperf.log"
	refuses "there is no list of samples" sockperf "$IMPORTS/fio.log"
	refuses "not JSON" cyclictest-json "$IMPORTS/fio.log"
	head -n 100 "$IMPORTS/sockperf.log" >short && refuses "cut off" sockperf short
	sed 's/^100, [0-9.]*/100, 0.1/' "$IMPORTS/sockperf.log" >time.log && refuses "goes back to '0.1'" sockperf time.log
	printf '5, 10, 0, 4096, 0\n4, 10, 0, 4096, 0\n' >fb && refuses "fb:2: time goes back" fio fb
	printf '5, 10, 0, 4096, 0\n5, 10, 1, 4096, 0\n' >mix && refuses "reads and writes are mixed" fio mix
	refuses "there is no format 'gauss'" gauss one
	refuses "there is no format 'cyclictst'; did you mean 'cyclictest'?" cyclictst one
	refuses "--unit is not for the format netperf" netperf --unit us "$IMPORTS/netperf.txt"
}

@test "a histogram whose last bin was exceeded is refused, and its order is not taken for that of time" {
	sed '0,/"cycles": [0-9]*/s/"cycles": \([0-9]*\)/"cycles": 1\1/' "$IMPORTS/cyclictest.json" >"more"
	refuses "beyond the last bin" cyclictest-json more
	import cyclictest-json "$IMPORTS/cyclictest.json"
	assert_eq "$(json "$run_dir/summary.json" '"pattern" in d["points"][0]["metrics"], len(d["points"][0]["reps"])')" "(False, 2)"
	run "$KBLAT" summary "$run_dir"
	[[ $output == *"known in steps of 1000 ns"* ]]
}

@test "a histogram becomes the lower edges of its bins, and their width is the error" {
	local raw=cycles
	awk '/^ +0: +[0-9]/ {print $3}' "$IMPORTS/cyclictest.txt" >$raw
	import hdr --unit us "$IMPORTS/hdr.log"
	/usr/bin/python3 -c 'import sys; [print((v >> max(v.bit_length() - 11, 0) << max(v.bit_length() - 11, 0)) * 1000) for v in sorted(map(int, open(sys.argv[1])))]' $raw >want
	diff want <(imported)
	assert_eq "$(json "$run_dir/run.json" 'd["clock"]["bin_ppm"], d["t0"]["realtime_ns"]')" "(962, 1764057600000000000)"
	import netperf "$IMPORTS/netperf.txt"
	/usr/bin/python3 -c 'import sys; [print(v // 10 ** (len(str(v)) - 1) * 10 ** (len(str(v)) - 1) * 1000) for v in sorted(map(int, open(sys.argv[1])))]' $raw >want
	diff want <(imported)
	assert_eq "$(json "$run_dir/run.json" 'd["clock"]["bin_ppm"]')" 1000000
	run "$KBLAT" summary "$run_dir"
	[[ $output == *"a quantile may be off by 100 %"* ]]
	import rtla --column Thr "$IMPORTS/rtla.txt"
	awk '/^[0-9]/ {for (i = 3; i <= 5; i += 2) for (k = 0; k < $i; k++) print $1 * 1000}' "$IMPORTS/rtla.txt" | sort -n >want
	[ "$(wc -l <want)" -eq 800 ]
	diff want <(imported)
	import rtla "$IMPORTS/rtla-osnoise.txt"
	diff want <(imported)
	import fio-json "$IMPORTS/fio.json"
	/usr/bin/python3 -c 'import json, sys; [print(int(k) - 2 ** max(int(k).bit_length() - 7, 0) // 2) for k, n in json.load(open(sys.argv[1]))["jobs"][0]["read"]["clat_ns"]["bins"].items() for _ in range(n)]' "$IMPORTS/fio.json" >want
	[ "$(wc -l <want)" -eq 256 ]
	diff want <(imported)
}

@test "no change is called harmless that the bins of a histogram could hide" {
	local i
	for ((i = 1; i <= 14; i++)); do
		sed "s/^UNIT_USEC     :    0/UNIT_USEC     :    $i/; s/^HIST_TOTAL:.*/HIST_TOTAL: $((60 + i))/" "$IMPORTS/netperf.txt" >n$i
		"$KBLAT" import netperf --out "$([ $((i % 2)) = 0 ] && echo base || echo new)" n$i
	done
	run -4 "$KBLAT" compare base --with new --json
	echo "$output" >c.json
	json c.json '[(q["verdict"], round(q["step"] / q["base"]), round(q["margin_percent"])) for q in d["points"][0]["quantities"] if q["quantity"].startswith("p50")]' >margin
	assert_eq "$(cat margin)" "[('undecided', 1, 2)]"
}

# arms_in FORMAT FACTOR [UNIT]: 7 runs in turn of a BASE around 12 us and of a NEW that takes FACTOR times as long, printed with FORMAT.
arms_in() {
	rm -rf base new
	/usr/bin/python3 - "$1" "$2" "${3:-s}" <<-'PY'
		import random, sys
		rng = random.Random(4)
		unit = {"s": 1e-6, "ms": 1e-3, "us": 1, "ns": 1e3}[sys.argv[3]]
		for i in range(14):
		    factor = float(sys.argv[2]) if i % 2 else 1
		    with open(f"{i}.csv", "w") as out:
		        print("latency", file=out)
		        for _ in range(200):
		            print(sys.argv[1] % (factor * rng.gauss(12.16, 0.05) * unit), file=out)
	PY
	for ((i = 0; i < 14; i++)); do
		touch -d "2026-01-01 00:00:$i" $i.csv
		"$KBLAT" import csv --unit "${3:-s}" --host h --boot b --out "$([ $((i % 2)) = 0 ] && echo base || echo new)" $i.csv >/dev/null
	done
}

@test "numbers are known as finely as they are written, in any notation" {
	local case format unit
	for case in "%g s" "%.6e s" "%.5E s" "%.9f s" "%.6g ms" "%g us" "%.3f us" "%.4e ns" "%.0f ns"; do
		read -r format unit <<<"$case"
		arms_in "$format" 1.5 "$unit"
		run -3 "$KBLAT" compare base --with new
		assert_contains "$output" "is slower than BASE"
		arms_in "$format" 1 "$unit"
		run -0 "$KBLAT" compare base --with new --judge p50
		assert_contains "$output" "is not slower than BASE (unknown, 7 runs): p50, p90 within 2 %"
	done
	# What the digits do not show is not called the same.
	for case in "%.1g s" "%.1e s" "%.0f us" "%.5f s" "%.2f ms"; do
		read -r format unit <<<"$case"
		arms_in "$format" 1.02 "$unit"
		run -4 "$KBLAT" compare base --with new --judge p50
		assert_contains "$output" "its values are known in steps of "
		assert_contains "$output" "not less than the margin of 2 %; --margin sets another"
		arms_in "$format" 2.5 "$unit"
		run -3 "$KBLAT" compare base --with new --judge p50
	done
}

@test "a clock that is coarser than its digits hides no change" {
	arms_in "%.0f000" 1.02 us
	sed -i 's/^latency/latency_ns/' ./*.csv
	rm -rf base new
	for ((i = 0; i < 14; i++)); do
		"$KBLAT" import csv --host h --boot b --out "$([ $((i % 2)) = 0 ] && echo base || echo new)" $i.csv >/dev/null
	done
	run -4 "$KBLAT" compare base --with new --judge p50
	assert_contains "$output" "its values are known in steps of 1e+03 ns"
}

@test "histograms that were cut off, mixed or changed are refused, and what has only percentiles" {
	refuses "percentile of the last messages" ucx_perftest "$IMPORTS/ucx_perftest.txt"
	printf 'sockperf: [Histogram] Display to scale\nsockperf:       bins  frequency\nsockperf:  5-6  ##\n' >drawn
	refuses "there is no list of samples; run sockperf with --full-log FILE" sockperf drawn
	# sockperf 3.8 and later put its counts before the list of samples, which is what is imported.
	{ printf 'bin (usec)            frequency\n5                   3\n------------------------------\n' && cat "$IMPORTS/sockperf.log"; } >counted
	import sockperf counted
	assert_eq "$(quantile n)" "$(grep -cE '^[0-9]+, ' counted)"
	rm -rf imported
	refuses "configure netperf with --enable-histogram" netperf "$IMPORTS/rtla.txt"
	grep -v HIST_TOTAL "$IMPORTS/netperf.txt" >n && refuses "HIST_TOTAL is missing" netperf n
	sed 's/^>100_SECS: 0/>100_SECS: 3/' "$IMPORTS/netperf.txt" >n && refuses "beyond the last bin" netperf n
	sed '/^TEN_USEC/d' "$IMPORTS/netperf.txt" >n && refuses "do not sum up" netperf n
	cat "$IMPORTS/netperf.txt" "$IMPORTS/netperf.txt" >n && refuses "second histogram" netperf n
	refuses "choose --column IRQ or Thr" rtla "$IMPORTS/rtla.txt"
	refuses "has no column 'Usr'" rtla --column Usr "$IMPORTS/rtla.txt"
	refuses "there is no histogram of rtla" rtla "$IMPORTS/netperf.txt"
	sed 's/^over:         0         0/over:         0         2/' "$IMPORTS/rtla.txt" >r && refuses "beyond the last bin" rtla --column Thr r
	import rtla --column IRQ r
	[ "$status" -eq 0 ]
	rm -rf imported
	sed '/^over:/,$d' "$IMPORTS/rtla.txt" >r && refuses "cut off" rtla --column Thr r
	sed '/^11 /,/^40 /d' "$IMPORTS/rtla.txt" >r && refuses "do not sum up to its total" rtla --column Thr r
	sed 's/(us)/(parsecs)/' "$IMPORTS/rtla.txt" >r && refuses "unknown unit" rtla --column Thr r
	cat "$IMPORTS/rtla.txt" "$IMPORTS/rtla.txt" >r && refuses "second histogram" rtla --column Thr r
	sed '/^# Histogram Overflows/,$d' "$IMPORTS/cyclictest-hist.txt" >h && refuses "cut off" cyclictest-hist h
	sed 's/^# Histogram Overflows: 00000/# Histogram Overflows: 00001/' "$IMPORTS/cyclictest-hist.txt" >h
	refuses "beyond the last bin" cyclictest-hist h
	sed '/^000064/d' "$IMPORTS/cyclictest-hist.txt" >h && refuses "do not sum up to its total" cyclictest-hist h
	sed 's/"bins"/"boxes"/' "$IMPORTS/fio.json" >f && refuses "percentiles only" fio-json f
	sed '0,/"N" : 256/s//"N" : 257/' "$IMPORTS/fio.json" >f && refuses "do not sum up" fio-json f
	refuses "choose one of the directions" fio-json --column write "$IMPORTS/fio.json"
	refuses "--unit is not for the format netperf" netperf --unit us "$IMPORTS/netperf.txt"
}

@test "logs of HdrHistogram: units, tags, times and damage" {
	local log=$IMPORTS/hdr.log
	refuses "give --unit" hdr "$log"
	refuses "it is not a log of HdrHistogram" hdr --unit us "$IMPORTS/netperf.txt"
	head -c -20 "$log" >short && refuses "the line has no end" hdr --unit us short
	sed '7s/....$//' "$log" >short && refuses "not a histogram as HdrHistogram encodes it" hdr --unit us short
	sed 's/^\(1764057601.*HISTFAAAAE14nJ\)N/\1M/' "$log" >bit && refuses "bit:7: not a histogram as HdrHistogram encodes it" hdr --unit us bit
	sed 's/^1764057602/1764057600.5/; s/5.000,/5,/' "$log" >back && refuses "back:8: time goes back to" hdr --unit us back
	sed 's/,5.047,/,5047,/' "$log" >units && refuses "in different units" hdr --unit us units
	sed '7s/^/Tag=a,/; 8s/^/Tag=b,/' "$log" >tags && refuses "several tags" hdr --unit us tags
	import hdr --unit us --column b tags
	assert_eq "$(quantile n)" 20
	rm -rf imported
	sed 's/version 1.3/version 7/' "$log" >v && refuses "unknown version" hdr --unit us v
	printf '       Value   Percentile   TotalCount 1/(1-Percentile)\n' >spectrum
	refuses "it is a list of percentiles" hdr --unit us spectrum
}

@test "of files of two programs in one call, those of the format are imported, and the first other is refused" {
	import sockperf "$IMPORTS/sockperf.log" "$IMPORTS/fio.log" "$IMPORTS/sockperf.log"
	[ "$status" -eq 2 ]
	assert_contains "$output" "fio.log:256: there is no list of samples"
	[ "$(find imported -maxdepth 1 -name 'sockperf-*' | wc -l)" -eq 1 ]
	[ -z "$(find imported -name '*.partial')" ]
}

@test "a missing number is a lost message" {
	sed '/^100, /d' "$IMPORTS/sockperf.log" >lost
	import sockperf lost
	[ "$status" -eq 0 ]
	assert_eq "$(quantile lost) $(quantile n)" "1 221"
}

@test "export --samples --stamps: when each message was submitted, completed and received, which is what its times are made of" {
	scripted
	"$KBLAT" export "$run_dir" --samples --stamps >stamps.csv
	"$KBLAT" export "$run_dir" --samples >samples.csv
	/usr/bin/python3 -IS - <<-'END'
		import csv
		rows, plain = list(csv.DictReader(l for l in open('stamps.csv') if l[0] != '#')), list(csv.DictReader(l for l in open('samples.csv') if l[0] != '#'))
		assert len(rows) == len(plain) == 2000 and 't_comp' in rows[0] and 't_comp' not in plain[0]
		for r, p in zip(rows, plain):
		    assert all(r[k] == v for k, v in p.items())
		    assert int(r['lat_ns']) == int(r['t_recv']) - int(r['t_subm'])
		    assert int(r['comp_lat_ns']) == int(r['t_comp']) - int(r['t_subm'])
	END
	run "$KBLAT" export "$run_dir" --csv --stamps
	[ "$status" -eq 2 ]
	assert_contains "$output" "--stamps requires --samples"
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
	# For docs/import.md.
	for f in n i; do
		echo "$([ $f = n ] && echo measured || echo imported): $(json $f.json 'd["verdict"]'), status $native"
		json $f.json '"\n".join("  %s %+.3g, p %.4f: %s" % (q["quantity"], q["effect"], q["p"], q["verdict"]) for q in d["points"][0]["quantities"])'
	done
}

@test "index, history, report and claims take imported runs" {
	need_feature SQLite
	import sockperf "$IMPORTS/sockperf.log"
	run "$KBLAT" report "$run_dir"
	[ "$status" -eq 0 ]
	[ -s "$run_dir/derived/report.html" ]
	run "$KBLAT" index imported
	[ "$status" -eq 0 ]
	run "$KBLAT" history imported
	[[ $output != *"cannot"* ]]
	run "$KBLAT" export "$run_dir" --csv
	[[ $output == *",half_rtt_ns,222,0,"* ]]
}
