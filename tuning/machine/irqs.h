/*
 * The interrupts of a machine: where they fire, and who may change that.
 */
#ifndef KBLAT_TUNING_IRQS_H
#define KBLAT_TUNING_IRQS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cpulist.h"

struct machine;

struct irq {
	int number;
	char name[128]; /* of its handlers, as /proc/interrupts has it */
	uint64_t total;
	uint64_t *counts; /* one for each of irq_table's CPUs */
	struct cpulist allowed, effective;
	bool has_effective;
	bool is_fixed; /* mode 0444: the kernel does not let anybody move it */
	int node;      /* -1: none */
	char *device;  /* PCI address, or NULL */
};

struct irq_table {
	struct irq *irqs;
	size_t count;
	int *cpus; /* the columns of /proc/interrupts */
	size_t cpu_count;
};

/* Interrupts with a handler. 0 or a negative errno. `devices`: also find out to which device each belongs. */
int irqs_read(const struct machine *m, struct irq_table *t, bool devices);
void irqs_free(struct irq_table *t);

/* "/proc/irq/N/FILE"; returns `buf`. */
char *irqs_path(int number, const char *file, char *buf, size_t size);

/* The names of the RDMA devices and interfaces of a PCI function ("mlx5_0 ens1"). Returns `buf`. */
char *irqs_device_names(const struct machine *m, const char *address, char *buf, size_t size);

#endif
