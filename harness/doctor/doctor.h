/*
 * Can this machine measure? All checks, one after the other. CPUs spin meanwhile; nothing is
 * changed.
 */
#ifndef KBLAT_DOCTOR_DOCTOR_H
#define KBLAT_DOCTOR_DOCTOR_H

#include "doctor/finding.h"

struct err;

/* Call `each` with a check's name and what it found, which is gone afterwards. 0, or a negative
 * errno and `e`. */
int doctor_examine(void (*each)(const char *name, const struct finding *f, void *context), void *context,
		   struct err *e);

/* All of it as an array of finding_json(), which the caller owns; the same result. */
int doctor_findings(json_t **findings, struct err *e);

#endif
