# A claim's ratios along a setting, as categories: a line for each kind of case, with intervals. The
# claim's bounds are shaded, and 1, which means no difference, is a line.
#
#   name.tsv   line, x (both from 1), ratio, low, high, holds (1 or 0; empty: not decided)
#   points, labels[], rotate, axis_name           the categories
#   line_count, lines[], key_rows, key_columns    names
#   bound_least, bound_most, wanted               the bounds, and their text
#   top, title
bottom_margin = rotate ? 74 : 58
set bmargin at screen py(height - bottom_margin)
set tmargin at screen py(58 + 19 * key_rows)
set key maxcols key_columns
set xrange [0.4:points + 0.6]
set yrange [0:top]
set xlabel axis_name noenhanced offset character 0,0.3
set ylabel "ratio" noenhanced
set xtics scale 0.4 () noenhanced font face.",12"
if (rotate) {
	set xtics rotate by 90 right font face.",11"
}
do for [i = 1:points] {
	set xtics add (labels[i] i)
}
step = 0.5 / (line_count + 1)
if (step > 0.1) {
	step = 0.1
}
shift(s) = (s - (line_count + 1) / 2.) * step
set object rectangle from graph 0,first bound_least to graph 1,first bound_most behind fillcolor rgb "#eef3ea" \
	fillstyle solid 1 noborder
set arrow from graph 0,first 1 to graph 1,first 1 nohead back linecolor rgb "#333333" linewidth 1
set label wanted at graph 0.01,first bound_most offset character 0,-0.7 left noenhanced textcolor rgb grey font face.",11"
set bars 0.6
table = name.".tsv"
x(s) = column(1) == s ? column(2) + shift(s) : NaN
clip(y) = y > top ? top : y
plot for [s = 1:line_count] table skip 1 using (x(s)):($3):($4):(clip($5)) with yerrorbars pointtype -1 linewidth 1.2 \
		linecolor rgb colour(s) notitle, \
	for [s = 1:line_count] table skip 1 using (x(s)):($3) with linespoints pointtype point_type(s) pointsize 0.8 \
		linewidth 1.4 linecolor rgb colour(s) title (line_count > 1 ? lines[s] : ""), \
	for [s = 1:line_count] table skip 1 using ($6 == 0 ? x(s) : NaN):($3) with points pointtype 2 pointsize 1.3 \
		linewidth 2 linecolor rgb red notitle, \
	for [s = 1:line_count] table skip 1 using (valid(6) ? NaN : x(s)):($3) with points pointtype 6 pointsize 1.6 \
		linewidth 1.2 linecolor rgb grey notitle
