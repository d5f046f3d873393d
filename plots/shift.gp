# The shift function of a point: the change of each quantile, with intervals, and the margin.
#
#   name.tsv   x (from 1), effect, low, high in per cent, for the quantiles that are known
#   points, labels[]    the quantiles
#   bottom, top         of the axis, in per cent
#   margins[]           of each quantile, in per cent; NaN: it is not judged
#   title, subtitle
set bmargin at screen py(height - 58)
set tmargin at screen py(80)
set key at screen px(right),py(60)
set label subtitle at screen px(left),py(39) left noenhanced font face.",12" textcolor rgb "#444444"
set xlabel "quantile" noenhanced offset character 0,0.3
set ylabel "change from BASE to NEW [%]" noenhanced
set xrange [0.4:points + 0.6]
set yrange [bottom:top]
set format y "%+g"
set xtics scale 0.4 () noenhanced font face.",12"
do for [i = 1:points] {
	set xtics add (labels[i] i)
}
do for [i = 1:points] {
	if (margins[i] > 0) {
		set object rectangle from first i - 0.45,first -margins[i] to first i + 0.45,first margins[i] behind \
			fillcolor rgb "#e2ebdc" fillstyle solid 1 noborder
	}
}
set arrow from graph 0,first 0 to graph 1,first 0 nohead back linecolor rgb "#333333" linewidth 1
set bars 0.6
table = name.".tsv"
clip(y) = y < bottom ? bottom : y > top ? top : y
# Intervals that exclude 0 are highlighted.
is_sure(low, high) = low > 0 || high < 0
plot table skip 1 using ($1):($2):(clip($3)):(clip($4)) \
		with yerrorbars pointtype -1 linewidth 1.2 linecolor rgb colour(1) \
		notitle, \
	table skip 1 using ($1):($2) with lines linewidth 1.2 dashtype 2 linecolor rgb colour(1) notitle, \
	table skip 1 using (is_sure($3, $4) ? NaN : $1):($2) with points pointtype 6 pointsize 0.8 linewidth 1.5 \
		linecolor rgb colour(1) title "0 is in the interval", \
	table skip 1 using (is_sure($3, $4) ? $1 : NaN):($2) with points pointtype 7 pointsize 0.9 linecolor rgb red \
		title "0 is not", \
	NaN with boxes fillcolor rgb "#eef3ea" linecolor rgb "#aabba0" fillstyle solid 1 border title "margin of the quantile"
