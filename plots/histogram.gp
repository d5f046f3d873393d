# Latencies of one point: 100 bins, logarithmic counts, the medians, and what is over the limit,
# lost or outside of the bins.
#
#   name.tsv   from_ns, to_ns, then one column of counts per series; the first and last rows (without an
#              edge) are the counts outside of the bins
#   low, high, unit_ns, unit, logarithmic         the range in ns, the unit of the axis
#   series_count, series[], median[], median_text[]   median in ns, NaN: none
#   key_rows, key_columns
#   top                                           the upper end of the counts
#   limit                                         in ns, a line if it is in the range
#   bin_text, limit_text                          both with a unit; bin_text: "" if bins differ
#   title, notes                                  text
#   box_left, box_top, box_bottom                 the position of the notes, in pixels
#   invalid, invalid_lines                        text; "" for a point that is valid
set bmargin at screen py(height - 58)
down = 19 * (key_rows - 1)
set tmargin at screen py(56 + down)
set key maxcols key_columns
set xlabel sprintf("latency [%s]", unit) noenhanced offset character 0,0.3
set ylabel "messages per bin".(strlen(bin_text) ? " of ".bin_text : "") noenhanced
set logscale y
set xrange [low / unit_ns:high / unit_ns]
set yrange [0.8:top]
set format y "%.0s%c"
set format x "%g"
if (logarithmic) {
	set logscale x
}

x(from, to) = (logarithmic ? sqrt(real(from) * to) : (from + to) / 2.) / unit_ns
# A bin without messages ends below the axis: 0 has no logarithm.
y(count) = count > 0 ? count : 0.1
at(value) = value / unit_ns

# The first median is red; the others are dashed, in the colour of their series. Lines end below the
# box, and labels next to it.
axis_top = 56 + down
below_box = 1 - (box_bottom - axis_top) / (height - 58 - axis_top)
part(value) = logarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low)
pixel(value) = left + (right - left) * part(value)
if (limit > low && limit < high) {
	set arrow from at(limit),graph 0 to at(limit),graph 1 nohead back linecolor rgb grey linewidth 0.8 \
		dashtype (6,4)
	set label " limit ".limit_text at at(limit),graph (pixel(limit) > box_left - 70 ? below_box - 0.05 : 0.95 - 0.07 * series_count) left front \
		noenhanced textcolor rgb grey font face.",11"
}

do for [s = 1:series_count] {
	if (median[s] >= low && median[s] < high) {
		ink = s == 1 ? red : colour(s)
		dashes = s == 1 ? 1 : 2
		where = pixel(median[s])
		set arrow from at(median[s]),graph 0 to at(median[s]),graph (where > box_left ? below_box : 1) nohead front \
			linewidth 1.5 dashtype dashes linecolor rgb ink
		if (part(median[s]) > 0.45 || where + 130 > box_left) {
			set label "median ".median_text[s]."  " at screen px(where < box_left ? where : box_left), \
				graph (1.02 - 0.07 * s) right front noenhanced textcolor rgb ink
		} else {
			set label "  median ".median_text[s] at at(median[s]),graph (1.02 - 0.07 * s) left front \
				noenhanced textcolor rgb ink
		}
	}
}

set object rectangle from screen px(box_left),py(box_top) to screen px(right - 6),py(box_bottom) front \
	fillcolor rgb "#ffffff" fillstyle solid 1 border linecolor rgb "#999999"
set label notes at screen px(box_left + 8),py(box_top + 14) left front noenhanced font face.",12"

if (strlen(invalid)) {
	set object rectangle from screen px(left),py(190 + down) \
		to screen px(right),py(190 + down + 12 + 19 * invalid_lines) front \
		fillcolor rgb "#fff0f0" fillstyle solid 1 border linecolor rgb red
	set label invalid at screen px((left + right) / 2),py(190 + down + 15) center front noenhanced textcolor rgb red
}

# The first series is filled and in front; the others are behind it in light colours, with outlines
# that remain visible. (gnuplot evaluates the title of a loop even if the loop has no iteration.)
table = name.".tsv"
plot for [s = series_count:2:-1] table skip 1 using (x($1, $2)):(y(column(s + 2))):(at($1)):(at($2)):(0.1): \
		(y(column(s + 2))) with boxxyerror linecolor rgb light(s) notitle, \
	table skip 1 using (x($1, $2)):(y(column(3))):(at($1)):(at($2)):(0.1):(y(column(3))) with boxxyerror \
		linecolor rgb colour(1) notitle, \
	NaN with boxes linecolor rgb colour(1) title series[1], \
	for [s = 2:series_count] NaN with boxes linecolor rgb colour(s) fillcolor rgb light(s) \
		fillstyle solid 1 border title (s > series_count ? "" : series[s]), \
	for [s = 2:series_count] table skip 1 using (x($1, $2)):(y(column(s + 2))) with histeps \
		linecolor rgb colour(s) linewidth 1.4 notitle
