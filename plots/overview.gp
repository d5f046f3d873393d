# All points side by side: the median, P10 to P90, and p99, on a logarithmic axis.
#
#   name.tsv   x, valid (1 or 0), then p10_ns, p50_ns, p90_ns, p99_ns of every series
#   points, labels[], label_every, rotate, label_height     the categories: how many, which have labels, and how
#   line_count, lines[], unit_ns, unit, bottom, top, title, invalid_count
#   key_rows, key_columns
set bmargin at screen py(height - 16 - label_height)
set tmargin at screen py(37 + 19 * key_rows)
set key maxcols key_columns
set ylabel sprintf("latency [%s]", unit) noenhanced
set logscale y
set xrange [0.4:points + 0.6]
set yrange [bottom:top]
set format y "%.10g"
set mytics 10
set grid ytics mytics linetype 1 linecolor rgb "#d4d4d4" linewidth 0.7, linetype 1 linecolor rgb "#eeeeee" linewidth 0.5
set xtics scale 0 () noenhanced font face.",12"
if (rotate) {
	set xtics rotate by 90 right font face.",11"
}
do for [i = 1:points:label_every] {
	set xtics add (labels[i] i)
}

# With few decades, more numbers are needed to read a value.
if (top / bottom < 300) {
	do for [decade = -4:9] {
		set ytics add (2 * 10.**decade, 5 * 10.**decade)
	}
}

# Pixels in units of the axis, so that widths can be limited.
least(a, b) = a < b ? a : b
pixels(n) = n * (points + 0.2) / (right - left)
# The series of a point are side by side, closer together if there are many.
step = least(least(0.34, pixels(42)), 1.02 / line_count)
half = least(least(0.13, pixels(16)), 0.4 * step)
shift(s) = (s - (line_count + 1) / 2.) * step
first(s) = 3 + 4 * (s - 1)
# Where P10 is unknown, the box begins at the median.
p10(s) = column(first(s) + (valid(first(s)) ? 0 : 1)) / unit_ns
p50(s) = column(first(s) + 1) / unit_ns
p90(s) = column(first(s) + 2) / unit_ns
p99(s) = column(first(s) + 3) / unit_ns
table = name.".tsv"
thin = points <= 30 ? 1.2 : 0.8
dot = points <= 30 ? 0.7 : 0.45

set style fill solid 1 border
plot for [s = 1:line_count] table skip 1 using ($1 + shift(s)):(p50(s)):(0):(p99(s) - p50(s)) with vectors nohead \
		linewidth thin linecolor rgb colour(s) notitle, \
	for [s = 1:line_count] table skip 1 using ($1 + shift(s) - half / 2):(p99(s)):(half):(0) with vectors nohead \
		linewidth thin linecolor rgb colour(s) notitle, \
	for [s = 1:line_count] table skip 1 using ($1 + shift(s)):(p50(s)):($1 + shift(s) - half): \
		($1 + shift(s) + half):(p10(s)):(p90(s)) with boxxyerror linecolor rgb colour(s) linewidth 0.8 \
		fillcolor rgb light(s) notitle, \
	for [s = 1:line_count] table skip 1 using ($1 + shift(s)):(p50(s)) with points pointtype point_type(s) \
		pointsize dot linecolor rgb colour(s) title lines[s], \
	table skip 1 using (column(2) == 0 ? $1 : NaN):(bottom) with points pointtype 2 pointsize 0.9 linewidth 2 \
		linecolor rgb red title (invalid_count ? "not valid" : "")
