#!/usr/bin/env bats
# Folders of others, and links in one's own: nothing that they name is run, and nothing outside is touched.

load helper
load kbtune_helper
bats_require_minimum_version 1.5.0

setup() {
	kbtune_setup
	umask 022
	printf '#!/bin/sh\ntouch "%s/executed"\nexit 1\n' "$T" >program
	chmod 755 "$T" program
	# Runs record the state of a machine that has none: each of its files would be one more name to try.
	mkdir no-state
	export KBLAT_SYSROOT=$T/no-state
	spec s <<-'YAML'
		settings: {kernel: oneway, transport: scripted, delay: 1us, messages: 200, burst: 200, warmup: 0, repetitions: 1}
	YAML
}

root_only() {
	need_root "to give files away"
}

# boots_of DIR STATUS: makes the record of a comparison of kernels, with the program as its boot loader.
boots_of() {
	mkdir -p "$1"
	/usr/bin/python3 -IS - "$1" "$2" "$T" <<-'PY'
		import json, sys
		dir, status, T = sys.argv[1:]
		plan = {"arms": [{"kernel": k, "entry": k} for k in ("old", "new")], "loader": T + "/program", "home": "old", "boots": 4,
		        "runs": 1, "settle_s": 0.0, "tries": 3, "expected_s": 1.0, "metric": None, "quantities": [], "margins": [], "judge": [],
		        "at": {"boot": 0, "asked": None, "asked_s": 0.0, "measured_in": None, "failed": 0}, "events": []}
		json.dump({"schema": 1, "kind": "boots", "name": "s", "title": "", "spec": T + "/s.yaml", "status": status, "argv": [], "options": {},
		           "plan": plan}, open(dir + "/study.json", "w"))
	PY
	: >"$1/cells.jsonl"
}

# listing FOLDER…: all that is in them, with times and contents.
listing() {
	find "$@" -printf '%p %y %m %U %T@ %C@ %l\n' | sort
	find "$@" -type f -exec sha256sum {} + | sort
}

@test "boots stop, go and --resume run nothing that a stranger's folder names, and change nothing" {
	local command state before
	root_only
	for state in RUNNING INTERRUPTED COMPLETED; do
		for owner in "65534 65534 of-his" "65534 0 of-his" "0 65534 of-his"; do
			# The folder and what is in it; or only one of them; or a folder above it.
			read -r folder files _ <<<"$owner"
			rm -rf of-his
			boots_of of-his/study "$state"
			chown "$files" of-his/study/*
			chown "$folder" of-his/study
			before=$(listing of-his)
			for command in "boots stop" "boots go" "boots start --resume" "run --resume" "knobs --resume"; do
				# shellcheck disable=SC2086 # words
				run timeout 20 "$KBLAT" $command of-his/study
				echo "$state $owner $command: $status $output"
				[ "$status" -eq 2 ]
				[ ! -e executed ]
				assert_eq "$(listing of-his)" "$before"
			done
			assert_contains "$output" "it belongs to user 65534, not to you"
		done
		rm -rf of-his
		boots_of of-his/study "$state"
		chown 65534 of-his
		for command in stop go "start --resume"; do
			# shellcheck disable=SC2086 # words
			run timeout 20 "$KBLAT" boots $command of-his/study
			echo "$state above: $command: $status $output"
			[ "$status" -eq 2 ]
			[ ! -e executed ]
			assert_contains "$output" "$T/of-his, on its way: it belongs to user 65534"
		done
		# It may be looked at.
		run -0 "$KBLAT" boots status of-his/study
		assert_contains "$output" "$state, 0 of at most 8 boots measured"
	done
}

@test "boots start refuses what somebody else could exchange before the next boot: the folder, the spec, programs" {
	local row
	root_only
	mkdir -p his/mine ours
	chown 65534 his
	cp s.yaml his/mine/s.yaml
	cp program his/mine/program
	ln -s "$T/his" his-link
	ln -s "$T/ours" his/mine/to-ours
	chown -h 65534 his-link
	mkdir -m 777 open
	while IFS='|' read -r row named; do
		# shellcheck disable=SC2086 # words
		run timeout 20 "$KBLAT" boots start ${row//@/$T} --old 6.1.0-old --new 6.1.0-new --loader "$T/program"
		echo "$row: $status $output"
		[ "$status" -eq 2 ]
		assert_contains "$output" "$named"
		[ ! -e executed ]
	done <<-END
		s.yaml --out @/his|name a folder that only root can change: --out /var/lib/kblat/boots
		s.yaml --out @/his/mine/new|$T/his, on its way: it belongs to user 65534
		s.yaml --out his/mine|$T/his, on its way: it belongs to user 65534
		s.yaml --out his-link/mine|$T/his-link, on its way: it belongs to user 65534
		s.yaml --out his/mine/to-ours|$T/his, on its way: it belongs to user 65534
		s.yaml --out open|other users may write to it
		s.yaml --out open/new/deeper|$T/open, on its way: other users may write to it
		his/mine/s.yaml|$T/his, on its way: it belongs to user 65534
		his/mine/s.yaml --out ours|$T/his/mine/s.yaml: cannot be used: $T/his, on its way
		s.yaml --out ours --source @/his/mine/program|$T/his/mine/program: cannot be used
		s.yaml --out ours --profile-path @/his/mine|$T/his/mine: cannot be used
	END
}

@test "knobs --resume: a link in place of a profile's folder, or of any file, is not written through" {
	local name
	machine two-cpus
	export KBTUNE KBTUNE_SYSROOT=$T/m
	profile several <<-'YAML'
		title: Two
		sysctl: {vm.swappiness: 10, vm.dirty_ratio: 33}
	YAML
	run "$KBLAT" knobs s.yaml --profile several --profile-path "$T" --out "$T/out" --blocks 6 --source "$T/program" --sink "$T/program"
	dir=$(echo "$T"/out/*-knobs-*)
	[ -f "$dir/profiles/whole/profile.yaml" ]
	mkdir elsewhere
	echo mine >elsewhere/tuned.conf
	echo mine >elsewhere/profile.yaml
	echo mine >elsewhere/file
	rm -f executed
	for name in profiles/whole profiles runs profiles/whole/profile.yaml cells.jsonl; do
		mv "$dir/$name" kept
		ln -s "$T/elsewhere$([ ! -f kept ] || echo /file)" "$dir/$name"
		run "$KBLAT" knobs --resume "$dir"
		echo "$name: $status $output"
		[ "$status" -eq 2 ]
		assert_contains "$output" "it is a symbolic link"
		assert_eq "$(cat elsewhere/*)" $'mine\nmine\nmine'
		assert_eq "$(ls elsewhere)" $'file\nprofile.yaml\ntuned.conf'
		[ ! -e executed ]
		rm "$dir/$name"
		mv kept "$dir/$name"
	done
	ln "$dir/cells.jsonl" elsewhere/cells.jsonl
	run -2 "$KBLAT" knobs --resume "$dir"
	assert_contains "$output" "a hard link"
}

# --- every command that takes a directory, over one of a stranger and over one of one's own with links ---

# What each does with which folder, from the fixtures below: "FOLDER COMMAND". A new subcommand must be here or among those
# that take none.
commands() {
	cat <<-'END'
		run summary @
		run verify @
		run report @
		run claims @
		run explain @
		run compare @ --with @
		run history @ @ --bundle %
		run export --csv @
		run export --observatory % @
		run bundle @ --out %.tar.gz
		runs index @
		runs report @
		runs summary @
		runs compare @ --with @
		runs history @ --bundle %
		capture state diff @ @
		spec run @ --no-state --quiet
		spec export --observatory % @
		specs run @ --no-state --quiet
		campaign run --resume @
		campaign run @
		campaign report @
		campaign claims @
		campaign bundle @ --out %.tar.gz
		pairs run --resume @
		pairs report @
		knobs knobs --resume @
		knobs report @
		boots boots status @
		boots boots stop @
		boots boots go @
		boots boots start --resume @
		boots report @
	END
}
no_folder=" list doctor noise endpoint import reproduce trace "

# Fixtures; PROGRAM is what studies start their endpoints with.
one_run() { "$KBLAT" run s.yaml --out "$1" --no-state --quiet >/dev/null && "$KBLAT" report "$1"/s-* >/dev/null; }
make_run() { one_run made && mv made/s-* run; }
make_runs() { one_run runs && one_run other && mv other/s-* runs && { "$KBLAT" report runs || [ $? -eq 77 ]; }; }
make_capture() { mkdir capture && printf '{"schema": 1, "keys": {"a": "b"}}' >capture/state.json; }
make_spec() { mkdir spec && sed 's/^name.*/name: spec/' s.yaml >spec/spec.yaml; }
make_specs() { mkdir -p specs/{one,two} && cp s.yaml specs/one/spec.yaml && sed 's/^name: s/name: two/' s.yaml >specs/two/spec.yaml; }
make_campaign() {
	make_specs
	"$KBLAT" run specs --out made --no-state --quiet >/dev/null
	mv made/specs-* campaign
	sed -i "s/\"status\": \"COMPLETED\"/\"status\": \"INTERRUPTED\"/; s|\"source\": null|\"source\": \"$1\"|" campaign/study.json
	change_cells campaign 'd[1].update(state="pending", run=None, exit_status=None, took_s=None)' || true
}
make_pairs() {
	ends_with 1 "$KBLAT" run s.yaml --hosts n1,n2 --source "$1" --sink "$1" --out made --quiet >/dev/null
	mv made/s-pairs-* pairs
}
make_knobs() {
	machine two-cpus
	export KBTUNE KBTUNE_SYSROOT=$T/m
	profile several <<-'YAML'
		title: Two
		sysctl: {vm.swappiness: 10, vm.dirty_ratio: 33}
	YAML
	"$KBLAT" knobs s.yaml --profile several --profile-path "$T" --out made --blocks 6 --source "$T/program" --quiet >/dev/null || true
	mv made/s-knobs-* knobs
}
make_boots() { boots_of boots RUNNING; }

# over WHAT FIXTURE…: each command over each of these, with what folders.py does to them.
over() {
	local what=$1 fixture words bad=0
	command -v strace >/dev/null || skip "no strace"
	mkdir -p work
	chmod 755 work
	for fixture in "${@:2}"; do
		"make_$fixture" "$T/program"
		rm -f executed
		while read -r _ words; do
			# That a new run is made beside the spec is what was asked for.
			[[ "$what $words" != "stranger run @ --no-state"* ]] || words+=' --out %'
			echo "$what: $words"
			# shellcheck disable=SC2086 # words
			/usr/bin/python3 -I "$BATS_TEST_DIRNAME/folders.py" "$what" "$T/$fixture" "$T/work" "$KBLAT" $words >said 2>&1 || {
				bad=1
				cat said
			}
			[ "$what" = links ] || [ ! -e executed ] || bad=1
			tail -n 1 said
		done < <(commands | grep "^$fixture ")
	done
	[ "$bad" -eq 0 ]
}

@test "every subcommand is known to take a folder, or none" {
	local name
	for name in $("$KBLAT" help | sed -n 's/^  \([a-z]\+\)  .*/\1/p'); do
		[[ $no_folder == *" $name "* ]] || commands | grep -q "^[a-z]* $name " || {
			echo "$name: not in commands, nor in no_folder"
			return 1
		}
	done
}

@test "a stranger's folder: nothing in it runs, and nothing in it changes" {
	root_only
	over stranger run runs capture spec specs campaign pairs knobs boots
}

# bats test_tags=long
@test "links in one's own run, in place of every name: nothing that they lead to is touched" {
	over links run capture spec
}

# bats test_tags=long
@test "links in one's own folder of runs" {
	over links runs
}

# bats test_tags=long
@test "links in one's own campaign, and in its experiments" {
	over links specs campaign
}

# bats test_tags=long
@test "links in one's own measurement of pairs, of knobs, of boots" {
	over links pairs knobs boots
}
