#include "run/forecast.h"

#include <math.h>
#include <stdio.h>

/* Orders of magnitude, measured with short points on an ordinary machine. docs/spec.md names them. */
#define RUN_S	      0.5  /* calibration, the machine's state before and after, sealing */
#define POINT_S	      0.1  /* starting, connecting and ending endpoints */
#define REPETITION_S  0.01 /* arming, files */
#define REDUCE_NS     100  /* storing and reducing a message's stamps */
#define COPY_NS_A_KIB 200

/* --- one repetition --- */

static int64_t way_ns(const struct flow *f)
{
	const struct transport_typical *t = &f->transport->typical;

	return f->common.poll == POLL_EVENT ? t->sleeping_ns : t->latency_ns;
}

/* In virtual time, pauses take no time, and every message takes a little. */
static struct forecast forecast_messages(const struct flow *f, int64_t messages, bool warm_up)
{
	struct kernel_demand d = f->kernel->demand(f->kernel_settings, messages, warm_up);
	const int64_t both = f->config.size + transport_answer_bytes(&f->config);
	const double copy_ns = (double)both / 2 / 1024 * COPY_NS_A_KIB;
	struct forecast t = {.messages = (double)messages};
	double limit_s = (double)d.limit_ns / 1e9, waits_s;

	if (f->transport->has_own_clock)
		d = (struct kernel_demand){.posts = messages};
	t.paced_s = (double)d.paced_ns / 1e9;
	waits_s = ((double)d.posts * ((double)f->transport->typical.post_ns + copy_ns) +
		   (double)d.ways * ((double)way_ns(f) + copy_ns)) /
		  1e9;
	if (d.limit_ns && t.paced_s + waits_s > limit_s) {
		t.messages *= limit_s / (t.paced_s + waits_s);
		t.paced_s = fmin(t.paced_s, limit_s);
		waits_s = limit_s - t.paced_s;
	}
	t.rest_s = waits_s + t.messages * REDUCE_NS / 1e9;
	return t;
}

/* Flows are measured at the same time: the one that takes longest counts, or the one that ends first. */
static struct forecast forecast_repetition(const struct point *p, bool warm_up)
{
	struct forecast t = {0};
	bool found = false;

	for (size_t i = 0; i < p->flow_count; i++) {
		const struct flow *f = &p->flow[i];
		int64_t messages = f->config.schedule.messages;
		struct forecast own;

		if (warm_up && f->common.warmup < messages)
			messages = f->common.warmup;
		if (!messages)
			continue;
		own = forecast_messages(f, messages, warm_up);
		if (!found || (forecast_seconds(&own) > forecast_seconds(&t)) == (p->until == UNTIL_ALL))
			t = own;
		found = true;
	}
	t.rest_s += found ? REPETITION_S : 0;
	return t;
}

/* --- a point --- */

void forecast_add(struct forecast *sum, struct forecast t, double times)
{
	sum->paced_s += t.paced_s * times;
	sum->rest_s += t.rest_s * times;
	sum->messages += t.messages * times;
}

struct forecast forecast_point(const struct point *p)
{
	const double starts = p->fresh ? (double)p->repetitions : 1;
	struct forecast t = {.rest_s = POINT_S * starts};
	const bool untraced = point_explains(p);
	bool control = false;

	for (size_t i = 0; i < p->flow_count; i++)
		control |= kernel_has_control(p->flow[i].kernel, p->flow[i].kernel_settings);
	forecast_add(&t, forecast_repetition(p, true), starts);
	forecast_add(&t, forecast_repetition(p, false), (double)p->repetitions + control + untraced);
	return t;
}

struct forecast forecast_correct(struct forecast t, struct forecast former, double took_s)
{
	const double rest_s = took_s - former.paced_s;

	t.rest_s *= rest_s > 0 && former.rest_s > 0 ? rest_s / former.rest_s : 0;
	t.is_former = true;
	return t;
}

double forecast_left_s(struct forecast done, struct forecast left, double passed_s)
{
	const double rest_s = passed_s - done.paced_s;

	return left.paced_s + left.rest_s * (done.rest_s > 0 ? fmax(0, rest_s) / done.rest_s : 1);
}

/* --- for people and programs --- */

/* Rounded to milliseconds, because forecasts are not more accurate. */
static double rounded(double seconds)
{
	return round(seconds * 1000) / 1000;
}

void forecast_to_json(const struct forecast *t, json_t *object)
{
	json_object_set_new(object, "expected_s", json_real(rounded(forecast_seconds(t))));
	json_object_set_new(object, "paced_s", json_real(rounded(t->paced_s)));
	json_object_set_new(object, "basis", json_string(t->is_former ? "former run" : "assumptions"));
}

char *forecast_text(double seconds, char *buf, size_t size)
{
	const long long s = llround(seconds), minutes = llround(seconds / 60);

	if (llround(seconds * 1000) < 1000)
		snprintf(buf, size, "%lld ms", llround(seconds * 1000));
	else if (s < 60)
		snprintf(buf, size, "%lld s", s);
	else if (s < 3600)
		snprintf(buf, size, "%lld min %lld s", s / 60, s % 60);
	else
		snprintf(buf, size, "%lld h %lld min", minutes / 60, minutes % 60);
	return buf;
}

char *forecast_sentence(const struct forecast *t, char *buf, size_t size)
{
	char all[FORECAST_TEXT_MAX / 2], least[FORECAST_TEXT_MAX / 2];

	snprintf(buf, size, "about %.20s (at least %.20s)", forecast_text(forecast_seconds(t), all, sizeof(all)),
		 forecast_text(t->paced_s, least, sizeof(least)));
	return buf;
}
