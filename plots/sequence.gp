# Latencies of one repetition against the index of the message: the whole repetition above, a
# typical and the worst section below, with a line after each period.
#
#   name.tsv   panel (1: everything, reduced to extremes if it is long; 2: typical; 3: worst), message (from 1), ns
#   count, typical, worst, length, period   entries; where the sections begin (from 0), and their length
#   series, unit_ns, unit, bottom, top, title
set ylabel sprintf("%s [%s]", series, unit) noenhanced
set yrange [bottom:top]
set format y "%.10g"
set format x "%.0f"
unset key
table = name.".tsv"
in(panel) = column(1) == panel ? (column(3) / unit_ns > top ? top : column(3) / unit_ns) : NaN
begin = ("1 ".sprintf("%d %d", typical + 1, worst + 1))
end = sprintf("%d %d %d", count, typical + length, worst + length)
names = "'the whole repetition' 'a typical stretch' 'the worst stretch'"
panel_height = (height - 56 - 12) / 3.
set multiplot
do for [i = 1:3] {
	unset label
	unset arrow
	if (i == 1) {
		set label title at screen px(left),py(18) left noenhanced font face.",14"
	}
	set tmargin at screen py(56 + (i - 1) * panel_height)
	set bmargin at screen py(56 + i * panel_height - (i < 3 ? 58 : 46)) # room for the name of the next panel
	first_of = real(word(begin, i))
	last_of = real(word(end, i))
	# Dots are very short lines with round ends: an SVG has all of them in one path, and points one by one.
	hair = 0.2 * 1.02 * (last_of - first_of) / (right - left)
	set label word(names, i) at graph 0,1 offset character 0.5,0.6 left noenhanced font face.",12"
	set xrange [first_of - 0.01 * (last_of - first_of):last_of + 0.01 * (last_of - first_of)]
	if (i == 3) {
		set xlabel "message of the repetition" noenhanced offset character 0,0.3
	} else {
		unset xlabel
	}
	if (i > 1) {
		do for [at = 1:int((last_of - first_of) / period)] {
			set arrow from first_of - 0.5 + at * period,graph 0 to first_of - 0.5 + at * period,graph 1 nohead back \
				linecolor rgb "#bbbbbb" linewidth 0.8 dashtype (4,4)
		}
		plot table skip 1 using 2:(in(i)) with lines linewidth 0.6 linecolor rgb light(1), \
			table skip 1 using 2:(in(i)):(hair):(0) with vectors nohead linewidth 3 linecolor rgb colour(1)
	} else {
		plot table skip 1 using 2:(in(i)):(hair):(0) with vectors nohead linewidth 2.5 linecolor rgb colour(1)
	}
}
unset multiplot
