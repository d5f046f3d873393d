# The mean latency of each point, split into stages: a bar per point, whose parts add up to it.
#
#   name.tsv   row (from 1), then the mean of each stage in nanoseconds
#   rows, labels[]      the points
#   line_count, lines[], key_rows, key_columns    the stages
#   unit_ns, unit, title
set lmargin at screen px(290)
set bmargin at screen py(height - 62)
set tmargin at screen py(50 + 19 * key_rows)
set key maxcols key_columns
set xlabel sprintf("latency [%s]", unit) noenhanced offset character 0,0.3
unset ylabel
set xrange [0:*]
set yrange [0.4:rows + 0.6]
set format x "%.10g"
set ytics scale 0 () noenhanced font face.",12"
do for [i = 1:rows] {
	set ytics add (labels[i] rows + 1 - i)
}
set grid noytics xtics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
table = name.".tsv"
until(stage) = sum [k = 1:stage] column(1 + k)
at(row) = rows + 1 - row
set style fill solid 1 border
plot for [s = 1:line_count] table skip 1 using (until(s) / unit_ns):(at($1)):(until(s - 1) / unit_ns):(until(s) / unit_ns): \
		(at($1) - 0.34):(at($1) + 0.34) with boxxyerror linecolor rgb colour(s) linewidth 0.8 \
		fillcolor rgb (s == 1 ? colour(s) : light(s)) title lines[s]
