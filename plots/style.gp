# What all figures share. Names and titles come from specs: they are only ever values of string variables, and never
# enhanced text.
#
# Everything is placed in pixels of the SVG (width x height; the PDF scales with it), since gnuplot's own margins only
# guess how wide text is.
reset
set encoding utf8
set datafile separator "\t"
set decimalsign "."

# Told apart by colour, by the colour-blind, and in grey: the first is dark and filled, the others light with an outline
# or hollow.
array colour[4] = ["#00549f", "#d98200", "#3f8f1e", "#7a6fac"]
array light[4] = ["#8ebae5", "#fbdca6", "#c4e0b0", "#d3cee6"]
array point_type[4] = [7, 4, 9, 12]
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
