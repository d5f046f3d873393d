# The share of the bytes that each flow of a point moved, over the time in which all flows were
# active: a line for each flow, which is the mean of the repetitions, within their range; the dashed
# line is an even share.
#
#   name.tsv   line (from 1), percent of the time, share, least, most, flow; an empty line between flows
#   line_count, lines[], key_rows, key_columns    names; an empty one is not drawn
#   fair                                          an even share
#   title
set bmargin at screen py(height - 58)
set tmargin at screen py(58 + 19 * key_rows)
set key maxcols key_columns
set xrange [0:100]
set yrange [0:100]
set xlabel "time in which all flows were under way [%]" noenhanced offset character 0,0.3
set ylabel "share of the bytes [%]" noenhanced
set grid xtics ytics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
table = name.".tsv"
of(s) = column(1) == s
plot for [s = 1:line_count] table skip 1 using (of(s) ? $2 : NaN):(100 * $4):(100 * $5) with filledcurves \
		fillstyle transparent solid 0.25 noborder fillcolor rgb colour(s) notitle, \
	100 * fair with lines dashtype 2 linewidth 1 linecolor rgb grey notitle, \
	for [s = 1:line_count] table skip 1 using (of(s) ? $2 : NaN):(100 * $3) with linespoints pointtype point_type(s) \
		pointsize 0.5 linewidth 1.5 linecolor rgb colour(s) title lines[s]
