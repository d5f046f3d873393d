#include "state/sources_list.h"

#include <stdio.h>

#include "state/read_cpusets.h"
#include "state/read_file.h"
#include "state/read_holders.h"
#include "state/read_kernel.h"
#include "state/read_netdev.h"
#include "state/read_software.h"
#include "state/read_sysctls.h"
#include "state/read_threads.h"
#include "state/sources.h"

/* How a row is read. */
static const struct {
	state_reader *read;
	const char *how;
} readers[] = {
    {read_file, "file"},
    {read_link, "link"},
    {read_mode, "permissions"},
    {read_holders, "open descriptors"},
    {read_cpusets, "control groups"},
    {read_sysctls, "folder"},
    {read_threads, "threads"},
    {read_config, "kernel configuration"},
    {read_kernel_log, "system call"},
    {read_ntp, "system call"},
    {read_smis, "register"},
    {read_ethtool, "ioctl"},
    {read_environment, "environment"},
    {read_program, "loaded objects"},
    {read_tuned, "profiles"},
};

static const char *how_read(const struct state_source *s)
{
	for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
		if (s->read == readers[i].read)
			return readers[i].how;
	return "as part of another row";
}

static json_t *row_json(const struct state_source *s)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s*, s:b}", "key", s->key, "group", s->group, "class",
			 state_class_name(s->class), "how", how_read(s), "path", s->path, "needs_root", s->needs_root);
}

json_t *sources_list_json(void)
{
	json_t *rows = json_array();

	for (const struct state_source *s = state_sources; s->group; s++)
		json_array_append_new(rows, row_json(s));
	return json_pack("{s:i, s:o}", "schema", 1, "sources", rows);
}

void sources_list_print(void)
{
	printf("%-44s  %-11s  %-4s  %-20s  %s\n", "KEY", "CLASS", "ROOT", "HOW", "PATH");
	for (const struct state_source *s = state_sources; s->group; s++) {
		char key[256];

		snprintf(key, sizeof(key), "%s.%s", s->group, s->key);
		printf("%-44s  %-11s  %-4s  %-20s  %s\n", key, state_class_name(s->class), s->needs_root ? "yes" : "no",
		       how_read(s), s->path ? s->path : "");
	}
}
