#include "transports/verbs_iwarp.h"

#include <errno.h>
#include <stdio.h>

#include "common/err.h"
#include "transports/verbs.h"

#define WHY_MAX 512

bool verbs_iwarp_is(const struct verbs *t)
{
	return t->port.transport == IBV_TRANSPORT_IWARP;
}

int verbs_iwarp_check(const struct verbs *t, struct err *e)
{
	const struct {
		bool asked;
		const char *setting, *value, *why;
	} rows[] = {
	    {t->kind->type != IBV_QPT_RC, "qp", t->kind->name, "it has reliable connections only (qp rc)"},
	    {t->settings.connect != VERBS_RDMACM, "connect", verbs_connect_names[t->settings.connect],
	     "only the connection manager makes them (connect rdmacm)"},
	    {t->operation->carrier == VERBS_IN_IMMEDIATE, "op", t->operation->name,
	     "it carries no immediate data (op send, or write)"},
	};
	char why[WHY_MAX] = "";
	size_t used = 0;

	if (!verbs_iwarp_is(t))
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].asked && used < sizeof(why))
			used += (size_t)snprintf(why + used, sizeof(why) - used, "; %s %s: %s", rows[i].setting,
						 rows[i].value, rows[i].why);
	return used ? err_set(e, -EOPNOTSUPP, STATUS_IMPOSSIBLE, t->object, NULL, "the device speaks iWARP%s", why) : 0;
}
