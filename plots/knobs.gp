# The effect of each knob of a profile alone, and of leaving it out: a row per knob, with intervals.
#
#   name.tsv   row (from 1, the whole profile first), effect, low, high of the knob alone, whether the
#              interval is joint (1) or for the quantity alone (0); the same for the whole profile
#              without the knob; in per cent
#   rows, labels[]      the knobs
#   reach, margin       the end of the axis, and the harmless change, in per cent
#   title
set lmargin at screen px(280)
set bmargin at screen py(height - 62)
set tmargin at screen py(70)
set key at screen px(right),py(48)
set xlabel "change of latency: alone, from no profile; left out, from the whole profile [%]" noenhanced offset character 0,0.3
unset ylabel
set xrange [-reach:reach]
set yrange [0.4:rows + 0.6]
set format x "%+g"
set ytics scale 0 () noenhanced font face.",12"
do for [i = 1:rows] {
	set ytics add (labels[i] rows + 1 - i)
}
set grid noytics xtics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
set object rectangle from first -margin,graph 0 to first margin,graph 1 behind fillcolor rgb "#eef3ea" \
	fillstyle solid 1 noborder
set arrow from first 0,graph 0 to first 0,graph 1 nohead back linecolor rgb "#333333" linewidth 1
set bars 0.6
table = name.".tsv"
clip(x) = x < -reach ? -reach : x > reach ? reach : x
at(row, side) = rows + 1 - row + side
is(joint, x) = joint == 1 ? x : NaN
not(joint, x) = joint == 0 ? x : NaN
plot table skip 1 using (clip(is($5, $2))):(at($1, 0.15)):(clip($3)):(clip($4)) with xerrorbars \
		pointtype point_type(1) pointsize 0.8 linewidth 1.2 linecolor rgb colour(1) title "alone", \
	table skip 1 using (clip(not($5, $2))):(at($1, 0.15)):(clip($3)):(clip($4)) with xerrorbars \
		pointtype point_type(1) pointsize 0.8 linewidth 1.2 dashtype 3 linecolor rgb light(1) notitle, \
	table skip 1 using (clip(is($9, $6))):(at($1, -0.15)):(clip($7)):(clip($8)) with xerrorbars \
		pointtype point_type(2) pointsize 0.8 linewidth 1.2 linecolor rgb colour(2) title "left out", \
	table skip 1 using (clip(not($9, $6))):(at($1, -0.15)):(clip($7)):(clip($8)) with xerrorbars \
		pointtype point_type(2) pointsize 0.8 linewidth 1.2 dashtype 3 linecolor rgb light(2) notitle, \
	NaN with boxes fillcolor rgb "#eef3ea" linecolor rgb "#aabba0" fillstyle solid 1 border title "margin"
