# Boots two kernels alternately and measures in each boot, until it is decided whether the new one
# is slower. To be sourced.
#
# The caller must set out, boots, runs, kernel[old|new], append[], beside[], spec, run_options,
# guest_options, count_time, kblat, guest, alpha and compare_options.
# shellcheck shell=bash disable=SC2154

child='' interrupted=''

# -- the plan ------------------------------------------------------------------------------------------------------

write_plan() {
    printf '%s: %s\n' old "${kernel[old]} ${append[old]:-}" new "${kernel[new]} ${append[new]:-}" \
        'beside old' "${beside[old]:-}" 'beside new' "${beside[new]:-}" \
        spec "$spec" options "${run_options[*]}" guest "${guest_options[*]}" runs "$runs" boots "$boots"
}

# Existing boots must belong to the same comparison.
check_plan() {
    local planned
    mkdir -p -- "$out/old" "$out/new"
    if [[ -e $out/plan ]]; then
        diff <(grep -v ^boots: "$out/plan") <(write_plan | grep -v ^boots:) >&2 ||
            usage_error "in $out is another comparison (< that one, > this one): name another folder with --out"
        planned=$(sed -n 's/^boots: //p' "$out/plan")
        ((planned >= boots)) || ! is_done $((2 * planned - 1)) ||
            say "$planned boots of each kernel were planned and are there: to go on until $boots makes false alarms more frequent, up to twice as many"
    fi
    write_plan >"$out/plan"
}

# -- a boot --------------------------------------------------------------------------------------------------------

# arm_of BOOT: ABBA, so that a drift over time does not look like a difference between the kernels.
arm_of() {
    case $(($1 % 4)) in
    0 | 3) echo old ;;
    *) echo new ;;
    esac
}

# is_done BOOT
is_done() { grep -qs "^$1	" "$out/boots.tsv"; }

# What the guest runs: all runs of one boot, each as its own process.
# shellcheck disable=SC2016 # for the guest's shell
in_guest='
    if [ "$1" ]; then
        sh -c "$1" >/dev/null 2>&1 &
    fi
    shift
    count=$1
    shift
    while [ "$count" -gt 0 ]; do
        count=$((count - 1))
        "$@" >/dev/null
        status=$?
        [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || exit "$status"
    done'

# In the background, so that signals are handled meanwhile; it gets none from a terminal, as shells prevent that.
run_guest() {
    local status=0
    "$guest" "$@" &
    child=$!
    while wait "$child" && status=0 || status=$?; kill -0 "$child" 2>/dev/null; do :; done
    child=''
    return "$status"
}

give_in() {
    rm -rf -- "$out/.boot"
    fail "$interrupted" "interrupted: whole boots are kept in $out, and the same command goes on from there"
}

# on_signal NAME NUMBER: passes the signal to the command in the guest; a second one, a second later, ends the guest.
on_signal() {
    interrupted=$((128 + $2))
    [[ $child ]] || give_in
    say "SIG$1: ending the guest"
    kill -TERM "$child" 2>/dev/null || true
    sleep 1.2
    kill -TERM "$child" 2>/dev/null || true
}

# run_boot ARM FOLDER: into the folder, which is made anew. At most three times if the emulator loses a CPU (75).
run_boot() {
    local try status
    for try in 1 2 3; do
        status=0
        rm -rf -- "$2"
        mkdir -p -- "$2"
        run_guest --kernel "${kernel[$1]}" --append "${append[$1]:-}" --in-memory --out "$2" "${guest_options[@]}" -- \
            bash -c "$in_guest" - "${beside[$1]:-}" "$runs" "$kblat" run "$spec" --out "$2" "${run_options[@]}" || status=$?
        ((status == 75)) && [[ ! $interrupted ]] || break
        say "try $try of 3 of this boot is lost"
    done
    return "$status"
}

# boot NUMBER: first into a temporary folder, so that only complete boots count.
boot() {
    local arm folder=$out/.boot status=0 started=$SECONDS
    arm=$(arm_of "$1")
    say "boot $(($1 + 1)) of at most $((2 * boots)): $arm, ${kernel[$arm]}"
    start_load
    run_boot "$arm" "$folder" || status=$?
    end_load
    [[ ! $interrupted ]] || give_in
    ((status == 0)) || fail "$((status == 77 ? 77 : 1))" \
        "boot $(($1 + 1)), ${kernel[$arm]}: kblat or the guest ended with status $status; what was measured before is in $out, and the same command goes on from there"
    mv -- "$folder"/* "$out/$arm/"
    rmdir -- "$folder"
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$arm" "${kernel[$arm]}" "$((SECONDS - started))" "$others" >>"$out/boots.tsv"
}

# -- until it is decided -------------------------------------------------------------------------------------------

# compare_boots [OPTION]...
compare_boots() {
    "$kblat" compare "$out/old" --with "$out/new" --varying kernel --planned "$((boots < 4 ? 4 : boots))" --alpha "$alpha" \
        "${compare_options[@]}" "$@"
}

is_decided() {
    local status=0
    compare_boots >/dev/null || status=$?
    ((status == 0 || status == 3 || status == 4)) || fail 1 "kblat compare ended with status $status (see above)"
    ((status != 4))
}

# tell_time SECONDS BOOTS: after the first boots, says how long the rest will take.
tell_time() {
    local minutes=$((($1 * $2 + 59) / 60))
    say "a boot takes $1 s: at most $2 more, $minutes min; it ends earlier once it is decided"
}

# Without a boot that has been measured: what a guest takes to start and to end.
boot_s=30

# tell_plan BOOTS: how long so many boots would take, from those that were measured in this folder before, else from
# what the runs are expected to take.
tell_plan() {
    local each how
    each=$(awk -F '\t' '{ sum += $4 } END { if (NR) printf "%d", sum / NR + 0.5 }' "$out/boots.tsv" 2>/dev/null) || true
    how="measured in $out"
    if [[ ! $each ]]; then
        each=$("$kblat" run "$spec" --dry-run --json "${run_options[@]}" |
            awk -v runs="$runs" -v boot="$boot_s" -F '[:,]' '/"expected_s"/ { sum += $2 } END { printf "%d", boot + runs * sum + 0.5 }')
        how="$boot_s s to start and end, and $runs runs; not measured yet"
    fi
    echo "at most $1 boots of about $each s ($how): $((($1 * each + 59) / 60)) min; it ends earlier once it is decided"
}

# Makes the boots that are missing. With enough boots, compare_boots has a verdict.
measure() {
    local number began=$SECONDS measured=0
    check_plan
    for ((number = 0; number < 2 * boots; number++)); do
        if ! is_done "$number"; then
            boot "$number"
            measured=$((measured + 1))
            ((measured != 2)) || tell_time $(((SECONDS - began) / 2)) $((2 * boots - number - 1))
        fi
        ((number % 2 && number >= 7)) || continue
        ! is_decided || break
    done
    ((number >= 2 * boots - 1)) || say "decided after $(((number + 1) / 2)) of $boots boots of each kernel"
}

# Prints the verdict, makes its page, and says how busy this machine was. Returns the status of compare.
conclude() {
    local status=0
    rm -rf -- "$out/comparison"
    compare_boots --out "$out/comparison" || status=$?
    [[ $count_time == yes ]] || tell_load_of "$out/boots.tsv"
    return "$status"
}
