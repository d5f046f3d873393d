# All pairs of hosts: a square for each pair, whose colour is the time; it is crossed if the pair or
# one of its hosts stands out.
#
#   name.tsv   x, y (hosts, from 1), value_ns (NaN: not measured), times (0: does not stand out), source, sink
#   hosts, name_count, names[]        names if there is room for all, otherwise none
#   unit, unit_ns, least, most        of the colours
#   title
set lmargin at screen px(92)
set rmargin at screen px(width - 150)
set tmargin at screen py(64)
set bmargin at screen py(height - 110)
unset key
unset grid
set border 0
set tics scale 0
set size ratio -1
set xrange [0.5:hosts + 0.5]
set yrange [hosts + 0.5:0.5]
if (name_count) {
	set xtics () rotate by 90 right noenhanced font face.",10"
	set ytics () noenhanced font face.",10"
	do for [i = 1:name_count] {
		set xtics add (names[i] i)
		set ytics add (names[i] i)
	}
} else {
	set xlabel "host" noenhanced
	set ylabel "host" noenhanced
}
# Darker is slower, also when printed in grey.
set palette defined (0 "#e3eef9", 0.35 "#8ebae5", 0.7 "#2f6fb0", 1 "#0b2545")
set logscale cb
set cbrange [least:(most > least ? most : least * 1.1)]
if (most / least < 300) {
	do for [decade = -3:9] {
		set cbtics add (2 * 10.**decade, 5 * 10.**decade)
	}
}
set format cb "%.3g"
set cbtics font face.",11"
set colorbox user origin screen px(width - 120),py(height - 110) size screen 18. / width,real(height - 174) / height
set cblabel sprintf("[%s]", unit) noenhanced
table = name.".tsv"
plot table skip 1 using 1:2:($3 / unit_ns) with image pixels, \
	table skip 1 using ($4 > 0 ? $1 : NaN):2 with points pointtype 2 pointsize 0.9 linewidth 1.6 linecolor rgb red
