/*
 * Can this machine measure? Runs all checks, one after the other. CPUs spin meanwhile; nothing is changed.
 */
#ifndef KBLAT_DOCTOR_DOCTOR_H
#define KBLAT_DOCTOR_DOCTOR_H

#include "doctor/check.h"

struct err;

/* Call `each` with the name of each check and its finding, which is valid only during the call. 0, or a negative errno
 * and `e`. */
int doctor_examine(void (*each)(const char *name, const struct finding *f, void *context), void *context,
		   struct err *e);

/* The same, with all findings in an array of finding_json(), which the caller owns. */
int doctor_findings(json_t **findings, struct err *e);

#endif
