#!/usr/bin/env bats
# Bundles: made of runs and studies, checked by people who do not trust them. tests/cli/bundles.py makes those that kblat would not make.

load helper
bats_require_minimum_version 1.5.0

setup_file() {
	T=$(scratch)
	export SHARED=$T ROOT=${BATS_TEST_DIRNAME%/*/*}
	KBLAT=${KBLAT:-$ROOT/build/kblat}
	cd "$T" || return 1
	mkdir -p experiments/toy
	cat >experiments/toy/spec.yaml <<-'YAML'
		kblat: 1
		name: toy
		settings: {kernel: oneway, transport: scripted, messages: 500, burst: 500, repetitions: 4, warmup: 50}
		matrix: [{size: 32B}, {size: 64B}]
		claims:
		  - {id: some, claim: "It takes | some time", source: "line 1", metric: lat_ns.p50, points: {}, value: {min: 1ns}}
		  - {id: none, claim: "It takes no time", origin: ours, metric: lat_ns.p50, points: {size: 32B}, value: {max: 1ns}}
	YAML
	ends_with 3 "$KBLAT" run experiments/toy --out runs --no-state >out # a claim fails
	"$KBLAT" bundle "$(tail -n 1 out)" --out b.tar.gz
	/usr/bin/python3 -I "$BATS_TEST_DIRNAME/bundles.py" unpack b.tar.gz unpacked
}

teardown_file() {
	rm -rf "$SHARED"
}

setup() {
	kblat_setup
	mkdir tmp
	export TMPDIR=$T/tmp
	cp -r "$SHARED/runs" "$SHARED/unpacked" "$SHARED/b.tar.gz" "$SHARED/experiments" .
	run_dir=$(echo "$T"/runs/toy-*)
	inside=unpacked/runs/${run_dir##*/}
}

# repack CHANGE…: makes changed.tar.gz of ./unpacked.
repack() {
	/usr/bin/python3 -I "$BATS_TEST_DIRNAME/bundles.py" pack unpacked changed.tar.gz "$@"
}

nothing_left() {
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "the same runs give the same bytes, which tar and gzip read, too" {
	"$KBLAT" bundle runs/* --out c.tar.gz
	cmp b.tar.gz c.tar.gz
	gzip -t b.tar.gz
	tar -tzf b.tar.gz | grep -qx "runs/${run_dir##*/}/summary.json"
	tar -xzf b.tar.gz ARTIFACT.md
	grep -q '^| toy | It takes \\| some time | line 1 |  | .* | holds |$' ARTIFACT.md
	grep -q "^    kblat run experiments/toy --out runs --no-state$" ARTIFACT.md
	nothing_left
}

@test "a bundle is reproduced: numbers from the columns, verdicts as they were" {
	run -0 "$KBLAT" reproduce b.tar.gz
	[[ $output == *"not signed"*"all numbers follow from the columns"*"claims: 2; 1 hold, 1 fail, 0 not judged"* ]]
	"$KBLAT" reproduce b.tar.gz --json >out.json
	assert_eq "$(json out.json '[(c["id"], c["bundle"], c["again"], c["here"]) for c in d["claims"]]')" \
		"[('some', 'holds', 'holds', None), ('none', 'fails', 'fails', None)]"
	nothing_left
}

@test "a study is bundled whole" {
	ends_with 3 "$KBLAT" run experiments --out studies --no-state >out
	study=$(tail -n 1 out)
	"$KBLAT" bundle "$study" --out s.tar.gz
	tar -xzOf s.tar.gz study/study.json | cmp - "$study/study.json"
	tar -xzOf s.tar.gz ARTIFACT.md | grep -q "^    kblat run experiments --out studies --no-state$"
	run -0 "$KBLAT" reproduce s.tar.gz --out kept
	assert_eq "${lines[-1]}" kept/reproduced/report.html
	[ -f kept/reproduced/report.html ] && [ ! -e kept.partial ]
	page=$(tr '\n' ' ' <kept/reproduced/report.html)
	for what in 'It takes | some time' 'some; line 1' 'It takes no time' 'lat_ns.p50: value at most 1 ns' '<span class="bad">fails</span>' \
		'<span class="yes">holds</span>' "<a href=\"../runs/$(basename kept/runs/toy-*)/README.txt\">toy</a>"; do
		assert_contains "$page" "$what"
	done
	ls kept/reproduced/../runs/toy-*/README.txt
	run -2 "$KBLAT" reproduce s.tar.gz --out kept
	[[ $output == *"it exists; name a new folder"* ]]
}

@test "which build of the program and of each library measured is in it" {
	state_of_this_machine
	run -3 "$KBLAT" run experiments/toy --out runs
	measured=${lines[-1]}
	"$KBLAT" bundle "$measured" --out ids.tar.gz
	tar -xzf ids.tar.gz bundle.json ARTIFACT.md
	built=$(readelf --notes "$KBLAT" | awk '/Build ID/ {print $3}')
	assert_eq "$(json bundle.json 'd["build_ids"]["kblat"]')" "['$built']"
	assert_eq "$(json bundle.json '"libc.so.6" in d["build_ids"]')" True
	grep -q "^| kblat | $built |$" ARTIFACT.md
}

@test "--state shows in what this machine differs from the one that was measured" {
	"$ROOT/tests/sysroots/machine" unpack two-cpus machine
	KBLAT_SYSROOT=$T/machine run -3 "$KBLAT" run experiments/toy --out runs
	measured=${lines[-1]}
	"$KBLAT" bundle "$measured" --out other.tar.gz
	run -0 "$KBLAT" reproduce other.tar.gz --state
	[[ $output == *"identity.kernel "*"latencies must not be compared between these states"* ]]
	state_of_this_machine
	run -3 "$KBLAT" run experiments/toy --out runs
	measured=${lines[-1]}
	"$KBLAT" bundle "$measured" --out own.tar.gz
	run -0 "$KBLAT" reproduce own.tar.gz --state
	[[ $output == *"This machine (b) against that of the run (a)"* && $output != *"identity.kernel "* ]]
	nothing_left
}

# bats test_tags=long
@test "200 changes of a single byte are all refused, and the bundle is named" {
	cat >flip.py <<-'END'
		import os, random, subprocess, sys
		data = open("b.tar.gz", "rb").read()
		seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
		r = random.Random(seed)
		for i in range(200):
		    at = r.choice((r.randrange(60), r.randrange(len(data)), len(data) - 1 - r.randrange(40)))
		    changed = bytearray(data)
		    changed[at] ^= r.randrange(1, 256)
		    with open("flipped.tar.gz", "wb") as f:
		        f.write(changed)
		    done = subprocess.run([sys.argv[1], "reproduce", "flipped.tar.gz"], capture_output=True, text=True)
		    assert done.returncode == 2 and "flipped.tar.gz: " in done.stderr, (seed, at, done)
	END
	/usr/bin/python3 flip.py "$KBLAT"
	nothing_left
}

# bats test_tags=long
@test "what a bundle may not have is refused before it is written" {
	while IFS='|' read -r change words; do
		repack "$change"
		run -2 "$KBLAT" reproduce changed.tar.gz
		[[ $output == *"$words"* ]] || fail "$change: $output"
	done <<-'END'
		name=../x|a name that a bundle cannot have
		name=zz/../../x|a name that a bundle cannot have
		name=/x|a name that a bundle cannot have
		name=runs/./x|a name that a bundle cannot have
		name=bundle.json|a name that a bundle cannot have
		name=zz\x|a name that a bundle cannot have
		type=2|something else is in its place
		type=1|something else is in its place
		type=3|something else is in its place
		twice|it is there twice
		schema=2|which is newer
		size=4|something else is in its place
		size=-1|no size that a file can have
		cut=1|it is damaged
		tail|more in it than it declares
	END
	repack "name=$(printf 'zz\t')"
	run -2 "$KBLAT" reproduce changed.tar.gz
	repack size=100000000000000
	run -1 "$KBLAT" reproduce changed.tar.gz
	[[ $output == *"it needs"*"MiB"* ]]
	echo '{}' | gzip >no.tar.gz
	run -2 "$KBLAT" reproduce no.tar.gz
	[[ $output == *"this is not a bundle of kblat"* ]]
	mkfifo pipe.tar.gz
	run -2 "$KBLAT" reproduce pipe.tar.gz
	run -2 "$KBLAT" reproduce none.tar.gz
	[ ! -e ../x ] && [ ! -e x ]
	nothing_left
}

@test "a bundle has known places only: no runs measured here, no pages of ours, no run that it does not list" {
	run=${run_dir##*/}
	while IFS='|' read -r change words; do
		repack "$change"
		run -2 "$KBLAT" reproduce changed.tar.gz --out kept
		[[ $output == *"$words"* ]] || fail "$change: $output"
		[ ! -e kept ] && [ ! -e kept.partial ]
	done <<-END
		add=here/toy/run.json|a bundle has no place for it
		add=reproduced/report.html|a bundle has no place for it
		add=state-here/state.json|a bundle has no place for it
		add=.ssh-keygen|a bundle has no place for it
		add=study/study.json|a bundle has no place for it
		add=pages/a/b.html|a bundle has no place for it
		add=pages/a.js|a bundle has no place for it
		add=runs/x|a bundle has no place for it
		add=runs/$run/derived/report.html|a bundle has no place for it
		add=runs/$run/index.html|a bundle has no place for it
		add=runs/$run/spec.yaml/x|what it is in is a file
		add=claims.tsv/x|what it is in is a file
		alien|a run that the bundle does not list
		huge|larger than those of any bundle
	END
	nothing_left
}

@test "a changed file is named, though all hashes of the bundle are right" {
	sed -i 's/"p50": \([0-9]*\)/"p50": 1\1/' "$inside/summary.json"
	repack
	run -3 "$KBLAT" reproduce changed.tar.gz
	[[ $output == *"summary.json"* ]]
	repack keep
	run -2 "$KBLAT" reproduce changed.tar.gz
	# And with a manifest of the run that fits: the numbers do not follow from the columns.
	(cd "$inside" && sed -i "/ summary.json\$/s/^[0-9a-f]*/$(sha256sum summary.json | cut -d ' ' -f 1)/" manifest-sha256.txt)
	repack
	run -3 "$KBLAT" reproduce changed.tar.gz
	[[ $output == *"summary.json: it differs from what the columns give"* ]]
}

@test "a verdict that does not follow is told" {
	sed -i '0,/"verdict": "fails"/s//"verdict": "holds"/' unpacked/claims.json
	sed -i 's/"verdict": "fails"/"verdict": "holds"/' unpacked/claims.json
	repack
	run -3 "$KBLAT" reproduce changed.tar.gz
	[[ $output == *"none"*"holds"*"fails"* && $output == *"1 of 2 verdicts is not the same"* ]]
}

# bats test_tags=long
@test "whatever number or text is changed, it is found, or was named as not checked" {
	ends_with 3 "$KBLAT" run experiments --out studies --no-state >out
	study=$(tail -n 1 out)
	"$KBLAT" report "$study" || [ $? -eq 77 ]
	"$KBLAT" bundle "$study" --out s.tar.gz
	/usr/bin/python3 -I "$BATS_TEST_DIRNAME/bundles.py" unpack s.tar.gz study
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$BATS_TEST_DIRNAME/mutations.py" "$KBLAT" study 60 "${SEED:-$RANDOM}"
}

# each_is_noticed FILE COMPLAINT CHANGE…: of a file of the bundle, changed by sed in each of these ways.
each_is_noticed() {
	local file=$1 complaint=$2 change
	for change in "${@:3}"; do
		cp "$SHARED/unpacked/$file" "unpacked/$file"
		sed -i "$change" "unpacked/$file"
		repack
		run -3 "$KBLAT" reproduce changed.tar.gz
		[[ $output == *"$complaint"* ]]
	done
}

@test "what a claim says is checked, not only its verdict" {
	each_is_noticed claims.json "claims.json: it differs from a new judgement" 's/It takes no time/It takes ages/' 's/"measured": "1.00 us/"measured": "1.01 us/' 's/"low": 1000/"low": 10/' 's/"wanted": "value at most 1/"wanted": "value at most 2/'
}

@test "what a bundle says of its runs is compared with them" {
	each_is_noticed bundle.json "bundle.json: " 's/"title": "toy"/"title": "joy"/' 's/"valid": [a-z]*/"valid": false, "x": 0/' 's/"started_utc": "2/"started_utc": "3/' 's/"kblat"/"kblot"/' 's/"columns": true/"columns": false/'
}

@test "pages and tables of a bundle are made again, and those that it brings are not kept" {
	mkdir unpacked/pages
	echo "<script>alert(1)</script>" >"unpacked/pages/${run_dir##*/}.html"
	/usr/bin/python3 -I - <<-'PY'
		import json
		d = json.load(open("unpacked/bundle.json"))
		run = d["runs"][0]["path"]
		d["files"].append({"name": "pages/%s.html" % run, "size": 0, "sha256": ""})
		d["files"].sort(key=lambda one: one["name"])
		d["made_by"]["commit"] = "another"
		json.dump(d, open("unpacked/bundle.json", "w"))
	PY
	echo "all claims hold" >unpacked/ARTIFACT.md
	sed -i s/fails/holds/ unpacked/claims.tsv
	repack
	run -0 "$KBLAT" reproduce changed.tar.gz --out kept
	[[ $output == *"made again, not believed: ARTIFACT.md, claims.tsv, pages/"* ]]
	cmp kept/claims.tsv "$SHARED/unpacked/claims.tsv"
	grep -q '^| toy | It takes no time .*| fails |$' kept/ARTIFACT.md
	[ ! -e kept/pages ]
	grep -q "It takes no time" kept/runs/*/derived/report.html
	run -1 grep -r "alert(1)" kept
}

@test "what is not checked is said, and what is, is not among it" {
	"$KBLAT" reproduce b.tar.gz --json >out.json
	assert_eq "$(json out.json '[f for f in (x["files"] for x in d["not_checked"]) if "summary" in f or "claims" in f or "data.json" in f]')" "[]"
	assert_eq "$(json out.json '{"*.npy", "runs/*/counters.json", "runs/*/run.json", "runs/*/point.json"} <= {x["files"] for x in d["not_checked"]}')" True
	"$KBLAT" bundle runs/* --out small.tar.gz --without-columns
	run -0 "$KBLAT" reproduce small.tar.gz
	[[ $output == *"runs/*/summary.json"*"the numbers of the summaries"* ]]
	# They are compared with each other all the same.
	rm -r unpacked
	/usr/bin/python3 -I "$BATS_TEST_DIRNAME/bundles.py" unpack small.tar.gz unpacked
	sed -i 's/"p50": 1000/"p50": 1001/' "$inside/points/0000/summary.json"
	(cd "$inside" && sed -i "/ points.0000.summary.json\$/s/^[0-9a-f]*/$(sha256sum points/0000/summary.json | cut -d ' ' -f 1)/" manifest-sha256.txt)
	repack
	run -3 "$KBLAT" reproduce changed.tar.gz
	[[ $output == *"points/0000/summary.json: it differs from what summary.json gives"* ]]
}

@test "without columns it is small, and says what cannot be computed" {
	"$KBLAT" bundle runs/* --out small.tar.gz --without-columns
	[ "$(stat -c %s small.tar.gz)" -lt "$(stat -c %s b.tar.gz)" ]
	tar -tzf small.tar.gz >members
	run -1 grep 'npy$' members
	run -0 "$KBLAT" reproduce small.tar.gz
	[[ $output == *"without columns"*"there are no columns to compute the numbers from"* ]]
}

@test "without the files of the states, what was read from them is there, and the numbers are computed again" {
	run -3 "$KBLAT" run experiments/toy --out with-state
	measured=${lines[-1]}
	"$KBLAT" bundle "$measured" --out all.tar.gz
	run -0 "$KBLAT" bundle "$measured" --out small.tar.gz --without-states
	[[ $output == *", without states, not signed"* ]]
	tar -tzf all.tar.gz | sort >all
	tar -tzf small.tar.gz | sort >small
	assert_eq "$(comm -13 all small)" ""
	assert_eq "$(comm -23 all small | grep -cv '/state/[^/]*/\(before\|after\)/')" 0
	assert_eq "$(grep -c '/state.json$' small)" 2
	assert_eq "$(grep -c '/state/[^/]*/before/proc/' small)" 0
	run -0 "$KBLAT" reproduce small.tar.gz
	[[ $output == *"kblat "*", without states; not signed"*"all numbers follow from the columns"* ]]
}

@test "--mask hides the hosts' names everywhere, and the bundle stays whole" {
	cd "$run_dir"
	host=$(json run.json 'list(d["hosts"])[0]')
	find . -name '*.json*' -exec sed -i "s/\"$host\"/\"secrethost\"/" {} +
	cut -c 67- manifest-sha256.txt | xargs sha256sum >new && mv new manifest-sha256.txt
	grep -q '"secrethost": {' run.json
	cd "$T" || return 1
	"$KBLAT" bundle runs/* --out masked.tar.gz --mask
	run -0 "$KBLAT" reproduce masked.tar.gz
	mkdir m && tar -xzf masked.tar.gz -C m
	grep -q '"xxxxxxxxxx": {' m/runs/*/run.json
	run -1 grep -r secrethost m
}

# nothing_of WORD… : the bundle m.tar.gz has none of them in any of its bytes, names or compressed files, whatever their case.
nothing_of() {
	rm -rf m
	mkdir m && tar -xzf m.tar.gz -C m
	(cd m && find . -type f -name '*.gz' -exec gunzip -k {} +)
	for word; do
		run -1 grep -raiF -- "$word" m
		run -1 grep -iF -- "$word" <(find m)
	done
}

@test "--mask of pairs hides hosts, users and addresses in all that the study has" {
	cat >pairs.yaml <<-'YAML'
		kblat: 1
		name: pairs
		settings: {kernel: oneway, transport: scripted, messages: 200, warmup: 10, repetitions: 1}
	YAML
	printf '#!/bin/sh\nshift 2\nexec "$@"\n' >host
	chmod +x host
	printf 'quokka17 10.77.3.17\nnumbat-xl.zoo.example fd77:12::9\nb7\nb8\n' >hosts
	"$KBLAT" run pairs.yaml --hosts hosts --out pairs --source "$T/host -l wombatkeeper@{host}" --sink "$T/host -l wombatkeeper@{address}" >out
	study=$(tail -n 1 out)
	"$KBLAT" report "$study" || [ $? -eq 77 ]
	grep -q quokka17 "$study/study.json" "$study/cells.jsonl"
	"$KBLAT" bundle "$study" --out m.tar.gz --mask
	nothing_of quokka17 numbat zoo.example wombatkeeper 10.77.3 fd77: '"b7"' '"b8"'
	run -0 "$KBLAT" reproduce m.tar.gz
	# Those of the same length stay different.
	assert_eq "$(json m/study/study.json 'len({h if isinstance(h, str) else h["name"] for h in d["hosts"]})')" 4
}

@test "--mask hides what the states of machines, commands and settings name" {
	"$ROOT/tests/sysroots/machine" unpack two-cpus machine
	chmod -R u+w machine
	echo quokka17 >machine/proc/sys/kernel/hostname
	echo "root=UUID=8a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9 ip=10.77.3.17::10.77.3.1 systemd.machine_id=0123456789abcdef0123456789abcdef x=$USER" >machine/proc/cmdline
	echo "Linux version 6.1.0 (wombatkeeper@numbat-xl) #1" >machine/proc/version
	echo "CONFIG_DEFAULT_HOSTNAME=\"quokka17\"" | gzip -n >machine/proc/config.gz
	mkdir -p home/wombatkeeper/e
	cp experiments/toy/spec.yaml home/wombatkeeper/e
	KBLAT_SYSROOT=$T/machine HOME=/home/wombatkeeper run -3 "$KBLAT" run home/wombatkeeper/e --out runs
	measured=${lines[-1]}
	"$KBLAT" report "$measured" || [ $? -eq 77 ]
	"$KBLAT" bundle "$measured" --out m.tar.gz --mask
	nothing_of quokka17 wombatkeeper numbat-xl 8a1b2c3d 10.77.3 0123456789abcdef0123456789abcdef
	[ ! -e m/pages ]
	run -0 "$KBLAT" reproduce m.tar.gz
}

@test "--mask refuses what would change the numbers, and says so" {
	cd "$run_dir"
	find . -name '*.json*' -exec sed -i "s/\"$(json run.json 'list(d["hosts"])[0]')\"/\"repetitions\"/" {} +
	cut -c 67- manifest-sha256.txt | xargs sha256sum >new && mv new manifest-sha256.txt
	cd "$T" || return 1
	run -1 "$KBLAT" bundle runs/* --out m.tar.gz --mask
	[[ $output == *"is a word that kblat needs"* ]]
	[ ! -e m.tar.gz ]
	nothing_left
}

@test "the pages in a bundle are made of what was checked, not copied" {
	"$KBLAT" report "$run_dir" || [ $? -eq 77 ]
	echo '<script>alert("foreign")</script>' >"$run_dir/derived/report.html"
	"$KBLAT" bundle runs/* --out p.tar.gz
	tar -xzOf p.tar.gz "pages/${run_dir##*/}.html" >page.html
	grep -q "It takes no time" page.html
	run -1 grep foreign page.html
	"$KBLAT" bundle runs/* --out q.tar.gz
	cmp p.tar.gz q.tar.gz
}

@test "runs that are not sealed, were changed, or are none are not bundled" {
	run -2 "$KBLAT" bundle runs --out c.tar.gz
	run -2 "$KBLAT" bundle runs/* runs/* --out c.tar.gz
	[[ $output == *"a run of that name is in it already"* ]]
	run -2 "$KBLAT" bundle runs/* --out c.zip
	[[ $output == *"must end in .tar.gz"* ]]
	run -2 "$KBLAT" bundle runs/* --out b.tar.gz
	[[ $output == *"it exists"* ]]
	run -2 "$KBLAT" bundle runs/*
	echo >>"$run_dir/summary.csv"
	run -2 "$KBLAT" bundle runs/* --out c.tar.gz
	[[ $output == *"summary.csv"* ]]
	rm "$run_dir/manifest-sha256.txt"
	run -2 "$KBLAT" bundle runs/* --out c.tar.gz
	[[ $output == *"not sealed"* ]]
	[ ! -e c.tar.gz ]
	nothing_left
}

@test "who signed it, and whether that is somebody to trust" {
	type -P ssh-keygen >/dev/null || skip "no ssh-keygen"
	ssh-keygen -q -t ed25519 -N '' -f key
	ssh-keygen -q -t ed25519 -N '' -f other
	"$KBLAT" bundle runs/* --out signed.tar.gz --sign key
	echo "a.reviewer@example.org $(cat key.pub)" >signers
	echo "somebody@example.org $(cat other.pub)" >others
	run -0 "$KBLAT" reproduce signed.tar.gz
	[[ $output == *"by somebody who is not known here"*"SHA256:"* ]]
	run -0 "$KBLAT" reproduce signed.tar.gz --signers signers --require-signature
	[[ $output == *"signed by a.reviewer@example.org, who is trusted, at 20"* ]]
	run -3 "$KBLAT" reproduce signed.tar.gz --signers others --require-signature
	run -0 "$KBLAT" reproduce signed.tar.gz --signers others
	run -3 "$KBLAT" reproduce b.tar.gz --signers signers --require-signature
	[[ $output == *"not signed"* ]]
	rm -r unpacked
	/usr/bin/python3 -I "$BATS_TEST_DIRNAME/bundles.py" unpack signed.tar.gz unpacked
	sed -i 's/It takes no time/It takes no Time/' unpacked/claims.json
	repack
	run -2 "$KBLAT" reproduce changed.tar.gz
	[[ $output == *"its signature is not that of its content"* ]]
	run -1 "$KBLAT" bundle runs/* --out c.tar.gz --sign nokey
	[ ! -e c.tar.gz ]
	nothing_left
}

@test "--run measures what this kblat has under these names" {
	export KBLAT_EXPERIMENTS=$T/experiments
	mkdir away && cd away
	run -0 "$KBLAT" reproduce ../b.tar.gz --run --out kept
	[[ $output == *"measured here: 2 of 2 verdicts are as in the bundle"* ]]
	exists "kept/here/toy-*"
	rm -r "$T/experiments/toy"
	run -0 "$KBLAT" reproduce ../b.tar.gz --run --out again
	[[ $output == *"toy: no experiment of this name is here"* ]]
	run -2 "$KBLAT" reproduce ../b.tar.gz --run
}

@test "--run measures nothing that lies in the working folder" {
	export KBLAT_EXPERIMENTS=$T/ours
	mkdir -p ours
	mv experiments/toy ours/toy
	mkdir -p experiments/toy
	sed 's/^title:.*/title: not this one/; s/messages: *[0-9]*/messages: 77/' ours/toy/spec.yaml >experiments/toy/spec.yaml
	run -0 "$KBLAT" reproduce b.tar.gz --run --out kept
	cmp ours/toy/spec.yaml kept/here/toy-*/spec.yaml
	unset KBLAT_EXPERIMENTS
	run "$KBLAT" reproduce b.tar.gz --run --out again
	[[ $output == *"toy: no experiment of this name is here"* ]]
}

@test "a killed reproduction leaves no folder that looks whole" {
	for i in 1 2 3 4 5; do
		"$KBLAT" reproduce b.tar.gz --out kept >/dev/null 2>&1 3>&- &
		pid=$!
		sleep "0.00$i"
		kill -KILL "$pid" 2>/dev/null || true
		wait "$pid" || true
		if [ -e kept ]; then
			cmp kept/claims.json unpacked/claims.json
			[ -f kept/reproduced/report.html ]
		fi
		rm -rf kept kept.partial
	done
}

# gone: within two seconds nothing is left in $TMPDIR.
gone() {
	for _ in {1..100}; do
		! nothing_left || return 0
		sleep 0.02
	done
	ls -AR "$TMPDIR"
	return 1
}

@test "reproduce and bundle that are interrupted or killed leave no folder, and doctor finds one that is left" {
	local signal left
	for signal in INT TERM HUP KILL; do
		for words in "reproduce b.tar.gz" "bundle $run_dir --out c.tar.gz"; do
			# As soon as there is a folder.
			# shellcheck disable=SC2086 # words
			env -u KBLAT_SYSROOT bash -c 'trap - INT; exec "$@"' - "$KBLAT" $words >out 2>&1 3>&- &
			pid=$!
			for _ in {1..400}; do
				nothing_left || break
				kill -0 "$pid" 2>/dev/null || break
			done
			kill "-$signal" "$pid" 2>/dev/null || true
			wait "$pid" || true
			gone
			[ "$(compgen -G 'c.tar.gz.partial*' | wc -l)" -eq 0 ]
			rm -f c.tar.gz
		done
	done
	sleep 0 &
	wait $!
	left=$TMPDIR/kblat-$(id -u)-$!-reproduceABCDEF
	mkdir "$left"
	run "$KBLAT" doctor --json
	assert_contains "$output" "$left"
	rmdir "$left"
}

# bats test_tags=long
@test "a bundle that is ended in its first moment leaves no unfinished file" {
	local signal
	for signal in HUP TERM KILL HUP TERM KILL HUP TERM KILL HUP TERM KILL HUP TERM KILL; do
		"$KBLAT" bundle "$run_dir" --out c.tar.gz >out 2>&1 3>&- &
		pid=$!
		until [ -e "c.tar.gz.partial-$pid" ] || ! kill -0 "$pid" 2>/dev/null; do :; done
		kill "-$signal" "$pid" 2>/dev/null || true
		wait "$pid" || true
		for _ in {1..100}; do
			exists "c.tar.gz.partial*" || break
			sleep 0.02
		done
		run ! exists "c.tar.gz.partial*"
		rm -f c.tar.gz
	done
}

@test "a full disk is told, and nothing stays" {
	[ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null || skip "no mounts for this user"
	run -1 unshare --mount sh -c 'mount -t tmpfs -o size=64k none tmp && exec "$0" reproduce b.tar.gz' "$KBLAT"
	[[ $output == *"it needs"* ]]
	run -1 unshare --mount sh -c 'mkdir full && mount -t tmpfs -o size=8k none full && exec "$0" bundle runs/* --out full/c.tar.gz' "$KBLAT"
	[[ $output == *"no space left"* ]]
}
