#include "measure/run/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "measure/run/channel.h"
#include "measure/run/host_state.h"

#define LOOKS		8 /* readings of its tick counter; the quickest answer counts */
#define STOP_MS		3000
#define LEAST_HZ	1e3 /* minimum frequency of a tick counter */
#define MOST_HZ		1e12
#define HOST_NAME_BYTES 200

void hosts_init(struct hosts *h, bool mask, const volatile sig_atomic_t *interrupted)
{
	*h = (struct hosts){.mask = mask, .interrupted = interrupted, .label = json_object(), .warnings = json_array()};
}

static void free_host(struct host *host)
{
	free(host->name);
	free(host->boot_id);
	free(host->launcher);
	json_decref(host->clock);
}

void hosts_free(struct hosts *h)
{
	for (size_t i = 0; i < h->count; i++)
		free_host(&h->list[i]);
	free(h->list);
	json_decref(h->label);
	json_decref(h->warnings);
	*h = (struct hosts){.count = 0};
}

/* --- names --- */

const char *hosts_label(struct hosts *h, const char *name)
{
	const char *known = json_string_value(json_object_get(h->label, name));
	char label[32];

	if (!h->mask || known)
		return known ? known : name;
	snprintf(label, sizeof(label), "host-%zu", json_object_size(h->label) + 1);
	json_object_set_new(h->label, name, json_string(label));
	return json_string_value(json_object_get(h->label, name));
}

static bool is_taken(const struct hosts *h, const char *name)
{
	for (size_t i = 0; i < h->count; i++)
		if (!strcmp(h->list[i].name, name))
			return true;
	return !strcmp(name, h->own);
}

/* The name becomes that of a folder. Two hosts may have the same name, such as machines made from
 * the same image. */
static char *name_of(struct hosts *h, const char *said)
{
	char plain[HOST_NAME_BYTES], name[HOST_NAME_BYTES + 16];

	snprintf(plain, sizeof(plain), "%s", *said && *said != '.' ? said : "host");
	for (char *p = plain; *p; p++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *p))
			*p = '_';
	snprintf(name, sizeof(name), "%s", plain);
	for (unsigned n = 2; is_taken(h, hosts_label(h, name)); n++)
		snprintf(name, sizeof(name), "%s-%u", plain, n);
	return or_abort(strdup(hosts_label(h, name)));
}

/* --- adding a host --- */

const struct host *hosts_find(const struct hosts *h, const char *boot_id)
{
	for (size_t i = 0; h && i < h->count; i++)
		if (!strcmp(h->list[i].boot_id, boot_id))
			return &h->list[i];
	return NULL;
}

/* Its ticks at t0: the quickest of several queries counts, and the answer is assumed to be from its middle. */
static int align(struct host *host, struct channel *c, const struct clock_conversion *own, double hz, struct err *e)
{
	int64_t quickest = INT64_MAX;

	for (int i = 0; i < LOOKS; i++) {
		const int64_t asked = clock_to_ns(own, clock_ticks_begin());
		json_t *reply;
		int rc = channel_ask(c, json_pack("{s:s}", "type", "ticks"), "ticks", &reply, e);
		const int64_t took = clock_to_ns(own, clock_ticks_end()) - asked;

		if (rc)
			return rc;
		if (took < quickest) {
			const int64_t ticks = json_integer_value(json_object_get(reply, "ticks"));
			struct clock_conversion from = clock_conversion_from(ticks > 0 ? ticks : 0, hz);

			quickest = took;
			from.origin -= clock_from_ns(&from, asked + took / 2);
			host->conversion = from;
		}
		json_decref(reply);
	}
	return 0;
}

static int calibrate(struct host *host, struct channel *c, const struct clock_conversion *own, struct err *e)
{
	json_t *reply;
	double hz;
	int rc = channel_ask(c, json_pack("{s:s}", "type", "calibrate"), "calibrated", &reply, e);

	if (rc)
		return rc;
	host->clock = json_incref(json_object_get(reply, "clock"));
	json_decref(reply);
	hz = json_number_or_nan(host->clock, "hz");
	if (hz != 0 && !(hz >= LEAST_HZ && hz < MOST_HZ))
		return err_set(e, -EPROTO, STATUS_FAILED, c->name, NULL, "endpoint's clock report cannot be read");
	return align(host, c, own, hz, e);
}

static void add_warning(struct hosts *h, const char *host, const struct err *e)
{
	json_array_append_new(h->warnings, json_sprintf("%s: %s", host, e->text));
}

static void keep_host_state(struct hosts *h, const struct host *host, struct channel *c, const char *when)
{
	struct err e = ERR_INIT;

	if (host_state_take(c, h->run_path, host->name, when, h->mask, &e))
		add_warning(h, host->name, &e);
}

int hosts_meet(struct hosts *h, struct channel *c, const char *launcher, struct err *e)
{
	const char *boot_id = json_text(c->hello, "boot_id");
	struct host host;
	int rc;

	if (hosts_find(h, boot_id))
		return 0;
	host = (struct host){.name = name_of(h, json_text(c->hello, "host")),
			     .boot_id = or_abort(strdup(boot_id)),
			     .launcher = or_abort(strdup(launcher ? launcher : ""))};
	rc = calibrate(&host, c, &h->conversion, e);
	if (rc) {
		free_host(&host);
		return rc;
	}
	h->list = or_abort(realloc(h->list, (h->count + 1) * sizeof(*h->list)));
	h->list[h->count++] = host;
	if (!h->no_state)
		keep_host_state(h, &host, c, "before");
	return 0;
}

/* --- after the run --- */

static void keep_after(struct hosts *h, const struct host *host)
{
	json_t *nothing = json_array();
	struct channel c;
	struct err e = ERR_INIT;
	int rc = channel_start(&c, host->name, host->launcher, NULL, &e);

	c.interrupted = h->interrupted;
	if (!rc)
		do
			rc = channel_greet(&c, &e);
		while (rc == -EINTR);
	if (!rc && strcmp(json_text(c.hello, "boot_id"), host->boot_id))
		rc = err_set(&e, -ESTALE, STATUS_FAILED, NULL, NULL,
			     "its launcher leads to another host, or the host was started again meanwhile");
	if (!rc)
		keep_host_state(h, host, &c, "after");
	channel_stop(&c, STOP_MS);
	if (!rc)
		rc = machine_state_keep_changes(h->run_path, host->name, nothing, &e);
	if (rc)
		add_warning(h, host->name, &e);
	json_decref(nothing);
}

void hosts_keep_after(struct hosts *h)
{
	for (size_t i = 0; !h->no_state && i < h->count; i++)
		keep_after(h, &h->list[i]);
}
