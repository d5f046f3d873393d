/*
 * Checks of the clock and the CPUs.
 */
#ifndef KBLAT_DOCTOR_CPU_CHECKS_H
#define KBLAT_DOCTOR_CPU_CHECKS_H

#include "doctor/check.h"

extern const struct check cpu_checks[];

#endif
