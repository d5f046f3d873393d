# The late messages of a flow, the slowest first: how many are at least this slow, each a dot in the
# colour of its cause.
#
#   name.tsv   rank (from 1), ns, colour (1 to 8), cause; increasingly fewer if there are many
#   causes[8], key_rows, key_columns     names of the colours; an empty one is not used
#   series, unit, unit_ns, bottom, top, count
#   title
set bmargin at screen py(height - 58)
set tmargin at screen py(58 + 19 * key_rows)
set key maxcols key_columns
set logscale xy
set xrange [0.8:1.25 * count]
set yrange [bottom:top]
set format x "%.10g"
set format y "%.10g"
set xlabel "number of messages that were at least this slow" noenhanced offset character 0,0.3
set ylabel sprintf("%s [%s]", series, unit) noenhanced
set grid xtics ytics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
if (top / bottom < 300) {
	do for [decade = -4:9] {
		set ytics add (2 * 10.**decade, 5 * 10.**decade)
	}
}
table = name.".tsv"
plot for [c = 1:8] table skip 1 using (column(3) == c ? $1 : NaN):($2 / unit_ns) with points pointtype point_type(c) \
		pointsize 0.6 linewidth 1.2 linecolor rgb colour(c) title causes[c]
