# Medians against a setting whose values are categories: a panel for each service type, a line for
# each kind of point, and error bars from P10 to P90. For paced points, there is a bar below each
# with the steps that were missed (filled) and not sent (hollow, on top).
#
#   name.tsv   panel, line, x (all from 1), valid (1 or 0), p50_ns, p10_ns, p90_ns, missed_share,
#              unsent_share, in the order of the lines
#   steps_height, steps_most                      of the strip of steps, in pixels (0: none); its
#                                                 largest bar, in percent
#   points, labels[], rotate, axis_name           the categories
#   panel_count, panels[], line_count, lines[]    names
#   key_rows, key_columns
#   unit, unit_ns, logarithmic, bottom, top, title, invalid_count

# Distinguishable without colour: by shapes (alternately filled and hollow) and dashes.
array ink[8] = ["#00549f", "#d98200", "#3f8f1e", "#7a6fac", "#000000", "#a11035", "#0098a1", "#777777"]
array shape[8] = [7, 4, 9, 12, 5, 6, 11, 8]
array dashes[8] = [1, 2, 4, 3, 5, 2, 4, 3]

bottom_margin = rotate ? 74 : 58
gap = 16.
middle = (left + right) / 2.
panel_width = (right - left - (panel_count - 1) * gap) / panel_count
step = 0.7 / (line_count + 1)
if (step > 0.14) {
	step = 0.14
}
shift(s) = (s - (line_count + 1) / 2.) * step
here(p, s) = column(1) == p && column(2) == s
x(p, s) = here(p, s) ? column(3) + shift(s) : NaN
y(i) = column(i) / unit_ns
# If a quantile is unknown, there is no bar on its side.
side(i) = valid(i) ? y(i) : y(5)
table = name.".tsv"

floor_of_points = height - bottom_margin - steps_height
set bmargin at screen py(floor_of_points)
set tmargin at screen py(58 + 19 * key_rows + (panel_count > 1 ? 8 : 0))
set xrange [0.4:points + 0.6]
set yrange [bottom:top]
if (logarithmic) {
	set logscale y
	set mytics 10
	set grid ytics mytics linetype 1 linecolor rgb "#d4d4d4" linewidth 0.7, linetype 1 linecolor rgb "#eeeeee" \
		linewidth 0.5
	if (top / bottom < 300) {
		do for [decade = -4:9] {
			set ytics add (2 * 10.**decade, 5 * 10.**decade)
		}
	}
}
set xtics scale 0.4 () noenhanced font face.",12"
if (rotate) {
	set xtics rotate by 90 right font face.",11"
}
do for [i = 1:points] {
	set xtics add ((steps_height ? "" : labels[i]) i)
}
set bars 0.5

set multiplot
do for [p = 1:panel_count] {
	from = left + (p - 1) * (panel_width + gap)
	set lmargin at screen px(from)
	set rmargin at screen px(from + panel_width)
	set label 100 panels[p] at graph 0.5, graph 1.045 center noenhanced font face.",13"
	if (p == 1) {
		set ylabel sprintf("latency [%s]", unit) noenhanced
		set format y "%.10g"
		set label 101 (steps_height ? "" : axis_name) at screen px(middle),py(height - 14) center noenhanced
	} else {
		unset ylabel
		set format y ""
		unset label 101
		unset label 1
	}
	plot for [s = 1:line_count] table skip 1 using (x(p, s)):(y(5)):(side(6)):(side(7)) \
			with yerrorbars pointtype -1 linewidth 1 linecolor rgb ink[s] notitle, \
		for [s = 1:line_count] table skip 1 using (x(p, s)):(y(5)) \
			with linespoints pointtype shape[s] pointsize 0.75 dashtype dashes[s] linewidth 1.3 \
			linecolor rgb ink[s] notitle, \
		table skip 1 using (column(1) == p && column(4) == 0 ? column(3) + shift(column(2)) : NaN):(y(5)) \
			with points pointtype 2 pointsize 1.3 linewidth 2 linecolor rgb red notitle
}

# Below, for the same columns: steps in percent, as bars below their points, with the number above
# if there is room.
if (steps_height) {
	unset logscale
	unset mytics
	unset format
	unset label
	wide = step * 0.8
	pixels_wide = step * panel_width / (points + 0.2)
	percent(i) = 100 * column(i)
	both(p, s) = here(p, s) && column(8) >= 0 ? percent(8) + percent(9) : NaN
	number(p, s) = both(p, s) > 0 ? sprintf(both(p, s) < 9.95 ? "%.2g %%" : "%.0f %%", both(p, s)) : ""
	set tmargin at screen py(floor_of_points + 34)
	set bmargin at screen py(height - bottom_margin)
	set yrange [0:(steps_most > 0 ? steps_most * (pixels_wide >= 9 ? 1.75 : 1.1) : 1)]
	set ytics auto
	set ytics (0, steps_most > 0 ? steps_most : 1)
	set grid ytics linetype 1 linecolor rgb "#d4d4d4" linewidth 0.7
	do for [i = 1:points] {
		set xtics add (labels[i] i)
	}
	do for [p = 1:panel_count] {
		from = left + (p - 1) * (panel_width + gap)
		set lmargin at screen px(from)
		set rmargin at screen px(from + panel_width)
		if (p == 1) {
			set ylabel "steps [%]" noenhanced
			set format y "%.2g"
			set label 101 axis_name at screen px(middle),py(height - 14) center noenhanced
			set label 102 "missed (filled) and not sent (hollow)" \
				at screen px(left),py(floor_of_points + 20) left noenhanced font face.",12"
		} else {
			unset ylabel
			set format y ""
			unset label
		}
		plot for [s = 1:line_count] table skip 1 using (column(9) > 0 ? x(p, s) : NaN):(both(p, s)):(wide) \
				with boxes linecolor rgb ink[s] linewidth 1 fillstyle empty border notitle, \
			for [s = 1:line_count] table skip 1 using (x(p, s)):(percent(8)):(wide) \
				with boxes fillstyle solid 1 noborder linecolor rgb ink[s] notitle, \
			for [s = 1:line_count] table skip 1 using (x(p, s)):(both(p, s)): \
				(pixels_wide >= 9 ? number(p, s) : "") with labels rotate by 90 left \
				offset character 0,0.4 noenhanced textcolor rgb red font face.",10" notitle
	}
}

# The key is above all panels and has the whole width.
if (key_rows) {
	set lmargin at screen px(left)
	set rmargin at screen px(right)
	unset label
	unset border
	unset tics
	unset ylabel
	unset logscale
	set yrange [0:1]
	set key maxcols key_columns
	plot for [s = 1:line_count] NaN with linespoints pointtype shape[s] pointsize 0.75 \
			dashtype dashes[s] linewidth 1.3 linecolor rgb ink[s] \
			title (line_count > 1 ? lines[s] : ""), \
		NaN with points pointtype 2 pointsize 1.3 linewidth 2 linecolor rgb red \
			title (invalid_count ? "not valid" : "")
}
unset multiplot
