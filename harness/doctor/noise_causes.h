/*
 * The names of what takes time from the CPUs: from events of the operating system's kernel while threads spin there
 * (noise/cpu_noise.h), if the doctor may read them.
 */
#ifndef KBLAT_DOCTOR_NOISE_CAUSES_H
#define KBLAT_DOCTOR_NOISE_CAUSES_H

#include "doctor/finding.h"

/* Add to the finding of a check whose data is a list of objects with "cpu": of each "causes", as cpu_noise_causes_json()
 * has them, or null where the kernel may not be traced; and a sentence that names those that had most time. */
void noise_causes_add(unsigned milliseconds, struct finding *f);

#endif
