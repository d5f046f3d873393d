/* Names of functions as their language writes them. */
#ifndef KBLAT_PROGRAM_BINARY_DEMANGLE_H
#define KBLAT_PROGRAM_BINARY_DEMANGLE_H

#include <stdbool.h>

/* "std::sort(int*)" of "_ZSt4sort…", without the type that it returns, and likewise of Rust (both of its ways), or NULL; the
 * caller frees. Always NULL without libiberty. */
char *binary_demangled(const char *name);

/* Is it the function's name, as it is linked or as it is written? Parameters, template arguments and what follows those
 * (const) may be missing; blanks do not count. */
bool binary_is_named(const char *symbol, const char *name);

#endif
