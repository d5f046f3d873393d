#!/usr/bin/env bats
# The pages that `kblat report` makes, as a browser shows them, and the commands they name.

load helper
bats_require_minimum_version 1.5.0

# measure SPEC [ARGUMENT…]
measure() {
	(cd "$WHERE" && "${KBLAT:-$BATS_TEST_DIRNAME/../../build/kblat}" run "$1.yaml" --out runs "${@:2}" --quiet >/dev/null)
}

setup_file() {
	local root=$BATS_TEST_DIRNAME/../..
	WHERE=$(scratch)
	export WHERE
	cat >"$WHERE/spec.yaml" <<-'YAML'
		kblat: 1
		name: paged
		title: Six points, and one that is not valid
		settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200, repetitions: 2}
		matrix:
		  - {delay: [1us, 2us, 5us], size: [32B, 1KiB]}
	YAML
	cat >"$WHERE/flows.yaml" <<-'YAML'
		kblat: 1
		name: flows
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 100, repetitions: 1, flows: large small, large.size: 1KiB}
		matrix:
		  - {small.size: [32B, 64B]}
	YAML
	cat >"$WHERE/filtered.yaml" <<-'YAML'
		kblat: 1
		name: filtered
		settings: {kernel: oneway, transport: scripted, messages: 100, burst: 100, repetitions: 1}
		matrix:
		  - {comp_delay: [1us, 2us, 3us], size: [32B, 64B]}
	YAML
	measure spec
	measure flows
	measure filtered --only comp_delay=1us --only=comp_delay=3us --only size=64B
	for run in "$WHERE"/runs/*/; do
		"${KBLAT:-$root/build/kblat}" report "$run" >/dev/null 2>&1 || [ $? -eq 77 ]
	done
	"${KBLAT:-$root/build/kblat}" report "$WHERE/runs" >/dev/null || [ $? -eq 77 ] # the page of a folder needs SQLite
}

teardown_file() {
	rm -rf "$WHERE"
}

# bats test_tags=long
@test "in a browser, wide, narrow, light, dark and printed: nothing overflows, no script fails, tables sort, links unfold" {
	chromium=$(command -v chromium chromium-headless-shell google-chrome | head -n 1) || true
	[ -n "$chromium" ] || skip "there is no chromium"
	"$BATS_TEST_DIRNAME/browser.py" "$chromium" "$WHERE"/runs/*/derived/report.html "$WHERE/runs/kblat-runs.html"
}

@test "each point's command measures that point alone, and its links lead to raw columns" {
	cd "$WHERE"
	for run in runs/*/; do
		/usr/bin/python3 - "$run" "$KBLAT" <<-'PY'
			import html, json, os, re, shlex, subprocess, sys
			run, kblat = sys.argv[1:]
			page = open(f"{run}/derived/report.html").read()
			commands = [shlex.split(html.unescape(c)) for c in re.findall(r"To measure this point again:</p>\n<pre>(.*?)</pre>", page, re.S)]
			points = json.load(open(f"{run}/summary.json"))["points"]
			assert len(commands) == len(points), (len(commands), len(points))
			for command, point in zip(commands, points):
			    said = json.loads(subprocess.check_output([kblat, *command[1:], "--dry-run", "--json"]))
			    (only,) = said
			    assert only["params"] == point["params"], (only["params"], point["params"])
			links = re.findall(r'href="(\.\./points/[^"]*)"', page)
			assert len([l for l in links if l.endswith(".npy")]) >= 2 * len(points), links
			for link in links:
			    assert os.path.exists(f"{run}/derived/{link}"), link
		PY
	done
}
