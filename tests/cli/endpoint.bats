#!/usr/bin/env bats
# An endpoint on its own: wrong orders, orders in the wrong sequence and other input are answered with an error, and never executed.

load helper

# say LINE…: sends orders, closes the input, shows the answers.
say() {
	printf '%s\n' "$@" | timeout 20 "$KBLAT" endpoint
}

open_order() {
	printf '{"type":"open","role":"%s","kernel":"oneway","transport":"scripted","name":"0123456789abcdef",' "$1"
	printf '"conversion":{"origin":0,"numerator":1,"shift":0},"params":%s}' "$(cat params.json)"
}

make_params() {
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 10, burst: 10, warmup: 0}
	YAML
	"$KBLAT" run s.yaml --dry-run --json >p.json
	json p.json 'json.dumps(d[0]["params"])' >params.json
}

@test "it says hello with its protocol, and ends with its input" {
	run say
	[ "$status" -eq 0 ]
	assert_contains "$output" '"protocol":4'
}

@test "nonsense, unknown orders and orders out of order are errors, and it goes on" {
	run say 'nonsense' '{}' '[]' '{"type":"fly"}' '{"type":"connect"}' '{"type":"arm","messages":5}' '{"type":"run"}' \
		'{"type":"open"}' '{"type":"status"}'
	[ "$status" -eq 0 ]
	[ "$(grep -c '"type":"error"' <<<"$output")" -eq 8 ]
	assert_contains "$output" '"type":"status"'
}

@test "settings of a peer are checked again" {
	make_params
	for change in '.update(size_bytes=-1)' '.update(messages="x")' '.update(messages=1<<40)' '.pop("depth")' '.update(poll="sometimes")' \
		'.update(t_send=True, size_bytes=1)'; do
		/usr/bin/python3 -c "
import json
d = json.load(open('params.json')); d$change
json.dump(d, open('bad.json', 'w'))"
		run say "$(sed "s|\"params\":.*|\"params\":$(cat bad.json)}|" <<<"$(open_order sink)")"
		echo "$output"
		[ "$status" -eq 0 ]
		assert_contains "$output" '"type":"error"'
	done
}

@test "a second open is refused, and what the first one made is removed" {
	make_params
	touch before-shm
	run say "$(open_order sink)" "$(open_order sink)" "$(open_order source)"
	[ "$status" -eq 0 ]
	[ "$(grep -c '"type":"opened"' <<<"$output")" -eq 1 ]
	[ "$(grep -c '"type":"error"' <<<"$output")" -eq 2 ]
	[ -z "$(shm_files)" ]
}

@test "connect comes once, and before arm" {
	make_params
	run say "$(open_order sink)" '{"type":"arm","messages":10,"rep":0}' '{"type":"connect","peer":{}}' '{"type":"connect","peer":{}}' \
		'{"type":"arm","messages":10,"rep":0}'
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '"type":"connected"' <<<"$output")" -eq 1 ]
	[ "$(grep -c '"type":"armed"' <<<"$output")" -eq 1 ]
	assert_contains "$output" "arm: came out of order"
	assert_contains "$output" "connect: came twice"
}

@test "a name that is no name is refused: it would be a part of paths" {
	make_params
	for name in ../../../../tmp/x 0123456789abcde 0123456789abcdeg ''; do
		run say "$(open_order sink | sed "s|0123456789abcdef|$name|")"
		assert_contains "$output" '"type":"error"'
	done
}

@test "its scratch is gone when its input ends in the middle" {
	make_params
	touch before-shm
	run say "$(open_order sink)" '{"type":"connect","peer":{}}' '{"type":"arm","messages":10,"rep":0}'
	[ "$status" -eq 0 ]
	assert_contains "$output" '"type":"opened"'
	[ -z "$(shm_files)" ]
}

@test "an endpoint of another protocol, version or byte order is refused, with its host" {
	make_params
	for change in 's/"protocol":[0-9]*/"protocol":2/' 's/"version":"[^"]*"/"version":"0.0.9"/' 's/"byte_order":"[^"]*"/"byte_order":"middle"/'; do
		cat >other <<-SH
			#!/bin/sh
			"\$@" | sed -u '$change'
		SH
		chmod +x other
		run "$KBLAT" run s.yaml --out runs --sink "$PWD/other"
		echo "$output"
		[ "$status" -eq 1 ]
		assert_contains "$output" "$(hostname)"
		case $change in
		*protocol*) assert_contains "$output" "speaks protocol 2, not 4" ;;
		*version*) assert_contains "$output" "is kblat 0.0.9" ;;
		*) assert_contains "$output" "is middle-endian" ;;
		esac
	done
}

@test "a launcher that passes on whole lines only is enough: columns end in one" {
	spec l <<-'YAML'
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 1, warmup: 10, repetitions: 2}
	YAML
	cat >by-lines <<-'PY'
		#!/usr/bin/python3
		import os, subprocess, sys
		endpoint = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
		for line in endpoint.stdout:
		    if line.endswith(b'\n'):
		        os.write(1, line)
	PY
	chmod +x by-lines
	run "$KBLAT" run l.yaml --out runs --source "$PWD/by-lines" --sink "$PWD/by-lines"
	echo "$output"
	[ "$status" -eq 0 ]
	"$KBLAT" verify "$(tail -n 1 <<<"$output")"
}
