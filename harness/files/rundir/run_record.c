#include "files/rundir/run_record.h"

#include <stdlib.h>
#include <string.h>

#include "common/codec.h"
#include "common/json.h"
#include "common/or_abort.h"

#define TEXT(member)  CODEC(run_record, member, .flags = CODEC_NEVER_NULL)
#define TEXTS(member) CODEC(run_record, member, .flags = CODEC_ARRAY)

static const struct codec start_rows[] = {
    CODEC(run_start, monotonic_ns), CODEC(run_start, realtime_ns), CODEC(run_start, tai_ns), {0}};

static const struct codec host_rows[] = {
    CODEC(run_host, boot_id),
    CODEC(run_host, roles, .flags = CODEC_ARRAY),
    CODEC(run_host, clock, .flags = CODEC_OPTIONAL),
    {0},
};

static const struct codec record_rows[] = {
    CODEC_SCHEMA,
    TEXT(name),
    TEXT(title),
    TEXT(source),
    TEXT(status),
    TEXT(variant),
    TEXTS(argv),
    TEXT(version),
    TEXT(commit),
    TEXT(started_utc),
    CODEC(run_record, ended_utc),
    CODEC_NESTED("t0", run_record, t0, start_rows),
    CODEC_MAPPED("hosts", run_record, host, hosts, host_rows),
    CODEC(run_record, clock),
    CODEC(run_record, valid),
    TEXTS(reasons),
    TEXTS(warnings),
    CODEC(run_record, command, .flags = CODEC_ARRAY | CODEC_OPTIONAL),
    CODEC(run_record, sysroot, .flags = CODEC_OPTIONAL),
    CODEC(run_record, environment, .flags = CODEC_OPTIONAL),
    CODEC(run_record, points, .flags = CODEC_OBJECT | CODEC_OPTIONAL),
    {0},
};

json_t *run_record_to_json(const struct run_record *r)
{
	return codec_encode(record_rows, r, NULL);
}

struct run_record run_record_from_json(const json_t *j)
{
	struct run_record r = {.name = NULL};

	codec_decode(record_rows, &r, j, NULL);
	return r;
}

void run_record_free(struct run_record *r)
{
	codec_free(record_rows, r);
	*r = (struct run_record){.name = NULL};
}

void run_record_add_host(struct run_record *r, const char *name, const char *boot_id, const char *role,
			 const json_t *clock)
{
	size_t i = 0;

	while (i < r->hosts && strcmp(r->host[i].name, name) != 0)
		i++;
	if (i == r->hosts) {
		r->host = grow_or_abort(r->host, r->hosts, sizeof(*r->host));
		r->host[r->hosts++] =
		    (struct run_host){or_abort(strdup(name)), boot_id ? or_abort(strdup(boot_id)) : NULL, json_array(),
				      json_deep_copy(clock)};
	}
	if (!run_host_is(&r->host[i], role))
		json_array_append_new(r->host[i].roles, json_string(role));
}

bool run_host_is(const struct run_host *h, const char *role)
{
	return json_has_string(h->roles, role);
}

bool run_record_is_quick(const struct run_record *r)
{
	return !strcmp(r->variant, "quick");
}
