# Every series of a point by percentile, on HdrHistogram's axis, and the share of messages that took at
# least a time, both axes logarithmic.
#
#   name.tsv   line (from 1), rank, ns: that many messages took at least as long; the slowest first
#   line_count, lines[], key_rows, key_columns    the series
#   counts[], most_samples                        the samples of each, and the largest of these numbers (at least 10)
#   unit, unit_ns, bottom, top, title
gap = 84
half = (right - left - gap) / 2.
table = name.".tsv"
of(s) = column(1) == s
set tmargin at screen py(58 + 19 * key_rows)
set bmargin at screen py(height - 58)
set grid xtics ytics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
set format "%.10g"
set multiplot
set lmargin at screen px(left)
set rmargin at screen px(left + half)
set key at screen px(right),py(36) maxcols key_columns
set logscale xy
set xrange [1:most_samples]
set yrange [bottom:top]
set xlabel "percentile" noenhanced offset character 0,0.3
set ylabel sprintf("latency [%s]", unit) noenhanced
set xtics ("0" 1, "50" 2, "90" 10, "99" 100, "99.9" 1e3, "99.99" 1e4, "99.999" 1e5, "99.9999" 1e6, "99.99999" 1e7)
plot for [s = 1:line_count] table skip 1 using (of(s) ? counts[s] / $2 : NaN):($3 > 0 ? $3 / unit_ns : NaN) with lines linewidth 1.5 \
	linecolor rgb colour(s) title lines[s]
unset label
unset key
set lmargin at screen px(left + half + gap)
set rmargin at screen px(right)
set xrange [bottom:top]
set yrange [0.8 / most_samples:1.2]
set xlabel sprintf("latency [%s]", unit) noenhanced offset character 0,0.3
set ylabel "share of messages at least this slow" noenhanced
set xtics auto
set xtics nomirror out scale 0.6
set format y "%.0e"
plot for [s = 1:line_count] table skip 1 using (of(s) && $3 > 0 ? $3 / unit_ns : NaN):($2 / counts[s]) with lines linewidth 1.5 \
	linecolor rgb colour(s) notitle
unset multiplot
