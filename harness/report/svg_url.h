/*
 * Figures within a page.
 */
#ifndef KBLAT_REPORT_SVG_URL_H
#define KBLAT_REPORT_SVG_URL_H

#include <stddef.h>
#include <stdio.h>

/*
 * Write an SVG as a data: URL, for an attribute with double quotes. It is a fraction of the SVG in
 * base64: most of a figure are paths with thousands of points, which are written as relative steps of
 * tenths of a pixel. Line breaks with their indentation become a space, or nothing between two tags.
 * Anything that is not as gnuplot writes it is kept as it is.
 */
void svg_url_write(FILE *out, const char *svg, size_t size);

#endif
