# Builds in chronological order: the value of each, the level between changes, and the changes.
#
#   name.tsv   x (from 1), value, level, in ns or as a share
#   points, labels[]                       kernels, "" if it is that of the previous build
#   changes, change_at[], change_text[]    between which builds, and by how much
#   unit, unit_ns, bottom, top, title
set bmargin at screen py(height - 132)
set tmargin at screen py(70)
set ylabel sprintf("[%s]", unit) noenhanced
set xrange [0.4:points + 0.6]
set yrange [bottom:top]
set format y "%.10g"
set xtics scale 0.4 () noenhanced rotate by 90 right font face.",11"
do for [i = 1:points] {
	if (strlen(labels[i])) {
		set xtics add (labels[i] i)
	}
}
do for [i = 1:changes] {
	set arrow from first change_at[i],graph 0 to first change_at[i],graph 1 nohead front linewidth 1.3 dashtype 2 \
		linecolor rgb red
	set label change_text[i] at first change_at[i],graph 1.035 center front noenhanced \
		textcolor rgb red font face.",12"
}
table = name.".tsv"
# A level ends where the next begins.
at(x, level) = level / unit_ns
plot table skip 1 using ($1 - 0.5):(at($1, $3)):(1):(0) with vectors nohead linewidth 2.2 linecolor rgb light(1) \
		title "level", \
	table skip 1 using 1:(at($1, $2)) with points pointtype 7 pointsize 0.8 linecolor rgb colour(1) title "build"
