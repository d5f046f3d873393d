# What tests between two guests have in common. To be loaded after ../cli/helper.
# shellcheck shell=bash

other=kblat-guest-2

need_two_guests() {
	grep -qx kblat-guest /proc/sys/kernel/hostname && ssh "$other" true || {
		echo "this needs two guests: see the head of this file" >&2
		return 1
	}
}

# Writes `disturbing N BEGIN END ENDPOINT…`, a launcher that runs the commands BEGIN and END around the messages of every N-th repetition, but not while clocks
# are compared.
write_disturbing() {
	cat >disturbing <<-'PY'
		#!/usr/bin/python3
		import json, os, subprocess, sys, threading
		nth, begin, end = int(sys.argv[1]), *sys.argv[2:4]
		endpoint = subprocess.Popen(sys.argv[4:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
		chosen = False
		def do(command):
		    subprocess.run(command, shell=True, check=True, stdout=subprocess.DEVNULL)
		def orders():
		    global chosen
		    for line in sys.stdin.buffer:
		        order = json.loads(line)
		        if order['type'] == 'arm':
		            chosen = order['trace'] and order['rep'] % nth == nth - 1   # a measured repetition, not a comparison of clocks
		        if order['type'] == 'run' and chosen:
		            do(begin)
		        endpoint.stdin.write(line)
		        endpoint.stdin.flush()
		    endpoint.stdin.close()
		threading.Thread(target=orders, daemon=True).start()
		for line in endpoint.stdout:
		    if line.startswith(b'{"type":"done"') and chosen:
		        do(end)
		    os.write(1, line)
		sys.exit(endpoint.wait())
	PY
	chmod +x disturbing
}
