# Measures how busy other programs keep this machine, which the guest cannot see. To be sourced.
# shellcheck shell=bash

busy_percent=15 # from so much on it is told

# Sets busy, all (ticks of all CPUs) and own (those of our processes that have ended).
read_ticks() {
    local cpu user nice system idle iowait irq softirq steal rest
    local -a field
    read -r cpu user nice system idle iowait irq softirq steal rest </proc/stat
    busy=$((user + nice + system + irq + softirq + ${steal:-0}))
    all=$((busy + idle + iowait))
    read -r rest <"/proc/$$/stat"
    read -ra field <<<"${rest##*) }"
    own=$((field[13] + field[14]))
}

start_load() {
    read_ticks
    load_from=("$busy" "$all" "$own")
}

# Sets `others`: the share of all CPUs, in percent, that other programs have used since start_load.
end_load() {
    local ticks
    read_ticks
    ticks=$((busy - load_from[0] - own + load_from[2]))
    others=$((all > load_from[1] && ticks > 0 ? 100 * ticks / (all - load_from[1]) : 0))
}

# tell_load: says, before anything is measured, how busy the machine is.
tell_load() {
    start_load
    sleep 0.5
    end_load
    ((others < busy_percent)) ||
        say "this machine is busy: other programs use $others % of its $(nproc) CPUs. What is measured now will vary with that, and small differences will not be found"
}

# tell_load_of FILE: says by arm how busy the machine was during the boots in FILE; the fifth column has the shares.
tell_load_of() {
    awk -F '\t' -v least="$busy_percent" '
        NF >= 5 { n[$2]++; sum[$2] += $5; squares[$2] += $5 * $5; if (all++ == 0 || $5 < low) low = $5; if ($5 > high) high = $5; total += $5 }
        function variance(arm) { return n[arm] > 1 ? (squares[arm] - sum[arm] * sum[arm] / n[arm]) / (n[arm] - 1) : 0 }
        END {
            if (!n["old"] || !n["new"])
                exit
            old = sum["old"] / n["old"]
            new = sum["new"] / n["new"]
            apart = new > old ? new - old : old - new
            if (apart >= least && apart > 2 * sqrt((variance("old") + variance("new")) / 2))
                printf "this machine was not as busy for both kernels: other programs used %.0f %% of its CPUs while OLD ran, %.0f %% while NEW did; so what differs may be due to that, not to the kernel\n", old, new
            else if (total / all >= least)
                printf "this machine was busy: other programs used %d to %d %% of its CPUs while the guest ran\n", low, high
        }' "$1"
}
