/* What this build is: "0.1.0", and the commit it was built from ("+" at its end: with changes of
 * its own). */
#ifndef KBLAT_VERSION_H
#define KBLAT_VERSION_H

extern const char kblat_version[], kblat_commit[];

#endif
