#include "measure/point/point.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "common/or_abort.h"

/* --- names of flows --- */

static bool point_is_flow_name(const char *name)
{
	return strlen(name) < FLOW_NAME_MAX && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] &&
	       *name != '-';
}

static int check_flow_name(const char *name, const char *const *before, size_t count, char *why, size_t why_size)
{
	char owner[64];

	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, before[i])) {
			snprintf(why, why_size, "names the flow '%s' twice", name);
			return -EINVAL;
		}
	if (!point_is_flow_name(name))
		snprintf(why, why_size, "must be names of up to %d characters from a-z, 0-9, _ and -, not '%s'",
			 FLOW_NAME_MAX - 1, name);
	else if (setting_find_anywhere(name, owner, sizeof(owner)) || !strcmp(name, "kernel") ||
		 !strcmp(name, "transport"))
		snprintf(why, why_size, "names a flow '%s', which is the name of a setting", name);
	else
		return 0;
	return -EINVAL;
}

int point_cut_flows(char *text, const char **names, size_t *count, char *why, size_t why_size)
{
	char *state = NULL;
	int rc = 0;

	*count = 0;
	for (char *name = strtok_r(text, " ,", &state); name && !rc; name = strtok_r(NULL, " ,", &state)) {
		if (*count == POINT_FLOWS_MAX) {
			snprintf(why, why_size, "names more than %d flows", POINT_FLOWS_MAX);
			return -EINVAL;
		}
		rc = check_flow_name(name, names, *count, why, why_size);
		names[(*count)++] = name;
	}
	if (!rc && !*count) {
		snprintf(why, why_size, "names no flow");
		return -EINVAL;
	}
	return rc;
}

/* --- decoding --- */

/* The settings of one flow as in a point with only this flow. */
static json_t *params_of_flow(const json_t *params, const char *name)
{
	size_t length = strlen(name);
	json_t *own = json_object(), *value;
	const char *key;

	json_object_foreach ((json_t *)params, key, value) {
		if (!strncmp(key, name, length) && key[length] == '.')
			json_object_set(own, key + length + 1, value);
		else if (!strchr(key, '.') && !opt_find(flow_options, key))
			json_object_set(own, key, value);
	}
	return own;
}

static int load_flow(struct point *p, const char *name, json_t *own, struct err *e)
{
	struct err why = ERR_INIT;
	int rc = flow_load(&p->flow[p->flow_count++], name, own, &why);

	json_decref(own);
	if (!rc)
		return 0;
	return *name ? err_set(e, rc, why.status, NULL, NULL, "flow %s: %s", name, why.text)
		     : err_set(e, rc, why.status, NULL, NULL, "%s", why.text);
}

static int load_flows(struct point *p, struct err *e)
{
	const char *names[POINT_FLOWS_MAX];
	char why[256];
	struct flow_settings s;
	size_t count;
	int rc = opt_load(flow_options, p->params, &s, e);

	if (rc)
		return rc;
	rc = point_cut_flows(s.flows, names, &count, why, sizeof(why));
	if (rc)
		return err_set(e, rc, STATUS_USAGE, NULL, NULL, "the parameter 'flows' %s", why);
	p->until = (enum until)s.until;
	p->flow = or_abort(calloc(count, sizeof(*p->flow)));
	for (size_t i = 0; !rc && i < count; i++)
		rc = load_flow(p, names[i], params_of_flow(p->params, names[i]), e);
	return rc;
}

static int load_only_flow(struct point *p, struct err *e)
{
	p->flow = or_abort(calloc(1, sizeof(*p->flow)));
	return load_flow(p, "", json_incref(p->params), e);
}

int point_load(struct point *p, unsigned id, json_t *params, struct err *e)
{
	int rc;

	*p = (struct point){.id = id, .params = json_incref(params)};
	rc = json_object_get(params, "flows") ? load_flows(p, e) : load_only_flow(p, e);
	if (rc)
		return rc;
	p->repetitions = p->flow[0].common.repetitions;
	p->rounds = p->flow[0].common.rounds < p->repetitions ? p->flow[0].common.rounds : p->repetitions;
	p->fresh = p->flow[0].common.fresh;
	if (*p->flow[0].common.environment == '.' || strchr(p->flow[0].common.environment, '/'))
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL,
			       "'environment' must be the name of a profile, not a path; 'kblat run --profile-path "
			       "DIR' names a folder to search");
	if (strcmp(p->flow[0].common.environment, ENVIRONMENT_NONE))
		snprintf(p->environment, sizeof(p->environment), "%s", p->flow[0].common.environment);
	return 0;
}

void point_free(struct point *p)
{
	for (size_t i = 0; i < p->flow_count; i++)
		flow_free(&p->flow[i]);
	free(p->flow);
	json_decref(p->params);
	*p = (struct point){.id = 0};
}

/* --- flows that wait for others --- */

static int64_t backups_of(const struct flow *f)
{
	return f->kernel->backups ? f->kernel->backups(f->kernel_settings) : 0;
}

/* Each of its writes is stored by all backups, so all must have as many. */
static void check_backups(const struct point *p, const struct flow *server,
			  void (*complain)(void *arg, const struct flow *f, const char *why), void *arg)
{
	char why[256];
	int64_t count = 0;

	for (size_t i = 0; i < p->flow_count; i++) {
		const struct flow *f = &p->flow[i];

		if (!f->kernel->backs_up)
			continue;
		count++;
		if (f->config.schedule.messages == server->config.schedule.messages &&
		    f->common.warmup == server->common.warmup)
			continue;
		snprintf(why, sizeof(why),
			 "its `messages` and `warmup` must be those of the flow '%s', whose backup it is",
			 server->name);
		complain(arg, f, why);
	}
	if (count == backups_of(server))
		return;
	snprintf(why, sizeof(why), "backups %lld, but the point has %lld flows with the kernel backup",
		 (long long)backups_of(server), (long long)count);
	complain(arg, server, why);
}

void point_check(const struct point *p, void (*complain)(void *arg, const struct flow *f, const char *why), void *arg)
{
	const struct flow *server = NULL, *backup = NULL;

	for (size_t i = 0; i < p->flow_count; i++) {
		const struct flow *f = &p->flow[i];

		flow_check(f, complain, arg);
		if (backups_of(f) && server)
			complain(arg, f, "only one flow of a point can have backups");
		if (backups_of(f))
			server = f;
		if (f->kernel->backs_up)
			backup = f;
	}
	if (server)
		check_backups(p, server, complain, arg);
	else if (backup)
		complain(arg, backup, "no flow of the point has `backups`, so it would wait forever");
}

/* --- questions --- */

bool point_explains(const struct point *p)
{
	for (size_t i = 0; i < p->flow_count; i++)
		if (p->flow[i].common.explain != EXPLAIN_NO)
			return true;
	return false;
}

bool point_has_flows(const struct point *p)
{
	return p->flow_count > 0 && *p->flow[0].name;
}

/* The bytes that each post moves to and from the sink, if they can be compared with the bytes on the wire. */
static json_t *wire_json(const struct flow *f)
{
	const json_int_t size = (json_int_t)f->config.size;
	const json_int_t back = (json_int_t)transport_answer_bytes(&f->config);

	if (!f->transport->has_wire || f->config.is_idle)
		return NULL;
	return json_pack("{s:I, s:I, s:b}", "out_bytes", f->traits.sends ? size : 0, "in_bytes",
			 f->traits.fetches || f->config.duplex ? back : 0, "fetches", f->traits.fetches);
}

/* What is left out does not apply. */
static json_t *rules_json(const struct flow *f)
{
	struct kernel_rules r = {.missed_limit_ppm = -1};

	if (f->kernel->rules)
		f->kernel->rules(f->kernel_settings, &r);
	return json_pack("{s:s, s:o*, s:o*, s:o*, s:o*, s:o*}", "page_faults",
			 !f->common.touch	 ? "measured"
			 : r.expects_page_faults ? "expected"
						 : "wrong",
			 "polls", f->common.poll == POLL_BUSY ? json_true() : NULL, "yields",
			 r.yields ? json_true() : NULL, "stores", r.stores ? json_true() : NULL, "restamps",
			 r.restamps ? json_true() : NULL, "missed_limit_ppm",
			 r.missed_limit_ppm >= 0 ? json_integer(r.missed_limit_ppm) : NULL);
}

static json_t *traits_json(const struct flow *f)
{
	return json_pack("{s:b, s:b, s:b, s:o*, s:o*, s:o*, s:o*, s:o, s:o}", "reliable", f->traits.is_reliable,
			 "own_clock", f->transport->has_own_clock, "device",
			 f->transport->has_device && !f->config.is_idle, "wire", wire_json(f), "passive",
			 f->config.is_passive ? json_true() : NULL, "alone", f->config.is_idle ? json_true() : NULL,
			 "block", f->config.schedule.block > 1 ? json_integer(f->config.schedule.block) : NULL,
			 "checks", checks_json(f->transport->checks, !f->config.is_idle), "rules", rules_json(f));
}

json_t *point_json(const struct point *p)
{
	json_t *traits = point_has_flows(p) ? json_object() : traits_json(&p->flow[0]);

	for (size_t i = 0; point_has_flows(p) && i < p->flow_count; i++)
		json_object_set_new(traits, p->flow[i].name, traits_json(&p->flow[i]));
	return json_pack("{s:I, s:O, s:o}", "id", (json_int_t)p->id, "params", p->params, "traits", traits);
}

char *point_side_name(const struct flow *f, enum role side, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s", f->name, *f->name ? " " : "", role_names[side]);
	return buf;
}
