/*
 * All operations. Their names are in journals, and so stay as they are.
 */
#ifndef KBLAT_TUNING_OPS_H
#define KBLAT_TUNING_OPS_H

#include "tuning/steps/step.h"

extern const struct op op_affinity; /* moves threads away from some CPUs */
extern const struct op op_bind;	    /* the driver of a network card */
extern const struct op op_card;	    /* what the driver of a network card lets be set */
extern const struct op op_cpuset;   /* a control group with CPUs and memory */
extern const struct op op_drain;    /* version 1: programs leave the root cpuset for another one */
extern const struct op op_file;	    /* a value in a file */
extern const struct op op_irq;	    /* the affinity of an interrupt */
extern const struct op op_latency;  /* /dev/cpu_dma_latency, held open */
extern const struct op op_pause;    /* a daemon that is paused */
extern const struct op op_tuned;    /* a tuned profile */

/* NULL if there is none with that name. */
const struct op *ops_find(const char *name);

#endif
