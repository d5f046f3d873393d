# The throughput of streams: a line for each kind of point, with both axes logarithmic. With a peak
# (has_peak), a ring marks the maximum of each line, and a square with the size marks where half of
# it is reached; otherwise each dot is labelled with its value of the setting.
#
#   name.tsv   line (from 1), x, y, valid (1 or 0), mark (0: measured, 1: the peak, 2: half of it), text
#   line_count, lines[], key_rows, key_columns    names
#   x_label, y_label, x_least, x_most, bottom, top
#   tics, tic_at[], tic_labels[]                  of x; 0: gnuplot's own
#   title
set bmargin at screen py(height - 58)
set tmargin at screen py(58 + 19 * key_rows)
set key maxcols key_columns
set logscale xy
set xrange [x_least:x_most]
set yrange [bottom:top]
set xlabel x_label noenhanced offset character 0,0.3
set ylabel y_label noenhanced
set format x "%.10g"
set format y "%.10g"
set grid xtics ytics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
if (tics) {
	set xtics () noenhanced
	do for [i = 1:tics] {
		set xtics add (tic_labels[i] tic_at[i])
	}
}
if (top / bottom < 300) {
	do for [decade = -4:9] {
		set ytics add (2 * 10.**decade, 5 * 10.**decade)
	}
}
if (!tics && x_most / x_least < 300) {
	do for [decade = -4:9] {
		set xtics add (2 * 10.**decade, 5 * 10.**decade)
	}
}
table = name.".tsv"
here(s, m) = column(1) == s && column(5) == m
plot for [s = 1:line_count] table skip 1 using (here(s, 0) ? $2 : NaN):3 with linespoints pointtype point_type(s) \
		pointsize 0.7 linewidth 1.4 linecolor rgb colour(s) title (line_count > 1 ? lines[s] : ""), \
	for [s = 1:line_count] table skip 1 using (here(s, 1) ? $2 : NaN):3 with points pointtype 6 pointsize 2 \
		linewidth 1.5 linecolor rgb colour(s) notitle, \
	for [s = 1:line_count] table skip 1 using (here(s, 2) ? $2 : NaN):3 with points pointtype 4 pointsize 1.5 \
		linewidth 1.5 linecolor rgb colour(s) notitle, \
	for [s = 1:line_count] table skip 1 using (here(s, 2) ? $2 : NaN):3:6 with labels left \
		offset character 1,-0.4 noenhanced textcolor rgb colour(s) font face.",11" notitle, \
	for [s = 1:line_count] table skip 1 using (!has_peak && here(s, 0) ? $2 : NaN):3:6 with labels left \
		offset character 0.7,0.5 noenhanced textcolor rgb colour(s) font face.",10" notitle, \
	table skip 1 using ($4 == 0 ? $2 : NaN):3 with points pointtype 2 pointsize 1.3 linewidth 2 \
		linecolor rgb red notitle
