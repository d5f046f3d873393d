/*
 * The style sheet of all pages.
 */
#ifndef KBLAT_REPORT_HTML_STYLE_H
#define KBLAT_REPORT_HTML_STYLE_H

extern const char html_style[];

#endif
