# Latencies of two points, drawn like the histogram of one (histogram.gp).
load plots."/histogram.gp"
