#include "run/channel_ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/json.h"

#define ANSWER_MS 60000 /* may be long on a busy machine */

int channel_ask(struct channel *c, json_t *order, const char *answer, json_t **reply, struct err *e)
{
	char asked[40];
	int rc, status;

	snprintf(asked, sizeof(asked), "%s", json_text(order, "type"));
	rc = channel_send(c, order, e);
	if (rc)
		return rc;
	rc = channel_await(c, ANSWER_MS, reply, e);
	if (rc == 0)
		return err_set(e, -ETIMEDOUT, STATUS_FAILED, c->name, NULL, "endpoint has not answered '%s' for %d s",
			       asked, ANSWER_MS / 1000);
	if (rc < 0)
		return rc;
	if (!strcmp(json_text(*reply, "type"), answer))
		return 0;
	status = (int)json_integer_value(json_object_get(*reply, "status"));
	rc = err_set(e, -EPROTO, status == STATUS_IMPOSSIBLE ? STATUS_IMPOSSIBLE : STATUS_FAILED, c->name, NULL,
		     "endpoint cannot '%s': %s", asked, json_text_or(*reply, "text", "it sent a different answer"));
	json_decref(*reply);
	*reply = NULL;
	return rc;
}
