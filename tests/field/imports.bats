#!/usr/bin/env bats
# Files of other programs as people have them, from public reports (README.md).

load ../cli/helper
load ../cli/import_helper
bats_require_minimum_version 1.5.0

# values ENTRY…: the samples are these, in ns, in the order of their values.
values() {
	assert_eq "$(imported | paste -sd' ')" "$*"
}

# --- comma-separated values ---

@test "JMeter: an end of line in a message that has no quotes is refused with its line" {
	local head='timeStamp,elapsed,label,responseCode,responseMessage,threadName,success'
	printf '%s\n1541059200000,12,pub,200,Received 1 of message\n.,t 1-1,true\n' "$head" >result.jtl
	refuses "result.jtl:2: the line has more or fewer columns" csv --column elapsed --unit ms result.jtl
}

@test "JMeter: a comma that shifts the columns of a failed request is refused with its line" {
	printf 'timeStamp,elapsed,label,responseMessage,success\n1,213,a,OK,true\n2,314,a,Bad, very bad,false\n' >jmeter.csv
	refuses "jmeter.csv:3: the line has more or fewer columns" csv --column elapsed --unit ms jmeter.csv
}

@test "JMeter: commas, quotes and ends of lines within quotes are a part of the text" {
	printf 'timeStamp,elapsed,label,failureMessage,success\n1,213,"a, b","it said ""no""\nSee log, for details",false\n2,12,a,,true\n' >result.jtl
	imports 2 csv --column elapsed --unit ms result.jtl
	values 12000000 213000000
}

@test "JMeter: what follows a quoted field is refused where it is" {
	printf 'elapsed,message\n1,"a "b" c"\n' >q.csv
	refuses "q.csv:2:3: the quotes of a field are not closed, or followed by more" csv --column elapsed --unit ms q.csv
}

@test "a mark of the order of bytes is no part of a name, whether it is quoted or not" {
	printf '\xef\xbb\xbflat_us\n1.5\n2.5\n' >plain.csv
	imports 2 csv --column lat_us plain.csv
	printf '\xef\xbb\xbf"lat_us","host"\r\n"1.5","a"\r\n"2.5","a"\r\n' >quoted.csv
	imports 2 csv --column lat_us quoted.csv
	values 1500 2500
}

@test "UTF-16 is refused by its name, in both orders, and without a mark" {
	printf 'lat_us\n1.5\n' | iconv -t UTF-16LE >body
	{ printf '\xff\xfe' && cat body; } >le.csv
	refuses "le.csv:1: the file is in UTF-16: convert it with iconv" csv le.csv
	printf 'lat_us\n1.5\n' | iconv -t UTF-16BE | { printf '\xfe\xff' && cat; } >be.csv
	refuses "be.csv:1: the file is in UTF-16" csv be.csv
	refuses "body:1: the line has a byte of 0" csv body
}

@test "vegeta: its CSV has no line with names, and is read by the number of the column" {
	printf '1565087364146786000,200,%s,0,1024,,aGVsbG8=,big-bang,%s,GET,http://host/a,\n' 77236000 0 81214041 1 >vegeta.csv
	imports 2 csv --column 3 --unit ns vegeta.csv
	values 77236000 81214041
	refuses "give the number of the column, not 'latency'" csv --column latency --unit ns <(printf '1,2\n3,4\n')
}

@test "k6: the rows of one metric, by the line of docs/import.md" {
	cat >k6.csv <<-'CSV'
		metric_name,timestamp,metric_value,check,error,error_code,expected_response,group,method,name,proto,scenario,service,status,subproto,tls_version,url,extra_tags,metadata
		http_reqs,1671829514,1.000000,,,,true,,GET,"https://host/a,b",HTTP/1.1,default,,200,,tls1.3,"https://host/a,b",,
		http_req_duration,1671829514,213.399901,,,,true,,GET,"https://host/a,b",HTTP/1.1,default,,200,,tls1.3,"https://host/a,b",,
		http_req_duration,1671829515,12.5,,,,true,,GET,https://host/,HTTP/1.1,default,,200,,tls1.3,https://host/,,
		vus_max,1671829515,20.000000,,,,,,,,,,,,,,,,
	CSV
	documented k6.csv
	imports 2 csv --column metric_value --unit ms k6-requests.csv
	values 12500000 213399901
}

@test "ghz: the unit is in the name of its column" {
	printf 'duration (ms),status,error\n2.31,OK,\n13.50,Unavailable,"rpc error: code = Unavailable, desc = ""x"""\n' >ghz.csv
	imports 2 csv --column "duration (ms)" ghz.csv
	values 2310000 13500000
}

@test "hey: an empty line before the names is passed over, and said" {
	printf '\nresponse-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n0.0321,0.0012,0.0009,0.0000,0.0301,0.0001,200,0.01\n' >hey.csv
	imports 1 csv --column response-time --unit s hey.csv
	assert_contains "$output" "hey.csv: skipped: 1 empty lines"
	values 32100000
}

@test "nginx: the request's time as the last word, and several upstreams by the line of docs/import.md" {
	cat >access.log <<-'LOG'
		10.1.1.1 - - [21/Jan/2019:08:59:54 +0100] "POST /jmx HTTP/1.1" 200 242 "-" "curl/7, x" rt=0.024 urt="0.001"
		10.1.1.1 - - [21/Jan/2019:08:59:55 +0100] "POST /jmx HTTP/1.1" 200 242 "-" "-" rt=0.024 urt="0.000, 0.001"
		10.1.1.1 - - [21/Jan/2019:08:59:55 +0100] "GET /_status HTTP/1.1" 200 19 "-" "-" rt=1.394 urt="-, 1.394"
	LOG
	documented access.log
	imports 3 csv --unit s nginx.csv
	values 24000000 24000000 1394000000
	# Half of such a list is no number.
	printf 'urt_s\n"0.000, 0.001"\n' >urt.csv
	refuses "urt.csv:2:1: not a number: '0.000, 0.001'" csv urt.csv
}

@test "envoy: the duration of its own format, by the line of docs/import.md" {
	cat >envoy.log <<-'LOG'
		[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80"
		[2016-04-15T20:17:01.310Z] "GET /a HTTP/1.1" 200 - 0 5 7 6 "10.0.35.28" "curl" "cc21d9b1" "locations" "tcp://10.0.2.1:80"
	LOG
	documented envoy.log
	imports 2 csv --unit ms envoy.csv
	values 7000000 226000000
}

# documented FILE: runs the line of docs/import.md that reads that file.
documented() {
	local line
	line=$(grep -E "^ +(awk|sed|grep) .* $1 >" "$ROOT/docs/import.md")
	[ "$(wc -l <<<"$line")" -eq 1 ]
	bash -c "$line"
}

@test "numpy.savetxt: a file without names, and names in a comment" {
	printf '1.5\n2.5\n3.5\n' >plain.txt
	imports 3 csv --unit us plain.txt
	printf '# lat_us\n1.500000000000000000e+00\n2.500000000000000000e+00\n' >header.txt
	imports 2 csv header.txt
	values 1500 2500
	assert_contains "$output" "header.txt: skipped: 1 comments"
	printf '# time lat_us\n0.0 1.5\n0.1 2.5\n' >two.txt
	imports 2 csv --column lat_us two.txt
	imports 2 csv --column 2 two.txt
	values 1500 2500
	refuses "give --unit ns, us, ms or s for the column" csv plain.txt
	refuses "it has several columns; choose one" csv two.txt
	# With a name and blanks between numbers.
	printf 'time lat_us\n0.0 1.5\n0.1 2.5\n' >names.txt
	imports 2 csv --column lat_us names.txt
	values 1500 2500
}

@test "pandas: names that are numbers might be samples, and are refused" {
	printf ',0\n0,12.5\n1,13.5\n' >series.csv
	refuses "series.csv:1: names of columns, or samples?" csv --unit us series.csv
	printf ',lat_us\n0,12.5\n1,13.5\n' >named.csv
	imports 2 csv --column lat_us named.csv
}

@test "semicolons, tabs, decimal commas, and Excel's first line" {
	printf 'time;lat_us\r\n1;1,5\r\n\r\n2;12,25\r\n' >de.csv
	imports 2 csv --column lat_us de.csv
	values 1500 12250
	printf 'sep=;\r\ntime;lat_us\r\n1;1,5\r\n' >excel.csv
	imports 1 csv --column lat_us excel.csv
	printf 'time\tlat_us\n1\t1.5\n' >tab.csv
	imports 1 csv --column lat_us tab.csv
	printf '"lat_us","host"\n"1,5",a\n"1.234,5",a\n"7,25",a\n' >quoted.csv
	imports 3 csv --column lat_us quoted.csv
	values 1500 7250 1234500
	printf 'lat_us;x\n1,5E-05;1\n' >exponent.csv
	imports 1 csv --column lat_us --unit us exponent.csv
}

@test "separators of thousands are read where they cannot be decimal commas, and otherwise refused where they are" {
	printf 'lat_ns,x\n"1,234.5",a\n"12,345,678",a\n900,a\n"1,234",a\n' >us.csv
	imports 4 csv --column lat_ns us.csv
	values 900 1234 1235 12345678
	printf 'x,lat_ns\na,900\na,"1,234"\na,"12,345"\n' >either.csv
	refuses "either.csv:3:3: it may have a decimal comma or a separator of thousands" csv --column lat_ns either.csv
	printf 'x;lat_us\na;1,234\na;1,5\n' >decimal.csv
	imports 2 csv --column lat_us decimal.csv
	values 1234 1500
	printf 'x;lat_us\na;1,5\na;1.5\n' >both.csv
	refuses "both.csv:3:3: the column has decimal commas and decimal points" csv --column lat_us both.csv
	printf 'x,lat_us\na,"1,234"\na,1.5\n' >late.csv
	refuses "late.csv:2:3: it may have a decimal comma" csv --column lat_us late.csv
	local number
	for number in 1_000 '1 000' 0x10 1,2,3 1,,5 12,34.5 1.5.5 5us '1.5 us' 1e '1,5,'; do
		printf 'x;lat_us\na;%s\n' "$number" >n.csv
		refuses "n.csv:2:3: not a number: '$number'" csv --column lat_us n.csv
	done
	for number in nan NaN inf -inf -1.5 1e300; do
		printf 'x;lat_us\na;%s\n' "$number" >n.csv
		refuses "n.csv:2:3: not a latency: '$number'" csv --column lat_us n.csv
	done
	# The first one of a file is no name.
	for number in nan -1.5 0x10 1_000; do
		printf '%s\n2.5\n' "$number" >first.csv
		refuses "first.csv:1:1: not a " csv --unit us first.csv
	done
}

@test "empty lines and comments anywhere; what is lost is an empty field" {
	printf '\n# a\nlat_us\n\n1.5\n# b\n   \n\r\n2.5\n""\n\n' >gaps.csv
	imports 2 csv gaps.csv
	assert_eq "$(quantile lost)" 1
	assert_contains "$output" "gaps.csv: skipped: 5 empty lines, 2 comments"
	assert_contains "$(cat "$run_dir/log.jsonl")" '"5 empty lines, 2 comments"'
}

@test "the last line may have no end if it is whole, and is refused if it may have been cut off" {
	printf 'lat_us,x\n1.5,a\n2.5,b' >whole.csv
	imports 2 csv --column lat_us whole.csv
	printf 'lat_us\n1.5\n2.5' >digits.csv
	imports 2 csv digits.csv
	printf 'lat_us\n"1"\n"20"' >quotes.csv
	imports 2 csv quotes.csv
	printf 'lat_us\n10\n2' >count.csv
	refuses "count.csv:3:1: the line has no end: it may have been cut off; if it is whole, add a line feed" csv count.csv
	printf 'lat_us\n1.5\n2.' >point.csv
	refuses "point.csv:3:1: the line has no end" csv point.csv
	printf 'x,lat_us\na,1.5\n"b\n' >open.csv
	refuses "open.csv:3:1: a quote is not closed up to the end of the file" csv --column lat_us open.csv
	printf 'lat_us\r1.5\r2.5\r' >mac.csv
	refuses "mac.csv:1: its lines end in CR alone" csv mac.csv
}

@test "two files one after the other are not read as one" {
	printf 'lat_us\n1.5\nlat_us\n2.5\n' >two.csv
	refuses "two.csv:3:1: not a number: 'lat_us'" csv two.csv
}

# --- fio ---

@test "fio: a log does not say whether it is in us (fio 2) or ns (fio 3), unless its columns do" {
	printf '1, 12, 0, 4096\n2, 15, 0, 4096\n' >old.log
	refuses "old.log:1: the unit cannot be seen: fio 2 wrote us, fio 3 writes ns; give --unit us or ns" fio old.log
	imports 2 fio --unit us old.log
	values 12000 15000
	imports 2 fio --unit ns old.log
	values 12 15
	printf '1, 12, 0, 4096, 0\n2, 15, 0, 4096, 8192\n' >offset.log
	refuses "offset.log:2: the unit cannot be seen" fio offset.log
	printf '1, 1200, 0, 4096, 8192, 0\n' >six.log
	imports 1 fio six.log
	values 1200
	printf '1, 1200, 0, 4096, 0x0000\n' >priority.log
	imports 1 fio priority.log
	refuses "--unit contradicts its columns: fio 3 wrote it, in ns" fio --unit us priority.log
}

@test "fio: a log whose time goes back after its ramp is refused, and directions are chosen" {
	printf '9001, 13, 0, 0\n10000, 13, 0, 0\n0, 16, 0, 0\n' >ramp.log
	refuses "ramp.log:3: time goes back to '0'" fio --unit us ramp.log
	printf '1, 1200, 0, 4096, 0\n1, 9000, 1, 4096, 0\n2, 1300, 0, 4096, 0\n' >mixed.log
	refuses "mixed.log:2: reads and writes are mixed; choose with --column" fio mixed.log
	imports 2 fio --column read mixed.log
	assert_contains "$output" "skipped: 1 operations of another direction"
	imports 1 fio --column write mixed.log
	values 9000
	refuses "--column must be read, write or trim, not 'clat'" fio --column clat mixed.log
}

# fio_json DIRECTION CLAT LAT [REST]: a document as fio prints one.
fio_json() {
	printf '{"fio version": "fio-3.1", "jobs": [{"jobname": "x", "%s": {"total_ios": 3, "clat_ns": %s, "lat_ns": %s}%s}]}\n' "$@"
}

@test "fio: JSON+ without totals, with the same key twice elsewhere, and after a warning" {
	fio_json read '{"min": 1, "bins": {"1000": 2, "1008": 1}}' '{}' ', "latency_us": {"2": 0.0, "2": 0.1}, "write": {"clat_ns": {"percentile": {"0.00": 0, "0.00": 0}}}' >old.json
	imports 3 fio-json old.json
	{ printf 'fio: note: both iodepth >= 1 and synchronous I/O engine are selected\n' && cat old.json; } >warned.json
	imports 3 fio-json warned.json
	assert_contains "$output" "skipped: 1 lines before the document"
	fio_json read '{"bins": {"1000": 2, "1000": 1}}' '{}' >twice.json
	refuses "the bins do not sum up to the operations" fio-json twice.json
	printf '{"jobs": [\n{"a": }]}\n' >broken.json
	refuses "broken.json:2:" fio-json broken.json
}

@test "fio: mixed, and lat beside clat" {
	fio_json mixed '{"N": 3, "bins": {"1000": 2, "1008": 1}}' '{}' '' >mixed.json
	imports 3 fio-json mixed.json
	imports 3 fio-json --column mixed mixed.json
	fio_json read '{"N": 3, "min": 1}' '{"N": 3, "bins": {"2000": 3}}' '' >lat.json
	refuses "these times have no bins; others have: choose with --column lat or slat" fio-json lat.json
	imports 3 fio-json --column lat lat.json
	imports 3 fio-json --column read.lat lat.json
	values 1992 1992 1992
	fio_json read '{"N": 3, "bins": {"1000": 3}}' '{"N": 3, "bins": {"2000": 3}}' '' >three.json
	imports 3 fio-json three.json
	[ "$(imported | head -n 1)" -lt 1001 ]
	printf '{"fio version": "fio-2.16", "jobs": [{"read": {"clat": {"bins": {"FIO_IO_U_PLAT_BITS": 6, "12": 3}}}}]}\n' >two.json
	refuses "fio 2 wrote it" fio-json two.json
}

# --- HdrHistogram ---

# hdr VERSION WORD VALUE…: a histogram of three digits in that encoding, in base64.
hdr() {
	/usr/bin/python3 - "$@" <<-'PY'
		import base64, struct, sys, zlib
		version, word, values = sys.argv[1], int(sys.argv[2]), [int(v) for v in sys.argv[3:]]
		def index(v):
		    shift = max(v.bit_length() - 11, 0)
		    return (shift << 10) + (v >> shift)
		counts = [0] * (max(map(index, values)) + 1)
		for v in values:
		    counts[index(v)] += 1
		head = {"V0": 0x1c849308, "V1": 0x1c849301, "V2": 0x1c849303}[version] | word << 4
		def zigzag(n):
		    n, out = n << 1 if n >= 0 else (-n << 1) - 1, b""
		    while n > 127:
		        out, n = out + bytes([n & 127 | 128]), n >> 7
		    return out + bytes([n])
		if version == "V2":
		    body = b"".join(zigzag(c) if c else zigzag(-1) for c in counts)
		else:
		    body = b"".join(c.to_bytes(word, "big") for c in counts)
		if version == "V0":
		    plain = struct.pack(">IIqqq", head, 3, 1, 3600000000, len(values)) + body
		else:
		    plain = struct.pack(">IIIIqqd", head, len(body), 0, 3, 1, 3600000000, 1.0) + body
		packed = zlib.compress(plain)
		print(base64.b64encode(struct.pack(">II", head + 1, len(packed)) + packed).decode())
	PY
}

@test "hdr: logs of older writers (jHiccup 2.0.6, integer counts), and without a line of version" {
	local version word
	for version in 'V0 8' 'V1 8' 'V1 4' 'V1 2' 'V2 1'; do
		read -r version word <<<"$version"
		printf '#[Histogram log format version 1.1]\n#[StartTime: 1441812279.474 (seconds since epoch)]\n"StartTimestamp","EndTimestamp","Interval_Max","Interval_Compressed_Histogram"\n0.1,1.0,3,%s\n' "$(hdr "$version" "$word" 1000 2000 3000)" >old.hlog
		imports 3 hdr --unit us old.hlog
		values 1000000 2000000 3000000
		tail -n 1 old.hlog >bare.hlog
		imports 3 hdr --unit us bare.hlog
	done
	hdr V1 3 1000 >three
	refuses "not a histogram as HdrHistogram encodes it" hdr --unit us three
}

@test "hdr: tags, a legend with them, a histogram alone in base64, with or without its padding" {
	local h
	h=$(hdr V2 1 1000 2000)
	printf '"Tag","StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\nTag=a,0.1,1.0,2,%s\nTag=b,0.1,1.0,2,%s\nTag=a,1.1,1.0,2,%s\n' "$h" "$h" "$h" >tags.hlog
	imports 4 hdr --unit us --column a tags.hlog
	assert_contains "$output" "skipped: 1 intervals of other tags"
	refuses "tags.hlog:3: it has intervals of several tags" hdr --unit us tags.hlog
	printf '%s\n' "$h" >alone
	imports 2 hdr --unit us alone
	printf 'latency histogram:\n%s\n%s\n' "${h%%=*}" "$h" >program.log
	imports 4 hdr --unit us program.log
	assert_contains "$output" "skipped: 1 lines before the first interval"
}

@test "hdr: a line into which six histograms were written is refused, and what was cut off" {
	local h
	h=$(hdr V2 1 1000 2000)
	printf '0.1,1.0,2,%s%s\n1.1,1.0,2,%s\n' "${h:0:40}" "$h" "$h" >stomped.hlog
	refuses "stomped.hlog:1: not a histogram as HdrHistogram encodes it, or cut off" hdr --unit us stomped.hlog
	printf '0.1,1.0,\n1.1,1.0,2,%s\n' "$h" >cut.hlog
	refuses "cut.hlog:1: not an interval" hdr --unit us cut.hlog
}

# spectrum: what wrk2 prints, of 203 requests.
spectrum() {
	cat <<-'TXT'
		Running 15s test @ http://127.0.0.1/
		  2 threads and 50 connections
		  Thread calibration: mean lat.: 15.027ms, rate sampling interval: 38ms
		  Thread Stats   Avg      Stdev     Max   +/- Stdev
		    Latency    50.51ms   66.48ms 222.72ms   78.43%
		  Latency Distribution (HdrHistogram - Recorded Latency)
		 50.000%   14.42ms
		100.000%  222.85ms

		  Detailed Percentile spectrum:
		       Value   Percentile   TotalCount 1/(1-Percentile)

		       8.031     0.000000            1         1.00
		      11.455     0.100000           21         1.11
		      14.423     0.500000          102         2.00
		     172.927     0.900000          183        10.00
		     217.599     0.990000          201       102.40
		     222.847     0.995117          203       204.80
		     222.847     1.000000          203          inf
		#[Mean    =       50.506, StdDeviation   =       66.478]
		#[Max     =      222.720, Total count    =          203]
		#[Buckets =           27, SubBuckets     =         2048]
		----------------------------------------------------------
		  752 requests in 15.01s, 119.71KB read
	TXT
}

@test "wrk2 and what prints percentiles with counts: each percentile of the list is right, and how far others may be off is said" {
	spectrum >wrk2.txt
	imports 203 hdr-percentiles wrk2.txt
	assert_eq "$(quantile p50) $(quantile p90) $(quantile max)" "14423000 172927000 222847000"
	grep -q "a quantile may be off by 91.7 %" "$run_dir/summary.json"
	sed -n 's/^Value/       Value/; 11,$p' wrk2.txt >multichase.txt
	refuses "multichase.txt:1: the list does not say the unit of its values" hdr-percentiles multichase.txt
	imports 203 hdr-percentiles --unit ns multichase.txt
	assert_eq "$(quantile p50)" 14
	refuses "wrk2.txt:6: --unit contradicts the file" hdr-percentiles --unit us wrk2.txt
	# vegeta says it in the head, and has no total at the end; Java writes commas.
	{ echo "Value(ms)  Percentile  TotalCount  1/(1-Percentile)" && sed -n '13,19p' wrk2.txt; } >hdrplot.txt
	imports 203 hdr-percentiles hdrplot.txt
	assert_eq "$(quantile p50)" 14423000
	{ echo '"Value","Percentile","TotalCount","1/(1-Percentile)"' && sed -n '13,19{s/^ *//; s/  */,/g; p}' wrk2.txt; } >java.csv
	imports 203 hdr-percentiles --unit ms java.csv
	assert_eq "$(quantile p90)" 172927000
	# The same as a log is none.
	refuses "wrk2.txt:11: it is a list of percentiles (as wrk2 prints one): import it as hdr-percentiles" hdr --unit us wrk2.txt
}

@test "a list of percentiles that is cut off, damaged, there twice, or without counts is refused" {
	spectrum >wrk2.txt
	sed '/ 222.847/,$d' wrk2.txt >cut.txt && refuses "the list does not reach 100 %: the file was cut off" hdr-percentiles cut.txt
	sed 's/ 183 / 100 /' wrk2.txt >back && refuses "back:16: a value or a count goes back" hdr-percentiles back
	sed 's/ 14.423 / 10.423 /' wrk2.txt >lower && refuses "lower:15: a value or a count goes back" hdr-percentiles lower
	sed 's/= *203/= 204/' wrk2.txt >total && refuses "total:21: the counts do not sum up to its total" hdr-percentiles total
	sed 's/ 0.900000 / 1.900000 /' wrk2.txt >share && refuses "share:16: not a line of a list of percentiles" hdr-percentiles share
	sed 's/ 203 .*inf/ 999999999 inf/' wrk2.txt >many && refuses "many:19: it claims more than 250 million samples" hdr-percentiles many
	cat wrk2.txt wrk2.txt >two && refuses "two:35: it has a second list of percentiles" hdr-percentiles two
	# wrk, and wrk2 without --latency.
	sed '/HdrHistogram/,/222.85/d; /Detailed/,/Buckets/d' wrk2.txt >wrk.txt
	refuses "there is no list of percentiles; run wrk2 with --latency" hdr-percentiles wrk.txt
}

@test "a histogram in the JSON of a load generator, by the line of docs/import.md" {
	printf '{"rps": 4.00, "hist": "%s"}\n' "$(hdr V2 1 1000 2000)" >wrk.json
	refuses "it is not a log of HdrHistogram" hdr --unit us wrk.json
	documented wrk.json
	imports 2 hdr --unit us wrk.hist
}

@test "a hint for spreadsheets before the names, with and without quotes" {
	printf 'sep=;\r\nhost;lat_us\r\na;1,5\r\nb;2,5\r\n' >hint.csv
	imports 2 csv --column lat_us hint.csv
	values 1500 2500
	printf '"sep=;"\na;lat_us;\n1;1.5;\n3;2.5;\n' >quoted.csv
	imports 2 csv --column lat_us quoted.csv
	values 1500 2500
	printf 'sep=|\nhost|lat_us\na|1.5\n' >bar.csv
	imports 1 csv --column lat_us bar.csv
}

@test "warp: tabs with nothing between them, and the unit in the name" {
	printf 'idx\tthread\top\tendpoint\tfile\terror\tstart\tfirst_byte\tduration_ns\n' >warp.csv
	printf '0\t1\tPUT\thttp://127.0.0.1:9001\ta/b.rnd\t\t2023-04-14T20:27:09.83+02:00\t\t34938700\n' >>warp.csv
	printf '1\t8\tPUT\thttp://127.0.0.1:9002\ta/c.rnd\t\t2023-04-14T20:27:09.84+02:00\t\t46241700\n' >>warp.csv
	imports 2 csv --column duration_ns warp.csv
	values 34938700 46241700
}

@test "Gatling: its log of version 2 and 3, by the line of docs/import.md" {
	printf 'RUN\ttest\ttest\t1470314357550\t2.0\nUSER\tTest\t1\tSTART\t1470314358333\t1470314358333\n' >simulation.log
	printf 'REQUEST\tTest\t2\t\tsend\t1470314361728\t1470314363675\tOK\t \n' >>simulation.log
	printf 'REQUEST\t75302\t\tsend request\t1588144435837\t1588144435876\tKO\tstatus.find.is(204)\n' >>simulation.log
	documented simulation.log
	imports 2 csv --unit ms gatling.csv
	values 39000000 1947000000
}

@test "numbers that are none: what was not measured is lost, or refused" {
	printf 'topic,e2e_ms\na,12\nb,""\nc,13\n' >empty.csv
	imports 2 csv --column e2e_ms empty.csv
	printf 'topic,e2e_ms\na,12\nb,-1\n' >minus.csv
	refuses "minus.csv:3:3: " csv --column e2e_ms minus.csv
	printf 'name,mean\na,12\nb,N/A\n' >na.csv
	refuses "na.csv:3:3: not a number: 'N/A'" csv --column mean --unit ms na.csv
	# Decimal commas between commas.
	printf 'scenario,min,mean,max\nMyStep1,191,38,991,39,10894,74\n' >nbomber.csv
	refuses "nbomber.csv:2: the line has more or fewer columns" csv --column mean --unit ms nbomber.csv
}

# --- cyclictest and perftest ---

@test "cyclictest -q -v: the thread's last line ends the list, in rt-tests 2.4 and 2.6" {
	imports 40 cyclictest "$IMPORTS/cyclictest-quiet.txt"
	imports 40 cyclictest "$IMPORTS/cyclictest-13.txt"
	assert_eq "$(quantile max)" "$(sed -n 's/^T: .* Max: *//p' "$IMPORTS/cyclictest-13.txt")000"
	cat "$IMPORTS/cyclictest-13.txt" "$IMPORTS/cyclictest-13.txt" >two
	refuses "second list of samples" cyclictest two
	sed 's/^T: 0 .*/T: nonsense/' "$IMPORTS/cyclictest-13.txt" >other
	refuses "not a sample of cyclictest -v" cyclictest other
}

@test "rt-tests 2.6: histograms and JSON" {
	imports 80 cyclictest-hist "$IMPORTS/cyclictest-hist-13.txt"
	assert_eq "$(json "$run_dir/summary.json" 'len(d["points"][0]["reps"])')" 2
	local n
	n=$(json "$IMPORTS/cyclictest-13.json" 'sum(t["cycles"] for t in d["thread"].values())')
	imports "$n" cyclictest-json "$IMPORTS/cyclictest-13.json"
}

@test "perftest 25: both lists are one, and half of a round trip has the name that claims use" {
	imports 59 perftest "$IMPORTS/perftest-13.txt"
	assert_contains "$output" "skipped: 57 lines of a sorted list"
	assert_eq "$(json "$run_dir/summary.json" 'sorted(k for k, m in d["points"][0]["metrics"].items() if "p50" in m)')" "['half_rtt_ns']"
	assert_eq "$(quantile min)" 1984640
	imports 59 perftest "$IMPORTS/perftest-read-13.txt"
	assert_eq "$(json "$run_dir/summary.json" 'sorted(k for k, m in d["points"][0]["metrics"].items() if "p50" in m)')" "['lat_ns']"
	refuses "perftest-time-13.txt:21: there is no list of samples: run perftest with -n, not for a time (-D)" perftest "$IMPORTS/perftest-time-13.txt"
}

@test "perftest -C: cycles are refused, as nothing says how long one is" {
	sed 's/^#, usec/#, cycles/' "$IMPORTS/perftest.txt" >cycles.txt
	refuses "the samples are in cycles of an unknown clock; run perftest without -C" perftest cycles.txt
}

@test "sockperf: half of a round trip, or a whole one, is seen in its times" {
	import sockperf "$IMPORTS/sockperf.log"
	assert_eq "$(json "$run_dir/summary.json" 'sorted(k for k, m in d["points"][0]["metrics"].items() if "p50" in m)')" "['half_rtt_ns']"
	awk -F', ' -v OFS=', ' '/^[0-9]+, / {$4 = $4 * 2} {print}' "$IMPORTS/sockperf.log" >full.log
	import sockperf full.log
	assert_eq "$(json "$run_dir/summary.json" 'sorted(k for k, m in d["points"][0]["metrics"].items() if "p50" in m)')" "['rtt_ns']"
}

# --- what becomes of it ---

@test "history and the index show when a file was written, not when it was imported" {
	need_feature SQLite
	printf 'lat_us\n1.5\n2.5\n' >a.csv
	touch -d '2024-02-03 04:05:06 UTC' a.csv
	import csv a.csv
	run -0 "$KBLAT" history imported --json
	echo "$output" >h.json
	assert_eq "$(json h.json 'd["points"][0]["builds"][0]["started_utc"]')" 2024-02-03T04:05:06Z
	"$KBLAT" index imported
	assert_eq "$(/usr/bin/python3 -c 'import sqlite3; print(sqlite3.connect("imported/kblat-index.sqlite").execute("SELECT started_utc FROM runs").fetchone()[0])')" 2024-02-03T04:05:06Z
	run -0 "$KBLAT" history imported --json
	echo "$output" >indexed.json
	diff h.json indexed.json
}

@test "a million lines are imported in a second of CPU" {
	local TIMEFORMAT=%U
	/usr/bin/python3 -c 'import random; r = random.Random(1); print("lat_us"); [print("%.3f" % (r.expovariate(0.1) + 5)) for _ in range(10**6)]' >million.csv
	{ time "$KBLAT" import csv --out imported million.csv; } 2>seconds
	tail -n 1 seconds
	[[ $KBLAT == *san* ]] || awk '{exit !($1 < 1)}' <(tail -n 1 seconds)
}

@test "cyclictest -v of several threads: each is a repetition, however their lines are mixed" {
	cat >threads.txt <<-'TXT'
		# /dev/cpu_dma_latency set to 0us
		Thread 0 Interval: 1000
		       0:       0:       5
		Thread 1 Interval: 1500
		       0:       1:       7
		       1:       0:      11
		       0:       2:       9
		       1:       2:      13
	TXT
	imports 5 cyclictest threads.txt
	assert_eq "$(find "$run_dir/points/0000" -name 'rep-*' -type d | wc -l)" 2
	printf 'T: 0 ( 4711) P: 0 I:1000 C:      3\nT: 1 ( 4712) P: 0 I:1500 C:      3\n' >>threads.txt
	imports 5 cyclictest threads.txt
	printf '       1:       3:      13\n' >>threads.txt
	refuses "threads.txt:11: it has a second list of samples" cyclictest threads.txt
	printf '       0:       1:       7\n       0:       0:       7\n' >back
	refuses "back:2: the number of a cycle goes back" cyclictest back
	printf '       5000:       1:       7\n' >many
	refuses "many:1: there are no so many threads" cyclictest many
	# Without -q and -v it draws on a terminal.
	printf '\033[2AT: 0 ( 4711) P: 0 I:1000 C:    100 Min:      5 Act:    7 Avg:    6 Max:      22\n' >drawn
	refuses "drawn" cyclictest drawn
}
