# What all figures have in common. Names and titles come from specs, so they are only used as values
# of string variables, and never as enhanced text.
#
# Positions are in pixels of the SVG (width x height; the PDF is scaled accordingly), because
# gnuplot's own margins are based on estimated widths of text.
reset
set encoding utf8
set datafile separator "\t"
set decimalsign "."

# Told apart by colour, by the colour-blind, and in grey: the first is dark and filled, the others light with an outline
# or hollow.
array colours[8] = ["#00549f", "#d98200", "#3f8f1e", "#7a6fac", "#0098a1", "#a11035", "#5c4a1f", "#777777"]
array lights[8] = ["#8ebae5", "#fbdca6", "#c4e0b0", "#d3cee6", "#bfe5e7", "#e5bcc5", "#ddd2b6", "#dddddd"]
array point_types[8] = [7, 4, 9, 12, 5, 6, 11, 8]
again(s) = 1 + (s - 1) % 8
colour(s) = colours[again(s)]
light(s) = lights[again(s)]
point_type(s) = point_types[again(s)]
red = "#cc071e"
grey = "#666666"

px(x) = real(x) / width
py(y) = 1 - real(y) / height
left = 92
right = width - 18
set lmargin at screen px(left)
set rmargin at screen px(right)
set tmargin at screen py(56)
set label title at screen px(left),py(18) left noenhanced font face.",14"
set key at screen px(right),py(36) top right horizontal Left reverse samplen 2 width 1 height 0 noenhanced \
	font face.",12"
set border 3 linecolor rgb "#333333" linewidth 1
set tics nomirror out scale 0.6 textcolor rgb "#222222"
set grid ytics linetype 1 linecolor rgb "#dcdcdc" linewidth 0.6
set ylabel offset character 0.5,0
set style fill solid 1 noborder
