#!/usr/bin/env bats
# Many builds in order. Runs of the scripted transport are multiplied into simulated boots (boots.py).

load helper
load boots_helper
bats_require_minimum_version 1.5.0

setup() {
	kblat_setup
	need_feature SQLite
}

# Three kernels: the second is as fast as the first, the third 8 % slower.
builds() {
	boots builds/old boots=6 runs=2 prefix=a kernel=6.1.0-47-amd64
	boots builds/mid boots=6 runs=2 prefix=b kernel=6.1.0-50-amd64 start=100
	boots builds/new boots=6 runs=2 prefix=c kernel=6.1.0-56-amd64 start=200 slower=0.08
}

@test "the level changes with the slow kernel, and the hint names both kernels" {
	builds
	run -0 "$KBLAT" history builds
	assert_contains "${lines[-1]}" "1 change of level"
	assert_contains "${lines[-1]}" "from 6.1.0-50-amd64 to 6.1.0-56-amd64; as a hint, compare"
	run -0 "$KBLAT" history builds --json
	printf '%s' "$output" >history.json
	assert_eq "$(json history.json '[(c["at"], c["before"], 5 < c["effect_percent"] < 11) for c in d["points"][0]["changes"]]')" \
		"[(12, '6.1.0-50-amd64', True)]"
	assert_eq "$(json history.json '[len(d["points"][0]["builds"]), {b["runs"] for b in d["points"][0]["builds"]}]')" "[18, {2}]"
}

@test "builds with the same level have no change" {
	boots builds boots=12
	run -0 "$KBLAT" history builds --quantile p90
	assert_eq "${lines[-1]}" "no change of level in 12 boots"
}

@test "one boot that is 20 % slower is odd, and no change" {
	boots builds boots=8 runs=1 prefix=a
	boots builds boots=1 runs=1 prefix=odd start=100 slower=0.2
	boots builds boots=7 runs=1 prefix=b start=200
	run -0 "$KBLAT" history builds
	assert_contains "${lines[-1]}" "no change of level in 16 boots; 1 odd boot; the farthest from its level, by +"
	assert_contains "$output" "odd: +"
	run -0 "$KBLAT" history builds --json
	printf '%s' "$output" >history.json
	assert_eq "$(json history.json '[i for i, b in enumerate(d["points"][0]["builds"]) if b.get("odd")], d["points"][0]["changes"]')" "([8], [])"
	assert_eq "$(json history.json 'len({b["level"] for b in d["points"][0]["builds"]})')" 1
}

@test "each point lists the runs that measured it, and is labelled by the settings in which points differ" {
	cat >mixed.yaml <<-'END'
		kblat: 1
		name: mixed
		settings: {kernel: oneway, messages: 200, repetitions: 1, warmup: 10, burst: 1}
		matrix:
		  - {transport: shmem, poll: busy}
		  - {transport: tcp, poll: [busy, event]}
	END
	"$KBLAT" run mixed.yaml --only transport=tcp --out runs
	"$KBLAT" run mixed.yaml --only transport=shmem --out runs
	"$KBLAT" run mixed.yaml --only transport=tcp --out runs
	run -0 "$KBLAT" history runs --json
	printf '%s' "$output" >history.json
	assert_eq "$(json history.json 'sorted((p["label"], len(p["builds"])) for p in d["points"])')" \
		"[('shmem, busy', 1), ('tcp, busy', 2), ('tcp, event', 2)]"
}

@test "--out writes a page with a figure" {
	builds
	run -0 "$KBLAT" history builds --out page
	assert_eq "${lines[-1]}" page/report.html
	grep -q '<script type="application/json">{"kind":' page/report.html
	for kind in svg pdf tsv; do
		[ -s page/figures/history-0000.$kind ]
	done
	assert_eq "$(wc -l <page/figures/history-0000.tsv)" 19
	run -2 "$KBLAT" history builds --out page
	assert_contains "$output" "not empty"
}

@test "control characters in the names of a run are not printed" {
	boots builds boots=4
	PYTHONPATH=$BATS_TEST_DIRNAME /usr/bin/python3 - <<-'PY'
		import boots, json, pathlib
		for f in pathlib.Path("builds").glob("*/summary.json"):
		    d = json.loads(f.read_text())
		    for p in d["points"]:
		        p["metrics"] = {"lat\x1b[31m_ns": p["metrics"]["lat_ns"]}
		    f.write_text(json.dumps(d))
		    (f.parent / "manifest-sha256.txt").unlink()
		    boots.seal(f.parent)
	PY
	run -0 "$KBLAT" history builds
	assert_contains "$output" "p50 of lat"
	[[ $output != *$'\x1b'* ]]
}

@test "a block of the summary has a history, and a misspelt statistic is answered with a list of those that exist" {
	printf 'kblat: 1\nname: paced\nsettings: {kernel: rate, transport: scripted, messages: 200, repetitions: 2}\n' >spec.yaml
	"$KBLAT" run spec.yaml --out runs --quiet >/dev/null
	run -0 "$KBLAT" history runs --metric pacing.missed_share --json
	printf '%s' "$output" >history.json
	assert_eq "$(json history.json 'd["quantity"], d["points"][0]["metric"], d["points"][0]["unit"], d["points"][0]["builds"][0]["value"]')" \
		"('missed_share', 'pacing', 'share', 0.0)"
	run -0 "$KBLAT" history runs --metric pacing --quantile achieved_hz
	assert_contains "$output" "kHz of pacing"
	run -2 "$KBLAT" history runs --metric pacing.mised_share
	assert_contains "$output" "must be one of missed_share, achieved_hz, unsent_share, not 'mised_share'"
	run -2 "$KBLAT" compare runs --aa --metric pacing --quantity p50
	assert_contains "$output" "must be one of missed_share, achieved_hz, unsent_share, not 'p50'"
}

@test "bad input is reported" {
	builds
	run -2 "$KBLAT" history builds --quantile p75
	assert_contains "$output" "must be one of p50"
	run -2 "$KBLAT" history nothing
	assert_contains "$output" "no directory of this name"
	sed -i 's/"p50": /"p50": 1/' builds/mid/b-3-1/summary.json
	run -2 "$KBLAT" history builds
	assert_contains "$output" "changed since the run was sealed"
	run -2 "$KBLAT" history
	run -0 "$KBLAT" history --help
	assert_contains "$(tr -s ' \n' ' ' <<<"$output")" "not a verdict"
}

@test "--bundle compares each kernel with the one before, and makes a folder to publish" {
	builds
	page=$(dirname "$(find builds/old -name summary.json | sort | head -n 1)")/derived
	mkdir -p "$page" && echo "<script>alert('foreign')</script>" >"$page/report.html"
	run -0 "$KBLAT" history builds --bundle site
	assert_eq "${lines[-1]}" site/index.html
	assert_contains "$(tr -s ' ' <<<"$output")" "6.1.0-47-amd64 6.1.0-50-amd64 no regression"
	assert_contains "$(tr -s ' ' <<<"$output")" "6.1.0-50-amd64 6.1.0-56-amd64 regression"
	assert_eq "$(json site/history.json '[(s["to"], s["verdict"], s["page"]) for s in d["steps"]]')" \
		"[('6.1.0-50-amd64', 'no regression', 'step-01/report.html'), ('6.1.0-56-amd64', 'regression', 'step-02/report.html')]"
	assert_eq "$(json site/step-02/compare.json 'd["verdict"]')" regression
	# Every link leads to something in the folder.
	grep -o 'href="[^"#:]*"' site/index.html | cut -d'"' -f2 >links
	grep -qx 'runs/.*\.html' links
	while read -r link; do
		[ -e "site/$link" ]
	done <links
	# It is a page of ours, and the first page says that these numbers follow from no columns.
	run -1 grep -r foreign site
	[ -s "$(grep 'runs/' links | sed s,^,site/,)" ]
	grep -q "it does not verify" site/index.html
	run -2 "$KBLAT" history builds --bundle site
	run -2 "$KBLAT" history builds --bundle other --out page
	assert_contains "$output" "omit --out"
}

@test "a history of compared kernels answers with the comparisons, on its page, too; a level is a hint" {
	builds
	run -0 "$KBLAT" history builds --bundle site
	assert_contains "$(tail -n 2 <<<"$output")" "a regression in 1 of 2 kernels compared with the one before, first from 6.1.0-50-amd64 to 6.1.0-56-amd64; by level alone: 1 change"
	grep -q '<div class="answer no"><p><strong>regression</strong>: a regression in 1 of 2 kernels' site/index.html
	grep -q '<a href="step-02/report.html"><span class="bad">regression</span></a>' site/index.html
	[ "$(grep -c '<pre>' site/index.html)" -eq 0 ]
	[ "$(grep -c '<th scope="row">2001-' site/index.html)" -eq 18 ]
}

@test "--bundle publishes no page of a run that was changed since it was sealed" {
	builds
	changed=$(find builds/old -name summary.json | sort | head -n 1)
	changed=${changed%/*}
	mkdir "$changed/derived" && echo "<p>a page" >"$changed/derived/report.html"
	echo "all is well" >"$changed/README.txt"
	run -0 "$KBLAT" history builds --bundle site
	[ -z "$(find site/runs -name '*.html')" ]
	grep -q "${changed##*/} has no page here: <strong>it does not verify</strong>" site/index.html
}

@test "--by-kernel puts the boots of kernels that alternate together" {
	for i in 0 1 2 3; do
		boots builds/$i-old boots=1 runs=1 prefix=a$i kernel=6.1.0-47-amd64 start=$((i * 100))
		boots builds/$i-new boots=1 runs=1 prefix=b$i kernel=6.1.0-50-amd64 start=$((i * 100 + 50)) slower=0.3
	done
	kernels() {
		"$KBLAT" history builds --json "$@" >history.json
		json history.json '[b["kernel"][6:8] for b in d["points"][0]["builds"]]'
	}
	assert_eq "$(kernels)" "['47', '50', '47', '50', '47', '50', '47', '50']"
	assert_eq "$(kernels --by-kernel)" "['47', '47', '47', '47', '50', '50', '50', '50']"
	run -0 "$KBLAT" history builds --by-kernel
	assert_contains "${lines[-1]}" "1 change of level"
	assert_contains "${lines[-1]}" "from 6.1.0-47-amd64 to 6.1.0-50-amd64"
}
