#include "tuning/machine/irqs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "tuning/machine/machine.h"

#define TABLE_MAX ((size_t)64 << 20)

char *irqs_path(int number, const char *file, char *buf, size_t size)
{
	snprintf(buf, size, "/proc/irq/%d/%s", number, file);
	return buf;
}

/* "           CPU0       CPU1 …" */
static void read_cpu_numbers(struct irq_table *t, const char *line)
{
	while ((line = strstr(line, "CPU"))) {
		line += 3;
		t->cpus = grow_or_abort(t->cpus, t->cpu_count, sizeof(*t->cpus));
		t->cpus[t->cpu_count++] = atoi(line);
	}
}

/* The names of handlers come last; chip and hardware number before them are hardly useful. */
static void take_name(struct irq *irq, const char *rest)
{
	const char *word = rest;

	rest += strspn(rest, " ");
	/* "PCI-MSI 49153-edge virtio1-requests": the name follows the trigger, if there is one */
	for (const char *p = rest; *p; p++)
		if (!strncmp(p, "-edge", 5) || !strncmp(p, "-level", 6) || !strncmp(p, "-fasteoi", 8) ||
		    !strncmp(p, " Edge", 5) || !strncmp(p, " Level", 6)) {
			word = p + 1;
			word += strcspn(word, " ");
			word += strspn(word, " ");
		}
	if (word == rest || !*word)
		word = rest;
	text_clean(word, strlen(word), irq->name, sizeof(irq->name));
}

static void read_row(struct irq_table *t, char *line)
{
	struct irq irq = {.node = -1};
	char *end, *p = line + strspn(line, " ");

	if (!isdigit((unsigned char)*p))
		return;
	irq.number = (int)strtol(p, &end, 10);
	if (*end != ':')
		return;
	irq.counts = or_abort(calloc(t->cpu_count + 1, sizeof(*irq.counts)));
	p = end + 1;
	for (size_t i = 0; i < t->cpu_count; i++, p = end) {
		irq.counts[i] = strtoull(p, &end, 10);
		irq.total += irq.counts[i];
	}
	take_name(&irq, p);
	t->irqs = grow_or_abort(t->irqs, t->count, sizeof(*t->irqs));
	t->irqs[t->count++] = irq;
}

static int read_irq_cpus(const struct machine *m, int number, const char *file, struct cpulist *out)
{
	char path[64];

	return machine_read_cpus(m, irqs_path(number, file, path, sizeof(path)), out);
}

static void read_places(const struct machine *m, struct irq *irq)
{
	char path[64];
	int64_t node;
	mode_t mode;

	read_irq_cpus(m, irq->number, "smp_affinity_list", &irq->allowed);
	irq->has_effective = !read_irq_cpus(m, irq->number, "effective_affinity_list", &irq->effective) &&
			     cpulist_first(&irq->effective) >= 0;
	irq->is_fixed =
	    !machine_mode(m, irqs_path(irq->number, "smp_affinity_list", path, sizeof(path)), &mode) && !(mode & 0222);
	if (!sysroot_int(&m->root, irqs_path(irq->number, "node", path, sizeof(path)), &node))
		irq->node = (int)node;
}

static void own(struct irq_table *t, const char *number, const char *address)
{
	int n = atoi(number);

	for (size_t i = 0; i < t->count; i++)
		if (t->irqs[i].number == n && !t->irqs[i].device)
			t->irqs[i].device = fs_path("%s", address);
}

static void find_owners(const struct machine *m, struct irq_table *t)
{
	char **devices, **numbers;
	int n = sysroot_list(&m->root, "/sys/bus/pci/devices", NULL, &devices);

	for (int i = 0; i < n; i++) {
		char *path = fs_path("/sys/bus/pci/devices/%s/msi_irqs", devices[i]);
		int count = sysroot_list(&m->root, path, "[0-9]*", &numbers);

		for (int k = 0; k < count; k++)
			own(t, numbers[k], devices[i]);
		if (count >= 0)
			sysroot_names_free(numbers);
		free(path);
	}
	if (n >= 0)
		sysroot_names_free(devices);
}

int irqs_read(const struct machine *m, struct irq_table *t, bool devices)
{
	char *text, *rest, *line;
	int rc = sysroot_read(&m->root, "/proc/interrupts", TABLE_MAX, &text, NULL);

	*t = (struct irq_table){0};
	if (rc)
		return rc;
	rest = text;
	line = strsep(&rest, "\n");
	read_cpu_numbers(t, line);
	while ((line = strsep(&rest, "\n")))
		read_row(t, line);
	free(text);
	for (size_t i = 0; i < t->count; i++)
		read_places(m, &t->irqs[i]);
	if (devices)
		find_owners(m, t);
	return 0;
}

void irqs_free(struct irq_table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->irqs[i].counts);
		free(t->irqs[i].device);
	}
	free(t->irqs);
	free(t->cpus);
	*t = (struct irq_table){0};
}

static void add_names(const struct machine *m, const char *address, const char *class, char *buf, size_t size)
{
	char *path = fs_path("/sys/bus/pci/devices/%s/%s", address, class), **names;
	int n = sysroot_list(&m->root, path, NULL, &names);

	for (int i = 0; i < n; i++) {
		size_t used = strlen(buf);

		snprintf(buf + used, size - used, "%s%s", used ? " " : "", names[i]);
	}
	if (n >= 0)
		sysroot_names_free(names);
	free(path);
}

char *irqs_device_names(const struct machine *m, const char *address, char *buf, size_t size)
{
	buf[0] = '\0';
	add_names(m, address, "infiniband", buf, size);
	add_names(m, address, "net", buf, size);
	add_names(m, address, "nvme", buf, size);
	return buf;
}
