# The worst messages of a flow, one below the other: what took the CPU of the source (above) and of
# the sink (below), from a little before the message was sent (0 %) until a little after it arrived
# (100 %). Grey: the endpoint itself.
#
#   name.tsv   message (from 1), side (1: source, 2: sink), from_percent, to_percent, colour (1 to 8), from_ns, length_ns, cause
#   messages, took[], which[], known[]    the duration of each, its name, and for which sides (two each) there are data
#   around                                per cent shown before and after
#   causes[8], key_rows, key_columns      names of the colours; an empty one is not used
#   title
set bmargin at screen py(height - 58)
set tmargin at screen py(50 + 19 * key_rows)
set rmargin at screen px(width - 76)
set key maxcols key_columns
set xrange [-around:100 + around]
set yrange [-messages - 0.5:-0.5]
set xlabel "share of the time in flight [%]" noenhanced offset character 0,0.3
unset ylabel
set border 1
set ytics scale 0 () noenhanced
middle(side) = 0.06 - 0.3 * (side - 1)
half = 0.12
do for [m = 1:messages] {
	set ytics add (took[m] -m)
	set label which[m] at 0,-m + 0.32 left offset character 0.4,0 noenhanced font face.",11" textcolor rgb grey
	do for [side = 1:2] {
		set object rectangle from -around,-m + middle(side) - half to 100 + around,-m + middle(side) + half \
			behind fillcolor rgb "#eeeeee" fillstyle solid (known[2 * m - 2 + side] ? 1 : 0) noborder
		set label known[2 * m - 2 + side] ? (side == 1 ? "source" : "sink") : "not known" \
			at graph 1.008,first -m + middle(side) left noenhanced font face.",11" textcolor rgb grey
	}
}
set arrow from 0,graph 0 to 0,graph 1 nohead dashtype 2 linecolor rgb grey
set arrow from 100,graph 0 to 100,graph 1 nohead dashtype 2 linecolor rgb grey
set grid xtics noytics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
set style fill solid 1 border
table = name.".tsv"
lane(m, side) = -m + middle(side)
plot for [c = 1:8] table skip 1 using (column(5) == c ? ($3 + $4) / 2 : NaN):(lane($1, $2)):3:4: \
		(lane($1, $2) - half):(lane($1, $2) + half) with boxxyerror fillcolor rgb colour(c) linecolor rgb colour(c) \
		linewidth 0.5 title causes[c]
