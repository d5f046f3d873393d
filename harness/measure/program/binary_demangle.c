#include "measure/program/binary_demangle.h"

#include <libiberty/demangle.h>

char *binary_demangled(const char *name)
{
	/* Whatever does not begin so is a name of C, or one that other languages do not write differently. */
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	return cplus_demangle(name, DMGL_AUTO | DMGL_ANSI | DMGL_PARAMS | DMGL_RET_DROP);
}
