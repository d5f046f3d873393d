# Latencies of two points: as a histogram of one (histogram.gp).
load plots."/histogram.gp"
