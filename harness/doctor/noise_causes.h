/*
 * Who takes time from the CPUs, by name: the kernel's events while threads spin there (noise/cpu_noise.h), where the
 * doctor may look at them.
 */
#ifndef KBLAT_DOCTOR_NOISE_CAUSES_H
#define KBLAT_DOCTOR_NOISE_CAUSES_H

#include "doctor/finding.h"

/* Add to the finding of a check whose data is a list of objects with "cpu": of each "causes", as cpu_noise_causes_json()
 * has them, or null where the kernel may not be traced; and a sentence that names those that had most time. */
void noise_causes_add(unsigned milliseconds, struct finding *f);

#endif
