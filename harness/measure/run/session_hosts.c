#include "measure/run/session_hosts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"
#include "measure/run/preflight.h"

const char *session_hosts_boot(const struct peer *p)
{
	return json_text(p->channel.hello, "boot_id");
}

bool session_peer_is_local(const struct session *s, const struct peer *p)
{
	return *session_hosts_boot(p) && !strcmp(session_hosts_boot(p), s->run->boot_id);
}

bool session_flow_is_apart(const struct session *s, size_t flow)
{
	return strcmp(session_hosts_boot(&s->peer[2 * flow]), session_hosts_boot(&s->peer[2 * flow + 1])) != 0;
}

bool session_is_local(const struct session *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!session_peer_is_local(s, &s->peer[i]))
			return false;
	return true;
}

const char *session_hosts_name(const struct session *s, const struct peer *p)
{
	const struct host *other = hosts_find(s->run->hosts, session_hosts_boot(p));
	const char *said = json_text_or(p->channel.hello, "host", "?");

	if (other)
		return other->name;
	return s->run->hosts ? hosts_label(s->run->hosts, said) : said;
}

json_t *session_hosts(const struct session *s)
{
	json_t *hosts = json_object();

	for (size_t i = 0; i < s->count; i++) {
		const struct peer *p = &s->peer[i];
		const struct host *other = hosts_find(s->run->hosts, session_hosts_boot(p));
		const char *name = session_hosts_name(s, p);
		json_t *host = json_object_get(hosts, name), *roles;

		if (!host) {
			host = json_pack("{s:O, s:[], s:O*}", "boot_id", json_object_get(p->channel.hello, "boot_id"),
					 "roles", "clock", other ? other->clock : NULL);
			json_object_set_new(hosts, name, host);
		}
		roles = json_object_get(host, "roles");
		if (!json_has_string(roles, role_names[p->role]))
			json_array_append_new(roles, json_string(role_names[p->role]));
	}
	return hosts;
}

/* With `fresh`, endpoints are started again; a launcher without a fixed host may then choose another one. */
int session_hosts_meet(struct session *s, struct peer *p, struct err *e)
{
	if (*p->host && strncmp(p->host, session_hosts_boot(p), sizeof(p->host) - 1) != 0)
		return err_set(e, -ESTALE, STATUS_FAILED, p->name, NULL,
			       "its launcher leads to another host each time; it must name one");
	snprintf(p->host, sizeof(p->host), "%s", session_hosts_boot(p));
	if (!s->run->hosts || session_peer_is_local(s, p))
		return 0;
	return hosts_meet(s->run->hosts, &p->channel, s->run->launcher[p->role], e);
}

/* The number of endpoints on the host of this one; 0 if this is not the first of them. */
static size_t endpoints_there(const struct session *s, size_t first)
{
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (strcmp(session_hosts_boot(&s->peer[i]), session_hosts_boot(&s->peer[first])) != 0)
			continue;
		if (i < first)
			return 0;
		count++;
	}
	return count;
}

int session_hosts_check_room(const struct session *s, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; !rc && s->run->hosts && i < s->count; i++) {
		struct peer *p = &s->peer[i];
		const size_t endpoints = session_peer_is_local(s, p) ? 0 : endpoints_there(s, i);

		if (endpoints)
			rc = preflight_elsewhere(&p->channel, session_hosts_name(s, p), s->point, endpoints, e);
	}
	return rc;
}

/* The conversion of the ticks of an endpoint's host. */
json_t *session_hosts_conversion(const struct session *s, const struct peer *p)
{
	const struct host *other = hosts_find(s->run->hosts, session_hosts_boot(p));
	const struct clock_conversion *c = other ? &other->conversion : &s->run->conversion;

	return json_pack("{s:I, s:I, s:I}", "origin", (json_int_t)c->origin, "numerator", (json_int_t)c->numerator,
			 "shift", (json_int_t)c->shift);
}
