#include <stddef.h>

#include "measure/program/binary_demangle.h"

char *binary_demangled(const char *name)
{
	(void)name;
	return NULL;
}
