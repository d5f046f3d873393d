# Latencies of all repetitions folded by a period: the median of each phase, with P10 to P90. Phases
# that stand out are red above the base and hollow below.
#
#   name.tsv   phase (from 1), p10_ns, p50_ns, p90_ns, out (1: above, -1: below, 0: neither)
#   period, base       in ns
#   series, unit_ns, unit, bottom, top, title
set bmargin at screen py(height - 58)
set xlabel sprintf("message in a period of %d", period) noenhanced offset character 0,0.3
set ylabel sprintf("%s [%s]", series, unit) noenhanced
set xrange [0.4:period + 0.6]
set yrange [bottom:top]
set format x "%.0f"
set format y "%.10g"
unset key
set arrow from graph 0,first base / unit_ns to graph 1,first base / unit_ns nohead back linecolor rgb grey linewidth 0.8 \
	dashtype (6,4)
table = name.".tsv"
at(i) = column(i) / unit_ns
dot = period <= 256 ? 0.6 : 0.3
plot table skip 1 using 1:(at(2)):(0):(at(4) - at(2)) with vectors nohead linewidth 1.2 linecolor rgb light(1), \
	table skip 1 using 1:($5 == 0 ? at(3) : NaN) with points pointtype 7 pointsize dot linecolor rgb colour(1), \
	table skip 1 using 1:($5 > 0 ? at(3) : NaN) with points pointtype 13 pointsize dot * 1.4 linecolor rgb red, \
	table skip 1 using 1:($5 < 0 ? at(3) : NaN) with points pointtype 6 pointsize dot linecolor rgb colour(3)
