#include "tuning/apply/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/json.h"

void output_json(json_t *all, const char *type, enum output output)
{
	json_t *line;
	char *text;

	if (output == OUTPUT_LINE) {
		line = json_pack("{s:s}", "type", type);
		json_object_update(line, all);
		text = json_shown(line, JSON_COMPACT);
		puts(text ? text : "");
		free(text);
		fflush(stdout);
		json_decref(line);
	} else {
		json_print(all, stdout);
	}
	json_decref(all);
}

/* A reader that has gone (EPIPE) does not want to know. */
void output_settle(const char *format, ...)
{
	char cause[256], text[512];
	va_list ap;
	int rc = fflush(stdout) ? -errno : ferror(stdout) ? -EIO : 0;

	if (!rc || rc == -EPIPE)
		return;
	err_cause(rc, cause, sizeof(cause));
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fprintf(stderr, "kbtune: %s, but standard output cannot be written: %s\n", text, cause);
}

char *output_times(double all_s, double tuned_s, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%.2g s", all_s - tuned_s);

	if (tuned_s > 0 && n > 0 && (size_t)n < size)
		snprintf(buf + n, size - (size_t)n, ", and tuned took %.2g s", tuned_s);
	return buf;
}

void output_add_times(json_t *all, double all_s, double tuned_s)
{
	json_object_set_new(all, "took_us", json_integer((json_int_t)(1e6 * (all_s - tuned_s))));
	json_object_set_new(all, "tuned_took_us", json_integer((json_int_t)(1e6 * tuned_s)));
}
