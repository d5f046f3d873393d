#include "doctor/check.h"

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/temporary.h"
#include "common/units.h"
#include "measure/instrument/discipline.h"
#include "measure/transports/verbs_device.h"

#define SHM	  "/dev/shm"
#define HUGEPAGES "/sys/kernel/mm/hugepages"

enum {
	LOCK_WANTED_MIB = 64, /* columns of two million messages, and buffers */
	LOCK_NEEDED_MIB = 1,  /* to register even small buffers */
	SHM_WANTED_MIB = 64,
	SHM_NEEDED_MIB = 4,
	LEFTOVERS_SHOWN = 3,
};

/* Would the kernel allow this much to be locked? Checked without faulting in any pages. */
static bool can_lock(size_t mib)
{
	size_t size = mib << 20;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool can;

	if (p == MAP_FAILED)
		return false;
	can = !mlock2(p, size, MLOCK_ONFAULT);
	munmap(p, size);
	return can;
}

static void check_memlock(const struct host *h, struct finding *f)
{
	struct rlimit limit = {0, 0};
	bool wanted = can_lock(LOCK_WANTED_MIB), needed = wanted || can_lock(LOCK_NEEDED_MIB);

	(void)h;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	finding_add(f, "%d MiB can%s be locked; the limit is ", wanted || !needed ? LOCK_WANTED_MIB : LOCK_NEEDED_MIB,
		    needed ? "" : "not");
	if (limit.rlim_cur == RLIM_INFINITY)
		finding_add(f, "unlimited");
	else
		finding_add(f, "%llu KiB%s", (unsigned long long)limit.rlim_cur / 1024,
			    wanted && limit.rlim_cur >> 20 < LOCK_WANTED_MIB ? ", which does not apply to this process"
									     : "");
	f->data = json_pack("{s:o, s:b, s:b}", "limit_bytes",
			    limit.rlim_cur == RLIM_INFINITY ? json_null() : json_integer((json_int_t)limit.rlim_cur),
			    "can_lock_64MiB", wanted, "can_lock_1MiB", needed);
	if (!needed)
		finding_raise(
		    f, LEVEL_WARN,
		    "verbs cannot register buffers, and pages of stamps may be swapped out: ulimit -l unlimited");
	else if (!wanted)
		finding_raise(
		    f, LEVEL_WARN,
		    "larger runs cannot lock their stamps: raise the limit with ulimit -l (limits.conf: memlock)");
}

/* Huge pages of every size, and whether transparent ones are created in the background. */
static void check_hugepages(const struct host *h, struct finding *f)
{
	char **sizes, policy[64] = "unknown", *chosen;
	int n = sysroot_list(&h->root, HUGEPAGES, NULL, &sizes);

	f->data = json_object();
	for (int i = 0; i < n; i++) {
		char path[256];
		int64_t all = 0, unused = 0;

		snprintf(path, sizeof(path), HUGEPAGES "/%.64s/nr_hugepages", sizes[i]);
		sysroot_int(&h->root, path, &all);
		snprintf(path, sizeof(path), HUGEPAGES "/%.64s/free_hugepages", sizes[i]);
		sysroot_int(&h->root, path, &unused);
		finding_add(f, "%s%lld of %s free", i ? ", " : "", (long long)unused,
			    sizes[i] + strcspn(sizes[i], "0123456789"));
		json_object_set_new(f->data, sizes[i],
				    json_pack("{s:I, s:I}", "all", (json_int_t)all, "free", (json_int_t)unused));
	}
	if (n >= 0)
		sysroot_names_free(sizes);
	sysroot_line(&h->root, "/sys/kernel/mm/transparent_hugepage/enabled", policy, sizeof(policy));
	chosen = strchr(policy, '[');
	chosen = chosen ? chosen + 1 : policy;
	chosen[strcspn(chosen, "]")] = '\0';
	finding_add(f, "%stransparent huge pages: %s", n > 0 ? "; " : "", chosen);
	json_object_set_new(f->data, "transparent", json_string(chosen));
	if (!strcmp(chosen, "always"))
		finding_raise(f, LEVEL_WARN,
			      "compaction and khugepaged disturb the longest latencies: echo madvise > "
			      "/sys/kernel/mm/transparent_hugepage/enabled");
}

static void check_shm(const struct host *h, struct finding *f)
{
	unsigned long long bytes = 0;
	struct statfs fs;
	struct err e = ERR_INIT;

	(void)h;
	if (statfs(SHM, &fs) || access(SHM, W_OK | X_OK) || fs_free_bytes(SHM, &bytes, &e)) {
		finding_add(f, "cannot be used: %s", e.status ? e.text : strerror(errno));
		finding_raise(f, LEVEL_BAD, "stamps are kept there: mount -t tmpfs -o mode=1777 tmpfs " SHM);
		return;
	}
	finding_add(f, "%llu MiB free%s", bytes >> 20, fs.f_type == TMPFS_MAGIC ? "" : ", but not a tmpfs");
	f->data = json_pack("{s:I, s:b}", "free_bytes", (json_int_t)bytes, "tmpfs", fs.f_type == TMPFS_MAGIC);
	if (bytes >> 20 < SHM_NEEDED_MIB)
		finding_raise(f, LEVEL_BAD, "stamps need space: free some, or mount -o remount,size=1G " SHM);
	if (fs.f_type != TMPFS_MAGIC)
		finding_raise(
		    f, LEVEL_WARN,
		    "stamps in files on a disk are written back during the measurement: mount a tmpfs on " SHM);
	if (bytes >> 20 < SHM_WANTED_MIB)
		finding_raise(f, LEVEL_WARN, "larger runs will not fit: mount -o remount,size=1G " SHM);
}

static bool is_active_port(const json_t *port)
{
	return strcasestr(json_text(port, "state"), "active") != NULL;
}

static void tell_ports(const json_t *list, struct finding *f)
{
	size_t i, active = 0;
	const json_t *port;

	json_array_foreach (list, i, port) {
		const char *error = json_string_value(json_object_get(port, "error"));

		finding_add(f, "%s%s port %lld: ", i ? "; " : "", json_text_or(port, "name", "unknown"),
			    (long long)json_integer_value(json_object_get(port, "port")));
		if (error)
			finding_add(f, "cannot be opened (%s)", error);
		else
			finding_add(f, "%s, %s, driver %s", json_text_or(port, "state", "unknown"),
				    json_text_or(port, "link_layer", "unknown"),
				    json_text_or(port, "driver", "unknown"));
		active += !error && is_active_port(port);
	}
	if (!active)
		finding_raise(f, LEVEL_WARN, "no port is active: check the cable, the subnet manager, or `rdma link`");
}

static void check_rdma(const struct host *h, struct finding *f)
{
	json_t *list = verbs_devices();

	(void)h;
	f->data = list;
	if (json_array_size(list)) {
		tell_ports(list, f);
		return;
	}
	finding_add(f, "none");
	finding_raise(f, LEVEL_WARN,
		      "`make run`, in kblat's source, uses a guest with a Soft-RoCE device: it shows that everything "
		      "works, and ratios");
}

/* Synchronised time is only needed for `clock: ptp` and `clock: system` between two hosts. */
static void check_time(const struct host *h, struct finding *f)
{
	struct discipline d;
	struct err ptp = ERR_INIT, chrony = ERR_INIT;
	char error[32];

	(void)h;
	if (discipline_ask_ptp(&d, &ptp) && discipline_ask_chrony(&d, &chrony)) {
		finding_add(f, "synchronised by neither linuxptp nor chrony (%s)", chrony.text);
		return;
	}
	f->data = discipline_json(&d);
	finding_add(f, "synchronised by %s, %s %s, error as reported there: %s", d.by,
		    d.is_source ? "from itself," : "from", d.reference,
		    unit_human_ns(d.error_ns, error, sizeof(error)));
}

static void check_gnuplot(const struct host *h, struct finding *f)
{
	char *path = fs_program("gnuplot");
	bool found = path;

	(void)h;
	free(path);
	finding_add(f, found ? "installed" : "not installed");
	f->data = json_pack("{s:b}", "found", found);
	if (!found)
		finding_raise(f, LEVEL_WARN, "reports will have no figures: apt-get install gnuplot-nox");
}

/*
 * The process that made "kblat-<uid>-<pid>-<random>" (a recorder's scratch directory) or
 * "kblat-<uid>-<16 hex digits>-<pid>" (shared memory of a transport), or -1.
 */
static long owner_of(const char *name)
{
	unsigned uid;
	char id[17], rest[8];
	int pid;

	if (sscanf(name, "kblat-%u-%16[0-9a-f]-%d", &uid, id, &pid) == 3 && strlen(id) == 16)
		return pid;
	return sscanf(name, "kblat-%u-%d-%1s", &uid, &pid, rest) == 3 ? pid : -1;
}

static bool is_left_over(const char *name)
{
	long pid = owner_of(name);

	return pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH;
}

static void find_left_in(const struct host *h, const char *folder, struct finding *f)
{
	char **names;
	const int n = sysroot_list(&h->root, folder, "kblat-*", &names);

	for (int i = 0; i < n; i++) {
		const size_t count = json_array_size(f->data);

		if (!is_left_over(names[i]))
			continue;
		if (count < LEFTOVERS_SHOWN)
			finding_add(f, "%s%s/%s", count ? ", " : "", folder, names[i]);
		json_array_append_new(f->data, strcmp(folder, SHM) != 0 ? json_sprintf("%s/%s", folder, names[i])
									: json_string(names[i]));
	}
	if (n >= 0)
		sysroot_names_free(names);
}

static void check_leftovers(const struct host *h, struct finding *f)
{
	size_t count;

	f->data = json_array();
	find_left_in(h, SHM, f);
	if (strcmp(temporary_place(), SHM) != 0)
		find_left_in(h, temporary_place(), f);
	count = json_array_size(f->data);
	if (!count) {
		finding_add(f, "none");
		return;
	}
	if (count > LEFTOVERS_SHOWN)
		finding_add(f, " and %zu more", count - LEFTOVERS_SHOWN);
	finding_raise(
	    f, LEVEL_WARN,
	    "left by runs that were killed; NumPy can read the stamps in them; remove them with rm -r if not needed");
}

/* They trace on, which takes time from what is measured. */
static void check_traces(const struct host *h, struct finding *f)
{
	const int removed = h->traces_removed;

	f->data = json_pack("{s:i}", "removed", removed);
	if (!removed)
		finding_add(f, "none is left of a run that was killed");
	else
		finding_add(f, "%d removed, left by runs that were killed; %s traced until now", removed,
			    removed == 1 ? "it" : "they");
}

const struct check machine_checks[] = {
    {"locked memory", check_memlock}, {"huge pages", check_hugepages},	 {SHM, check_shm},
    {"RDMA devices", check_rdma},     {"time of day", check_time},	 {"gnuplot", check_gnuplot},
    {"leftovers", check_leftovers},   {"trace instances", check_traces}, {NULL, NULL},
};
