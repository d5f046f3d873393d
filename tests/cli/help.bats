#!/usr/bin/env bats
# --help, man pages, completions and tables say the same: each is compared with the programs' own tables (help --json, list --json).

load helper
KBTUNE=${KBTUNE:-$BATS_TEST_DIRNAME/../../build/kbtune}

setup_file() {
	PAGES=$(mktemp -d "${BATS_TMPDIR:-/tmp}/kblat-pages.XXXXXX")
	export PAGES
	local root=$BATS_TEST_DIRNAME/../..
	"$root/docs/man/generate" "${KBLAT:-$root/build/kblat}" "$KBTUNE" "$PAGES"
}

teardown_file() {
	rm -rf "$PAGES"
}

# The subcommands of a program, and the flags of one of them.
subcommands() {
	"$1" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

flags_of_help() {
	"$1" "$2" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort
}

# The options in a man page, without roff.
flags_of_page() {
	sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/s/^\\fB\\-\\-\([^ ]*\)\\fR.*/--\1/p' "$1" | sed 's/\\-/-/g' | sort
}

@test "man pages and completions have exactly the flags of --help" {
	for program in "$KBLAT" "$KBTUNE"; do
		name=${program##*/}
		[ "$(subcommands "$program" | wc -l)" -ge 12 ]
		for c in $(subcommands "$program"); do
			page=$PAGES/$name-$c.1
			echo "$page"
			assert_eq "$(flags_of_page "$page")" "$(flags_of_help "$program" "$c")"
			assert_eq "$(sed -n "s/^$c \(--[a-z-]*\) .*/\1/p" "$PAGES/$name.bash" | sort)" "$(flags_of_help "$program" "$c")"
			grep -qF "\fB$name\-${c//-/\\-}\fR(1)" "$PAGES/$name.1"
		done
		# and nothing else, but for a program of its own
		assert_eq "$(find "$PAGES" -name "$name-*.1" ! -name kblat-guest.1 | wc -l)" "$(subcommands "$program" | wc -l)"
	done
}

@test "what flags mean begins in one column, also after a flag with an ellipsis" {
	for program in "$KBLAT" "$KBTUNE"; do
		for c in $(subcommands "$program"); do
			"$program" "$c" --help | /usr/bin/python3 -c '
import re, sys
at = {m.start(1): line for line in sys.stdin for m in [re.match(r"  --\S+(?: \S+)*?  +(\S)", line)] if m}
assert len(at) == 1, at'
		done
	done
}

@test "pages have each setting with its range and default, each statistic, knob and exit status" {
	"$KBLAT" list --json >lists.json || true # devices may not be accessible
	"$KBTUNE" profiles --settings --json >knobs.json
	run /usr/bin/python3 - "$PAGES" <<-'PYTHON'
		import json, re, sys
		plain = lambda name: re.sub(r"\\f[BIR]|\\&", "", open(f"{sys.argv[1]}/{name}").read()).replace(r"\-", "-").replace(r"\(ga", "`").replace(r"\(aq", "'")
		spec, directory, profile, kblat = plain("kblat-spec.5"), plain("kblat-run-directory.5"), plain("kbtune-profile.5"), plain("kblat.1")
		lists = json.load(open("lists.json"))
		rows = [o for k in ("settings", "kernels", "transports") for t in lists[k] for o in t["options"]]
		assert len(rows) > 60, len(rows)
		for o in rows:
		    assert f".TP\n{o['usage']}\n" in spec, o["usage"]
		    assert f"({o['limits']})" in spec, o
		for table in lists["kernels"] + lists["transports"]:
		    assert f" {table['name']}\n" in spec, table["name"]
		for s in lists["statistics"]:
		    assert (f"{s['block']}.{s['name']}\n" if s["block"] else f"\n{s['name']} (") in directory, s
		for k in json.load(open("knobs.json")):
		    assert f".TP\n{k['setting']}\n" in profile, k
		assert all(f".TP\n{s}\n" in kblat for s in (0, 1, 2, 3, 4, 77))
	PYTHON
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "help shows a setting as the list's JSON and the page have it" {
	run "$KBLAT" list settings
	[[ $output =~ repetitions=N\ +.*\(default\ 25,\ 1\.\.100000\) ]]
	grep -q '(default 25, 1..100000)$' "$PAGES/kblat-spec.5"
}

@test "groff and the shells find nothing to complain about" {
	for page in "$PAGES"/*.[15]; do
		run groff -man -Tutf8 -Kutf8 -ww -z "$page"
		echo "$page: $output"
		[ "$status" -eq 0 ]
		[ -z "$output" ]
	done
	for shell in bash zsh; do
		command -v $shell >/dev/null || continue
		$shell -n "$PAGES/kblat.$shell"
		$shell -n "$PAGES/kbtune.$shell"
	done
}

# complete_line WORDS: the completions that bash offers at the end of that line, split into words like readline does.
complete_line() {
	PATH=$(dirname "$KBLAT"):$(dirname "$KBTUNE"):$PATH bash -c '
		. "$1"
		line=$2
		COMP_WORDS=() COMP_LINE=$line COMP_POINT=${#line}
		for word in $line; do
			while [[ $word == *=* ]]; do
				[ -z "${word%%=*}" ] || COMP_WORDS+=("${word%%=*}")
				COMP_WORDS+=("=")
				word=${word#*=}
			done
			[ -z "$word" ] || COMP_WORDS+=("$word")
		done
		[[ $line != *" " ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_${COMP_WORDS[0]}
		printf "%s\n" "${COMPREPLY[@]}"' _ "$PAGES/${1%% *}.bash" "$1" | sed '/^$/d' | tr '\n' ' '
}

@test "bash completes subcommands, flags, settings and their values, runs, experiments, profiles" {
	assert_eq "$(complete_line 'kblat ver')" "verify "
	assert_eq "$(complete_line 'kblat run --qui')" "--quick --quiet "
	assert_contains "$(complete_line 'kblat run --set tran')" "transport="
	assert_contains "$(complete_line 'kblat run --set transport=')" "verbs shmem"
	assert_eq "$(complete_line 'kblat run --set qp=u')" "uc ud "
	assert_eq "$(complete_line 'kblat run --set small.qp=u')" "uc ud "
	assert_contains "$(complete_line 'kblat list ')" "kernels settings transports"
	mkdir -p runs/a-run other/empty
	touch runs/a-run/run.json
	assert_eq "$(complete_line 'kblat verify runs/')" "runs/a-run "
	assert_eq "$(complete_line 'kblat history --out=ru')" "runs "
	mkdir experiments
	cp -r "$ROOT/experiments/quickstart" experiments/
	assert_contains "$(complete_line 'kblat run quick')" "quickstart"
	# only the settings of the experiment that is named
	assert_contains "$(complete_line 'kblat run --set sink_k')" "sink_keep="
	assert_eq "$(complete_line 'kblat run quickstart --set sink_k')" ""
	assert_contains "$(complete_line 'kblat run quickstart --quick --set pau')" "pause="
	assert_eq "$(complete_line 'kbtune plan thesis-t')" "thesis-tuned-only "
	assert_contains "$(complete_line 'kbtune cpuset ')" "list create destroy exec"
	assert_eq "$(complete_line 'kbtune irq set --ne')" "--near "
}

@test "list says only names, on one screen; of one it says the settings, and an unknown name is answered with the nearest" {
	run "$KBLAT" list
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -le 24 ]
	assert_contains "$output" "oneway, pingpong"
	run "$KBLAT" list kernels oneway
	[ "$status" -eq 0 ]
	assert_contains "$output" "burst=N"
	[[ $output != *pingpong* ]]
	run "$KBLAT" list settings pause
	assert_contains "$output" "of kernel=pingpong:"
	run "$KBLAT" list settings "$ROOT/experiments/quickstart"
	assert_contains "$output" "of transport=shmem:"
	[[ $output != *"of kernel=rate"* ]]
	run "$KBLAT" list settings delay --json
	assert_eq "$(/usr/bin/python3 -c 'import json, sys; print([t["of"] for t in json.load(sys.stdin)["settings"]])' <<<"$output")" "['scripted']"
	run "$KBLAT" list transports vebs
	[ "$status" -eq 2 ]
	assert_contains "$output" "did you mean 'verbs'?"
	run "$KBLAT" list experiments thesis
	assert_contains "$output" thesis/oneway-busy
}

@test "zsh completes the same, by its own functions" {
	command -v zsh >/dev/null || skip "there is no zsh"
	# _arguments belongs to zsh; its arguments must be those of the tables.
	run zsh -fc '
		_arguments() { if [[ $1 == -C ]]; then state=argument; else print -l -- "$@"; fi; }
		words=(run)
		. "$1"' _ "$PAGES/kblat.zsh"
	echo "$output"
	[ "$status" -eq 0 ]
	assert_contains "$output" "--quick["
	assert_contains "$output" "*--set=["
	for f in $(flags_of_help "$KBLAT" run); do
		assert_contains "$output" "$f"
	done
	run zsh -fc '
		compset() { IPREFIX=transport=; return 0; }
		compadd() { print -l -- "$@"; }
		_arguments() { true; }
		. "$1"
		_kblat_setting' _ "$PAGES/kblat.zsh"
	assert_contains "$output" "verbs"
}

# What is for one form only is below a heading that names it, which is no flag.
@test "kblat run is four commands: usage, help and page say which one a flag is for" {
	run "$KBLAT" run --help
	assert_eq "$(grep -cE '^(Usage:|      ) kblat run ' <<<"$output")" 4
	for form in "A campaign (STUDY):|resume budget" "All pairs of hosts (--hosts):|hosts at-once state" "Another program (--foreign|foreign base environment samples timeout column unit name limit"; do
		assert_eq "$(sed -n "/^${form%|*}/,/^$/s/^  --\([a-z-]*\).*/\1/p" <<<"$output" | xargs)" "${form#*|}"
		assert_eq "$(sed 's/\\-/-/g; s/\\f.//g' "$PAGES/kblat-run.1" | sed -n "/^.SS ${form%|*}/,/^.SH/{/^.SS/{/${form%|*}/!q}; s/^--\([a-z-]*\).*/\1/p}" | xargs)" "${form#*|}"
	done
	for wrong in "--=1" "--"; do
		run "$KBLAT" run "$wrong"
		[ "$status" -eq 2 ]
	done
}

@test "help --json: every subcommand with its flags, for other programs" {
	run bash -c '"$1" help --json | /usr/bin/python3 -c "
import json, sys
d = json.load(sys.stdin)
run = next(c for c in d[\"commands\"] if c[\"name\"] == \"run\")
flag = {f[\"name\"]: f for f in run[\"flags\"]}
print(d[\"name\"], flag[\"reps\"][\"kind\"], flag[\"reps\"][\"max\"], flag[\"set\"][\"kind\"], flag[\"quick\"][\"metavar\"])
assert not any(c[\"name\"] == \"endpoint\" for c in d[\"commands\"])"' _ "$KBLAT"
	echo "$output"
	assert_eq "$output" "kblat number 100000 list None"
}
