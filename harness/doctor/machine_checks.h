/*
 * Checks of memory, devices, programs, and of what earlier runs left behind.
 */
#ifndef KBLAT_DOCTOR_MACHINE_CHECKS_H
#define KBLAT_DOCTOR_MACHINE_CHECKS_H

#include "doctor/check.h"

extern const struct check machine_checks[];

#endif
