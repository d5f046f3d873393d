/*
 * Values of a network card, set by its driver. data: "card", "group"; "had" and "want", values by name; after apply
 * "made", what the driver made of them, with "got" for people, if that is not the same; "refused". "keep": it changes
 * nothing, and is there to be undone, because other changes reset these values in some drivers. "receive" and "send": the
 * queues that there will be.
 */
#include "tuning/ops/op_card.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "tuning/machine/cards.h"
#include "tuning/machine/ethtool.h"
#include "tuning/machine/machine.h"
#include "tuning/steps/plan.h"

#define WHY_MAX 256

/* In a journal that something is wrong with it may be no text. */
static const char *value_text(const json_t *value)
{
	return json_is_string(value) ? json_string_value(value) : "";
}

/* "rx 256, tx 512". The caller frees. */
static char *values_text(const json_t *values)
{
	char *text = fs_path("%s", ""), *longer;
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)values, name, value) {
		longer = fs_path("%s%s%s %s", text, *text ? ", " : "", name, value_text(value));
		free(text);
		text = longer;
	}
	return text;
}

static const struct ethtool_group *group_of(const struct step *s)
{
	return ethtool_find(step_text(s, "group"));
}

/* A journal may come from a version that knows more groups. */
static int read_card(const struct machine *m, const struct step *s, json_t **now, char *why)
{
	if (group_of(s))
		return cards_read(m, step_text(s, "card"), group_of(s), now, why, WHY_MAX);
	snprintf(why, WHY_MAX, "this version does not know '%s'", step_text(s, "group"));
	*now = NULL;
	return -ENOTSUP;
}

/* The switch that makes the times and frames of a direction the driver's: "adaptive_rx" for "rx_us". */
static const char *adapting_switch(const char *name)
{
	return !strncmp(name, "rx_", 3) ? "adaptive_rx" : !strncmp(name, "tx_", 3) ? "adaptive_tx" : "";
}

static bool is_value_on(const json_t *values, const char *name)
{
	return !strcmp(json_text(values, name), "on");
}

/* Does the driver adapt it, if the card is as it should be? */
static bool is_adapted(const json_t *want, const json_t *now, const char *name)
{
	const char *by = adapting_switch(name);

	return is_value_on(json_object_get(want, by) ? want : now, by);
}

/* The values among `want` that are not so now: a new object. */
static json_t *differences(const json_t *want, const json_t *now)
{
	json_t *left = json_object(), *value;
	const char *name;

	json_object_foreach ((json_t *)want, name, value)
		if (!json_equal(value, json_object_get(now, name)) &&
		    !(is_adapted(want, now, name) && is_value_on(now, adapting_switch(name))))
			json_object_set(left, name, value);
	return left;
}

static bool are_same(const json_t *want, const json_t *now)
{
	json_t *value;
	const char *name;

	json_object_foreach ((json_t *)want, name, value)
		if (!json_equal(value, json_object_get(now, name)) && !is_adapted(want, now, name))
			return false;
	return true;
}

/* The values now of those names that `some` has: a new object. */
static json_t *only(const json_t *some, const json_t *now)
{
	json_t *few = json_object(), *value;
	const char *name;

	json_object_foreach ((json_t *)some, name, value)
		if (json_object_get(now, name))
			json_object_set(few, name, json_object_get(now, name));
	return few;
}

/* --- planning --- */

struct planning {
	struct plan *plan;
	const char *knob, *card;
	const struct ethtool_group *group;
	const json_t *now, *want;
};

static void __attribute__((format(printf, 2, 3))) cannot(const struct planning *p, const char *format, ...)
{
	char *object = fs_path("%s %s", p->card, p->group->name), *reason;
	va_list ap;

	va_start(ap, format);
	or_abort(vasprintf(&reason, format, ap) < 0 ? NULL : reason);
	va_end(ap);
	plan_missing(p->plan, p->knob, object, "%s", reason);
	free(reason);
	free(object);
}

/* The value for the card, or NULL, and the plan says why it cannot be. */
static const char *possible_value(const struct planning *p, const char *name, const char *value)
{
	const char *now = json_text(p->now, name);
	char *key = fs_path("%s_max", name);
	const char *most = json_text(p->now, key);
	size_t length = strcspn(now, " ");

	free(key);
	if (!*now)
		cannot(p, "its driver has no %s", name);
	else if (!strcmp(now + length, ETHTOOL_FIXED) && (strlen(value) != length || strncmp(now, value, length)))
		cannot(p, "%s is %.*s, and its driver cannot change that", name, (int)length, now);
	else if (!strcmp(value, "max") && !*most)
		cannot(p, "its driver does not say how much %s may be", name);
	else if (is_adapted(p->want, p->now, name) && !is_value_on(p->want, adapting_switch(name)))
		cannot(p, "its driver adapts %s; that takes '%s: off', too", name, adapting_switch(name));
	else if (*most && strcmp(value, "max") && strtoul(value, NULL, 10) > strtoul(most, NULL, 10))
		cannot(p, "%s may be %s at most", name, most);
	else
		return !strcmp(value, "max") ? most : strcmp(now + length, ETHTOOL_FIXED) ? value : NULL;
	return NULL;
}

static long card_number(const json_t *values, const char *name)
{
	return strtol(json_text(values, name), NULL, 10);
}

static void count_queues_then(json_t *data, const json_t *now, const json_t *want)
{
	json_t *then = json_copy((json_t *)now);

	json_object_update(then, (json_t *)want);
	json_object_set_new(data, "receive", json_integer(card_number(then, "combined") + card_number(then, "rx")));
	json_object_set_new(data, "send", json_integer(card_number(then, "combined") + card_number(then, "tx")));
	json_decref(then);
}

/* `want` is stolen. People see what changes; or all, if nothing does. */
static struct step *add_card_step(const struct planning *p, json_t *want)
{
	json_t *had = only(want, p->now), *changed = differences(want, p->now), *from = only(changed, p->now);
	const bool changes = json_object_size(changed) > 0;
	char *path = fs_path("%s %s", p->card, p->group->name);
	char *before = values_text(changes ? from : had), *after = values_text(changes ? changed : want);
	json_t *data =
	    json_pack("{s:s, s:s, s:o, s:o}", "card", p->card, "group", p->group->name, "had", had, "want", want);
	struct step *s = plan_step(p->plan, p->knob, &op_card, path, before, after, data);

	if (p->group == &ethtool_channels)
		count_queues_then(data, p->now, want);
	json_decref(from);
	json_decref(changed);
	free(after);
	free(before);
	free(path);
	return s;
}

struct step *op_card_plan(struct plan *plan, const struct machine *m, const char *knob, const char *card,
			  const struct ethtool_group *g, const json_t *want)
{
	struct planning p = {.plan = plan, .knob = knob, .card = card, .group = g, .want = want};
	json_t *now, *values, *value;
	char why[WHY_MAX];
	const char *name;
	struct step *s = NULL;
	int rc;

	if (plan_is_gone(plan, card))
		return NULL;
	values = json_object();
	rc = cards_read(m, card, g, &now, why, sizeof(why));
	p.now = now;
	if (rc == -EOPNOTSUPP)
		cannot(&p, "its driver has no such settings");
	else if (rc)
		cannot(&p, "they cannot be read: %s", why);
	json_object_foreach ((json_t *)(rc ? NULL : want), name, value) {
		const char *possible = possible_value(&p, name, json_string_value(value));

		if (possible)
			json_object_set_new(values, name, json_string(possible));
	}
	if (json_object_size(values))
		s = add_card_step(&p, json_incref(values));
	json_decref(values);
	json_decref(now);
	return s;
}

/* Those that may be written: no maximum, and none that is fixed. */
static bool may_be_written(const struct ethtool_group *g, const char *name, const json_t *value)
{
	return g->fields ? ethtool_field(g, name) != NULL : !strchr(json_string_value(value), ' ');
}

void op_card_plan_to_keep(struct plan *plan, const struct machine *m, const char *knob, const char *card,
			  const struct ethtool_group *g)
{
	struct planning p = {.plan = plan, .knob = knob, .card = card, .group = g};
	json_t *now, *all, *value;
	char why[WHY_MAX];
	const char *name;

	if (cards_read(m, card, g, &now, why, sizeof(why)))
		return;
	all = json_object();
	json_object_foreach (now, name, value)
		if (may_be_written(g, name, value))
			json_object_set(all, name, value);
	p.now = now;
	if (json_object_size(all))
		json_object_set_new(add_card_step(&p, json_incref(all))->data, "keep", json_true());
	json_decref(all);
	json_decref(now);
}

long op_card_queues(const struct plan *plan, const char *card, bool receive)
{
	for (size_t i = 0; i < plan->step_count; i++) {
		const struct step *s = &plan->steps[i];

		if (s->op == &op_card && !strcmp(step_text(s, "card"), card) &&
		    !strcmp(step_text(s, "group"), ethtool_channels.name))
			return step_number(s, receive ? "receive" : "send");
	}
	return -1;
}

/* --- making it --- */

static bool keeps_card(const struct step *s)
{
	return json_is_true(json_object_get(s->data, "keep"));
}

/* May this process change cards? Those of a namespace may need less, but then it says so when it tries. */
static int card_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	(void)s;
	if (!m->root.live || (!syscall(SYS_capget, &head, caps) && caps[0].effective & 1U << CAP_NET_ADMIN))
		return 0;
	err_cause(-EPERM, why, size);
	return -EPERM;
}

static int note_driver_refusal(struct step *s, int rc, const char *why)
{
	json_object_set_new(s->data, "refused", json_true());
	if (rc == -ENODEV)
		step_note(s, "it has disappeared meanwhile");
	else
		step_note(s, "the card's driver does not allow it (%s): it stays %s", why, s->before);
	return 0;
}

/* After it was written: what has the driver made of it? */
static int look_back(struct machine *m, struct step *s, char *why)
{
	json_t *now, *made;
	int rc = read_card(m, s, &now, why);

	if (rc)
		return rc;
	if (!are_same(json_object_get(s->data, "want"), now)) {
		char *text;

		made = only(json_object_get(s->data, "want"), now);
		text = values_text(made);
		step_note(s, "the card's driver made it %s, not %s", text, s->after);
		json_object_set_new(s->data, "made", made);
		json_object_set_new(s->data, "got", json_string(text));
		free(text);
	}
	json_decref(now);
	return 0;
}

/* Move the switches that are to be on from `values` into a new object. */
static json_t *take_adapting(json_t *values)
{
	static const char *const names[] = {"adaptive_rx", "adaptive_tx"};
	json_t *taken = json_object();

	for (size_t i = 0; i < 2; i++)
		if (is_value_on(values, names[i])) {
			json_object_set(taken, names[i], json_object_get(values, names[i]));
			json_object_del(values, names[i]);
		}
	return taken;
}

/* What differs is written at once, because a driver may depend on all of it; but while a driver adapts values, it may
 * refuse others. */
static int write_differences(struct machine *m, const struct step *s, const json_t *want, const json_t *now, char *why)
{
	json_t *first = differences(want, now), *then = take_adapting(first);
	int rc = json_object_size(first) ? cards_write(m, step_text(s, "card"), group_of(s), first, why, WHY_MAX) : 0;

	if (!rc && json_object_size(then))
		rc = cards_write(m, step_text(s, "card"), group_of(s), then, why, WHY_MAX);
	json_decref(then);
	json_decref(first);
	return rc;
}

static int card_apply(struct machine *m, struct step *s, struct err *e)
{
	char why[WHY_MAX];
	json_t *now;
	int rc;

	if (keeps_card(s))
		return 0;
	rc = read_card(m, s, &now, why);
	if (!rc)
		rc = write_differences(m, s, json_object_get(s->data, "want"), now, why);
	json_decref(now);
	if (!rc)
		rc = look_back(m, s, why);
	if (rc == -EPERM || rc == -EACCES)
		return err_set(e, rc, STATUS_FAILED, s->path, "change", "%s", why);
	return rc ? note_driver_refusal(s, rc, why) : 0;
}

/* What it should have since it was changed. */
static const json_t *changed_values(const struct step *s)
{
	const json_t *made = json_object_get(s->data, "made");

	return made ? made : json_object_get(s->data, "want");
}

/* What is not as wanted, for people. The caller frees. */
static char *deviation_text(const json_t *want, const json_t *now)
{
	json_t *other = differences(want, now), *some = only(other, now);
	char *text = values_text(some);

	json_decref(some);
	json_decref(other);
	return text;
}

static enum check card_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	const json_t *want = changed_values(s);
	char why[WHY_MAX], *text;
	json_t *all;
	bool same;

	if (keeps_card(s) || json_is_true(json_object_get(s->data, "refused")))
		return CHECK_SAME;
	if (read_card(m, s, &all, why)) {
		snprintf(now, size, "unreadable: %s", why);
		return CHECK_DRIFT;
	}
	same = are_same(want, all);
	text = deviation_text(want, all);
	snprintf(now, size, "%s", text);
	free(text);
	json_decref(all);
	return same ? CHECK_SAME : CHECK_DRIFT;
}

/* A driver may make another value even of one that it had by itself; there is no way back to that one, so it is said. */
static int judge_put_back(const struct step *s, const json_t *now, char *why)
{
	const json_t *had = json_object_get(s->data, "had");
	char *text;
	bool moved;

	if (are_same(had, now))
		return 0;
	moved = !are_same(changed_values(s), now);
	text = deviation_text(had, now);
	if (moved)
		fprintf(stderr, "kbtune: %s: the card's driver made it %s when it was put back to %s\n", s->path, text,
			s->before);
	else
		snprintf(why, WHY_MAX, "wrote '%s', but read back '%s'", s->before, text);
	free(text);
	return moved ? 0 : -EIO;
}

static int put_back_card(struct machine *m, const struct step *s, char *why)
{
	const json_t *had = json_object_get(s->data, "had");
	json_t *now;
	int rc = read_card(m, s, &now, why);

	if (!rc)
		rc = write_differences(m, s, had, now, why);
	json_decref(now);
	if (!rc)
		rc = read_card(m, s, &now, why);
	if (rc)
		return rc;
	rc = judge_put_back(s, now, why);
	json_decref(now);
	return rc;
}

static int card_undo(struct machine *m, const struct step *s, struct err *e)
{
	char why[WHY_MAX];
	int rc = put_back_card(m, s, why);

	if (rc == -ENODEV)
		return STEP_GONE;
	return rc ? err_set(e, rc, STATUS_FAILED, s->path, "put back", "%s", why) : 0;
}

const struct op op_card = {
    .name = "card",
    .right = "CAP_NET_ADMIN",
    .probe = card_probe,
    .apply = card_apply,
    .check = card_check,
    .undo = card_undo,
};
