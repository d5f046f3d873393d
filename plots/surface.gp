# Medians against two settings whose values are categories: a surface with its wire frame, labels
# for the smallest and the largest value, and a mark for every point. Paced points are green, or red
# with the share of failed steps if that is large.
#
#   name.tsv   x, y (from 1), valid (1 or 0), p50_ns, missed_share, unsent_share; empty if nothing
#              was measured; an empty line between rows of one y
#   x_count, x_labels[], x_name, y_count, y_labels[], y_name     the categories
#   min_x, min_y, min_ns, min_text, max_...       the marks
#   unit, unit_ns, bottom, top, title
#   steps_share, paced_count, invalid_count       the share from which on points are red; the number of
#                                                 points with steps, and of those not valid
table = name.".tsv"
z(i) = column(i) / unit_ns

# Room below the minimum for text; without tics.
room = 0.12 * (top - bottom)
scale = 10.**floor(log10((top - bottom) / 5))
steps = (top - bottom) / 5 / scale
tic = scale * (steps < 1.5 ? 1 : steps < 3.5 ? 2 : steps < 7.5 ? 5 : 10)

unset lmargin
unset rmargin
unset bmargin
unset tmargin
set view 60,35,0.97,0.93
set size 0.97,0.97
set origin -0.02,0
set xyplane at bottom - room
set xrange [1:x_count]
set yrange [1:y_count]
set zrange [bottom - room:top]
set cbrange [min_ns / unit_ns:(max_ns > min_ns ? max_ns : min_ns + 1) / unit_ns]
# Darker is larger, also when printed in grey.
set palette defined (0 "#e3eef9", 0.5 "#a9c8e6", 1 "#4f86bf")
set pm3d depthorder corners2color mean border linecolor rgb "#1a2f45" linewidth 0.8
set xtics scale 0.4 () noenhanced offset character 0,-0.4 font face.",12"
set ytics scale 0.4 () noenhanced offset character 0.6,-0.3 font face.",12"
set ztics scale 0.4 tic * ceil(bottom / tic),tic noenhanced font face.",12"
do for [i = 1:x_count] {
	set xtics add (x_labels[i] i)
}
do for [i = 1:y_count] {
	set ytics add (y_labels[i] i)
}
set border 127+256+512 linecolor rgb "#999999" linewidth 0.7
set grid xtics ytics ztics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
set xlabel x_name noenhanced offset character 0,-1.2
set ylabel y_name noenhanced offset character 2,-1
set zlabel sprintf("median [%s]", unit) noenhanced rotate parallel offset character -1,0
unset key
set style textbox opaque noborder fillcolor rgb "#ffffff" margins 0.4,0.2
set colorbox user origin screen 0.92,screen 0.25 size screen 0.022,screen 0.5
set cbtics font face.",11"
set format cb "%g"

steps_of(i) = column(5) + column(6)
is_paced(i) = valid(5) && valid(6)
is_large(i) = is_paced(i) && steps_of(i) >= steps_share
is_small(i) = is_paced(i) && steps_of(i) < steps_share
green = "#1f7a1f"
if (paced_count) {
	set label sprintf("steps missed or not sent: less than %g %% (green dots), more (red diamonds)", \
		100 * steps_share) at screen px(left),py(40) left noenhanced font face.",12"
}
if (invalid_count) {
	set label sprintf("x: not valid (%d)", invalid_count) at screen px(right),py(40) right noenhanced \
		textcolor rgb red font face.",12"
}

set multiplot
splot table skip 1 using 1:2:(z(4)):(z(4)) with pm3d

# Marks and labels are drawn in a second plot, because the surface would hide those behind it.
unset border
unset xtics
unset ytics
unset ztics
unset grid
unset xlabel
unset ylabel
unset zlabel
unset colorbox
unset label
set label min_text at min_x,min_y,(min_ns / unit_ns) center front boxed noenhanced \
	offset character 0,1.1 font face.",12"
set label max_text at max_x,max_y,(max_ns / unit_ns) center front boxed noenhanced \
	offset character 0,1.1 font face.",12"
# Distinguishable without colour by shape: round and diamond.
splot table skip 1 using (is_paced(0) ? NaN : $1):2:(z(4)) \
		with points pointtype 7 pointsize 0.5 linecolor rgb "#000000", \
	table skip 1 using (is_small(0) ? $1 : NaN):2:(z(4)) \
		with points pointtype 7 pointsize 0.8 linecolor rgb green, \
	table skip 1 using (is_large(0) ? $1 : NaN):2:(z(4)) \
		with points pointtype 13 pointsize 0.9 linecolor rgb red, \
	table skip 1 using (column(3) == 0 ? $1 : NaN):2:(z(4)) with points pointtype 2 pointsize 1.2 linewidth 2 \
		linecolor rgb red, \
	table skip 1 using (is_large(0) ? $1 : NaN):2:(z(4)):(sprintf("%.0f %%", 100 * steps_of(0))) with labels boxed \
		offset character 0,-1.1 noenhanced textcolor rgb red font face.",11"
unset multiplot
