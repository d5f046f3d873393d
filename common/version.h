/* The version of this build ("1.0.0"), the commit it was built from (followed by "+" if there were uncommitted
 * changes), and the compiler ("gcc 12.2.0"). */
#ifndef KBLAT_VERSION_H
#define KBLAT_VERSION_H

extern const char kblat_version[], kblat_commit[], kblat_compiler[];

#endif
