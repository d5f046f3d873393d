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
	for boots in "old kernel=6.1.0-47-amd64 prefix=a" "new kernel=6.1.0-56-amd64 prefix=b slower=0.08 start=200"; do
		read -ra boots <<<"$boots"
		/usr/bin/python3 "$BATS_TEST_DIRNAME/boots.py" "$WHERE"/runs/filtered-* "$WHERE/boots/${boots[0]}" boots=6 runs=1 "${boots[@]:1}"
	done
	(cd "$WHERE" && "${KBLAT:-$root/build/kblat}" history boots --bundle site >/dev/null) || [ $? -eq 77 ]
	(cd "$WHERE" && "${KBLAT:-$root/build/kblat}" reproduce "$(realpath "$root")/experiments/ramcloud/reference.tar.gz" --out kept >/dev/null)
	"${KBLAT:-$root/build/kblat}" report "$WHERE/runs" >/dev/null || [ $? -eq 77 ] # the page of a folder needs SQLite
	other_pages >/dev/null
}

# The pages of what is not one run: an explanation of late messages, a comparison, all pairs of hosts, a study.
other_pages() {
	local kblat
	kblat=$(realpath "${KBLAT:-$BATS_TEST_DIRNAME/../../build/kblat}")
	cp -r "$BATS_TEST_DIRNAME/../runs/1.0.0/made/causes" "$WHERE/explained"
	(
		cd "$WHERE" || exit 1
		"$kblat" report explained || [ $? -eq 77 ]
		! "$kblat" compare boots/old --with boots/new --out compared || exit 1
		printf 'kblat: 1\nname: pairs\nsettings: {kernel: oneway, transport: scripted, messages: 2500, warmup: 10, repetitions: 1}\n' >pairs.yaml
		cat >host <<-'SH'
			#!/bin/sh
			case $1$2 in n1n3 | n3n1) delay=5000 ;; *) delay=1000 ;; esac
			shift 2
			sed -u "s/\"delay_ns\": *[0-9]*/\"delay_ns\":$delay/" | "$@"
		SH
		chmod 755 host
		"$kblat" run pairs.yaml --hosts 'n[1-5]' --out pairs --quiet --source "$WHERE/host {host} {sink}" --sink "$WHERE/host {host} {source}" && exit 1
		mkdir -p study/holds study/fails
		for claim in holds:max fails:min; do
			cat >"study/${claim%:*}/spec.yaml" <<-YAML
				kblat: 1
				name: ${claim%:*}
				settings: {kernel: oneway, transport: scripted, messages: 200, burst: 200, repetitions: 2}
				matrix: [{size: [32B, 64B]}]
				claims:
				  - {id: one, claim: "It takes a second, as a long sentence of a paper says that does not fit into the cell of a table", source: "A Paper, figure 3",
				     measured_by_source: "1 s", metric: lat_ns.p50, points: {size: 32B}, value: {${claim#*:}: 1s}}
			YAML
		done
		! "$kblat" run study --out studies --quiet || exit 1
		"$kblat" report studies/* || [ $? -eq 77 ]
	)
}

teardown_file() {
	rm -rf "$WHERE"
}

# bats test_tags=long
@test "in a browser, wide, narrow, light, dark and printed: nothing overflows, no script fails, tables sort, links unfold" {
	command -v chromium chromium-headless-shell google-chrome || skip "there is no chromium"
	looked_at "$WHERE"/runs/*/derived/report.html "$WHERE/runs/kblat-runs.html" "$WHERE/site/index.html" \
		"$WHERE/site/step-01/report.html" "$WHERE/kept/reproduced/report.html" "$WHERE/explained/derived/report.html" \
		"$WHERE/compared/report.html" "$WHERE"/pairs/*/derived/report.html "$WHERE"/studies/*/derived/report.html
}

# bats test_tags=long
@test "the page of the thesis' 27 experiments has at most 2 MB, opens with little work, and all of its figures can be drawn" {
	mkdir "$WHERE/thesis"
	tar -xzf "$BATS_TEST_DIRNAME/../../experiments/thesis/reference.tar.gz" -C "$WHERE/thesis"
	run -0 "$KBLAT" report "$WHERE"/thesis/runs/*
	page=${lines[-1]}
	echo "$(stat -c %s "$page") bytes"
	[ "$(stat -c %s "$page")" -le 2097152 ]
	chromium=$(command -v chromium chromium-headless-shell google-chrome | head -n 1) || true
	[ -n "$chromium" ] || skip "there is no chromium"
	run -0 "$BATS_TEST_DIRNAME/browser.py" --open "$chromium" "$page"
	echo "# $output" >&3
}

@test "without its script a page says where the figures are, and its numbers are in it" {
	local page
	for page in "$WHERE"/runs/*/derived/report.html "$WHERE"/{compared,explained/derived}/report.html "$WHERE"/pairs/*/derived/report.html \
		"$WHERE"/studies/*/derived/report.html; do
		/usr/bin/python3 - "$page" <<-'PY'
			import os, re, sys
			page = open(sys.argv[1]).read()
			assert page.count("<noscript>") == 1 and page.index("<noscript>") < page.index("</h1>") + 20, "it says what to do"
			static = re.sub(r"<script.*?</script>", "", page, flags=re.S)
			assert len(re.findall(r"<td[^>]*>[^<]*\d", static) + re.findall(r'title="\d+ ns"', static)) > 2, "its numbers are in tables"
			for figure in re.findall(r"<figure.*?</figure>", static, re.S):
			    links = re.findall(r'href="(figures/[^"]*)"', figure)
			    assert [l for l in links if l.endswith(".tsv")] and all(os.path.exists(os.path.join(os.path.dirname(sys.argv[1]), l)) for l in links), figure
		PY
	done
}

@test "of a claim that is not judged no case is crossed out, and a box without P10 begins at its median" {
	mkdir "$WHERE/one"
	tar -xzf "$BATS_TEST_DIRNAME/../../experiments/thesis/reference.tar.gz" -C "$WHERE/one" --wildcards 'runs/oneway-message-size-2*'
	cd "$WHERE"/one/runs/*
	run -0 "$KBLAT" report .
	/usr/bin/python3 - <<-'PY'
		import csv, glob, json, re
		said = {c["id"]: c["verdict"] for c in json.load(open("claims.json"))["claims"]}
		page = open("derived/report.html").read()
		seen = 0
		for data, table in re.findall(r'<script type="application/json">(.*?)</script><script type="text/tab-separated-values">(.*?)</script>', page, re.S):
		    data = json.loads(data)
		    if data["kind"] == "claim":
		        (claim,) = [c for c in said if f"claim {c}:" in data["variables"]["title"]]
		        rows = list(csv.DictReader(table.split("\n"), delimiter="\t"))
		        seen += said[claim] == "not judged"
		        assert rows and (said[claim] != "not judged" or all(r["holds"] == "" for r in rows)), (claim, rows)
		assert seen > 1, seen
		ranks = {}
		for r in csv.DictReader(open("derived/figures/point-0000-percentiles.tsv"), delimiter="\t"):
		    ranks.setdefault(r["line"], []).append((int(r["rank"]), int(r["ns"])))
		exact = []
		for rep in sorted(glob.glob("points/0000/rep-*/data.json")):
		    h = json.load(open(rep))["histograms"]["lat_ns"]
		    assert h["width"] == 1
		    for v, n in zip(h["values"], h["counts"]):
		        exact += [v] * n
		exact.sort(reverse=True)
		assert [r for r, _ in ranks["1"]][:10] == list(range(1, 11)) and ranks["1"][-1][0] == len(exact), ranks["1"]
		assert all(exact[rank - 1] == ns for rank, ns in ranks["1"]), "percentiles are exact, up to the slowest message"
	PY
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
