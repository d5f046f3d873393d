#include "measure/run/clock_wall.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "measure/run/channel.h"

#define ROUNDING_NS  4
#define WALL_LAST_NS (1LL << 62) /* the year 2116 */

/* --- pure --- */

static int64_t by_most_ppm(int64_t ns)
{
	return (int64_t)((double)llabs(ns) * CLOCK_PAIR_MOST_PPM * 1e-6) + ROUNDING_NS;
}

bool clock_wall_between(const struct wall_look source[2], const struct wall_look *sink, int64_t kept_ns,
			struct clock_comparison *out)
{
	const int64_t took = source[1].at_ns - source[0].at_ns, wall_took = source[1].wall_ns - source[0].wall_ns;
	const int64_t widths = source[0].width_ns + source[1].width_ns;
	const int64_t since = sink->wall_ns - source[0].wall_ns;
	const int64_t outside = since < 0 ? -since : since > wall_took ? since - wall_took : 0;
	double passed_ns;
	int64_t at_ns;

	if (took <= 0 || wall_took <= 0 || llabs(wall_took - took) > by_most_ppm(took) + widths)
		return false;
	passed_ns = (double)since * ((double)took / (double)wall_took);
	if (fabs(passed_ns) >= CLOCK_PAIR_FURTHEST_NS)
		return false;
	at_ns = source[0].at_ns + (int64_t)passed_ns;
	*out = (struct clock_comparison){
	    .at_ns = at_ns,
	    .offset_ns = sink->at_ns - at_ns,
	    .error_ns = kept_ns + (widths + sink->width_ns) / 2 + by_most_ppm(outside),
	};
	return clock_pair_is_time(out->at_ns) && clock_pair_is_time(out->offset_ns);
}

static const char *interface_of(const json_t *kept)
{
	return json_text(kept, "interface");
}

/* With PTP, both must follow the same grandmaster. chrony follows UTC, which is the same
 * everywhere, unless a host uses its own local reference. */
int clock_wall_check(const json_t *source, const json_t *sink, struct err *e)
{
	const char *why = NULL;

	if (!strcmp(json_text(source, "by"), "linuxptp")) {
		if (strcmp(json_text(source, "reference"), json_text(sink, "reference")) != 0)
			why = "their clocks follow different grandmasters";
		else if (!*interface_of(source) != !*interface_of(sink))
			why = "ptp4l synchronises an adapter's clock on one host and the system clock on the other; "
			      "these differ by leap seconds";
	} else if (json_is_true(json_object_get(source, "is_source")) &&
		   json_is_true(json_object_get(sink, "is_source"))) {
		why = "chrony follows no source on either host (`local` in chrony.conf)";
	}
	return why ? err_set(e, -ENODATA, STATUS_FAILED, NULL, NULL, "%s", why) : 0;
}

/* --- queries --- */

static int ask_keeper(struct peer *p, enum clock_method method, json_t *kept, struct err *e)
{
	json_t *reply;
	const json_t *error;
	int rc = channel_ask(&p->channel,
			     json_pack("{s:s, s:s}", "type", "discipline", "method", clock_method_names[method]),
			     "disciplined", &reply, e);

	if (rc)
		return rc;
	error = json_object_get(json_object_get(reply, "discipline"), "error_ns");
	if (!json_is_integer(error) || json_integer_value(error) < 0 || !clock_pair_is_time(json_integer_value(error)))
		rc = err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint's clock report cannot be read");
	json_object_set(kept, role_names[p->role], json_object_get(reply, "discipline"));
	json_decref(reply);
	return rc;
}

static int look(struct peer *p, struct wall_look *out, struct err *e)
{
	json_t *reply;
	int rc = channel_ask(&p->channel, json_pack("{s:s}", "type", "wall"), "wall", &reply, e);

	if (rc)
		return rc;
	*out = (struct wall_look){json_integer_value(json_object_get(reply, "at_ns")),
				  json_integer_value(json_object_get(reply, "wall_ns")),
				  json_integer_value(json_object_get(reply, "width_ns"))};
	json_decref(reply);
	if (clock_pair_is_time(out->at_ns) && out->wall_ns >= 0 && out->wall_ns < WALL_LAST_NS && out->width_ns >= 0 &&
	    clock_pair_is_time(out->width_ns))
		return 0;
	return err_set(e, -EPROTO, STATUS_FAILED, p->name, NULL, "endpoint sent impossible times of its clock");
}

static int64_t kept_within(const json_t *kept)
{
	int64_t sum = 0;

	for (size_t role = 0; role < 2; role++)
		sum += json_integer_value(json_object_get(json_object_get(kept, role_names[role]), "error_ns"));
	return sum;
}

int clock_wall_compare(struct peer peer[2], enum clock_method method, json_t **kept, struct clock_comparison *out,
		       struct err *e)
{
	struct peer *source = &peer[ROLE_SOURCE], *sink = &peer[ROLE_SINK];
	struct wall_look near[2], far;
	json_t *said = json_object();
	int rc = ask_keeper(source, method, said, e) ?: ask_keeper(sink, method, said, e);

	if (!rc)
		rc = clock_wall_check(json_object_get(said, role_names[ROLE_SOURCE]),
				      json_object_get(said, role_names[ROLE_SINK]), e);
	rc = rc ?: look(source, &near[0], e) ?: look(sink, &far, e) ?: look(source, &near[1], e);
	if (!rc && !clock_wall_between(near, &far, kept_within(said), out))
		rc = err_set(e, -ESTALE, STATUS_FAILED, source->name, NULL,
			     "the clock of its host was set meanwhile, or is months from that of the sink's");
	json_decref(*kept);
	*kept = said;
	return rc;
}
