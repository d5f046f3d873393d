/* What this build is: "0.1.0", the commit it was built from ("+" at its end: with changes of its
 * own), and what compiled it ("gcc 12.2.0"). */
#ifndef KBLAT_VERSION_H
#define KBLAT_VERSION_H

extern const char kblat_version[], kblat_commit[], kblat_compiler[];

#endif
