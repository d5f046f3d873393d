# Draws one figure in every format. Its variables are set; `kind` is the name of its script, `name`
# that of its files.
ends = kind eq "sequence" ? "rounded" : "butt"
do for [format in "svg pdf"] {
	if (format eq "svg") {
		face = "sans-serif"
		set terminal svg noenhanced @ends fixed size width,height font "sans-serif,13" background rgb "#ffffff"
	} else {
		if (!strstrt(GPVAL_TERMINALS, "pdfcairo")) {
			break
		}
		face = "Sans"
		set terminal pdfcairo noenhanced @ends color size (width / 50.) cm,(height / 50.) cm font "Sans,13" \
			fontscale 0.43 background rgb "#ffffff"
	}
	set output name.".".format
	load plots."/style.gp"
	load plots."/".kind.".gp"
	set output
}
