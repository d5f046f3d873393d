#include "spec/spec_claims_reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/diag.h"
#include "common/yaml.h"

void claim_reader_complain(struct claim_reader *r, const struct ynode *at, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	diag_add(r->d, at->line, at->column, "%s", text);
}
