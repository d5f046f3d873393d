# Boots (or runs) of two arms in chronological order: the value of each, the runs of which it is the
# mean, and the means of the arms.
#
#   name.tsv   x (from 1), arm (1: BASE, 2: NEW), value of the boot, value of the run; in ns or as a share
#   points, what                          the number of boots, and the word for one
#   base_name, with_name, base_level, with_level
#   unit, unit_ns, bottom, top, title
set bmargin at screen py(height - 58)
set tmargin at screen py(70)
set ylabel sprintf("[%s]", unit) noenhanced
set xlabel what."s in order of time" noenhanced offset character 0,0.3
set xrange [0.4:points + 0.6]
set yrange [bottom:top]
set format y "%.10g"
set xtics scale 0.4 font face.",12"
table = name.".tsv"
of(arm, y) = int(column(2)) == arm ? y / unit_ns : NaN
set arrow from graph 0,first base_level / unit_ns to graph 1,first base_level / unit_ns nohead back linewidth 1.2 \
	dashtype 2 linecolor rgb colour(1)
set arrow from graph 0,first with_level / unit_ns to graph 1,first with_level / unit_ns nohead back linewidth 1.2 \
	dashtype 2 linecolor rgb colour(2)
plot table skip 1 using 1:(of(1, $4)) with points pointtype 7 pointsize 0.35 linecolor rgb light(1) notitle, \
	table skip 1 using 1:(of(2, $4)) with points pointtype 7 pointsize 0.35 linecolor rgb light(2) notitle, \
	table skip 1 using 1:(of(1, $3)) with points pointtype point_type(1) pointsize 0.9 linecolor rgb colour(1) \
		title base_name, \
	table skip 1 using 1:(of(2, $3)) with points pointtype point_type(2) pointsize 0.9 linewidth 1.6 \
		linecolor rgb colour(2) title with_name
