/*
 * A value in a file below /proc or /sys: sysctls, governors, masks, switches. data: "form"; "raw",
 * the complete original content, so that every byte of a recorded machine is restored;
 * "may_refuse": hardware or firmware may reject any change, which is then not an error, but
 * recorded ("refused"); "of_card": so may a network card's driver, it may make another value of it ("got"), and the card
 * may be gone; "keep": nothing is changed, and the file is put back because other changes reset it. "beside": files that
 * may change with it (families.h), as they were: [{"path", "form", "raw", "is"}]; after it was made "looked", and those that
 * have changed are "moved". These are put back with it, and others that putting it back changes, too.
 */
#include "tuning/ops/op_file.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "tuning/machine/families.h"
#include "tuning/machine/identity.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/topology.h"
#include "tuning/steps/plan.h"

static enum form form_of(const struct step *s)
{
	int f = form_find(step_text(s, "form"));

	return f < 0 ? FORM_TEXT : (enum form)f;
}

/* The current value; the caller frees it; NULL if it cannot be read. */
static int read_now(const struct machine *m, const struct step *s, char **value)
{
	char *text;
	int rc = machine_read(m, s->path, &text);

	*value = rc ? NULL : form_value(form_of(s), text, s->after);
	if (!rc)
		free(text);
	return rc;
}

/* Does the file have this value? 1, 0, or a negative errno. */
static int is_now(const struct machine *m, const struct step *s, const char *value)
{
	char *now;
	int rc = read_now(m, s, &now);

	if (!rc)
		rc = form_same(form_of(s), now, value);
	free(now);
	return rc;
}

/* Switches that the kernel never turns back, and values that take along what no file has. `value`: NULL for any. */
static const struct {
	const char *path, *value, *loss;
} losses[] = {
    {"/proc/sys/kernel/modules_disabled", "1", "the kernel loads no module again before a reboot"},
    {"/proc/sys/kernel/kexec_load_disabled", "1", "the kernel allows no kexec again before a reboot"},
    {"/proc/sys/kernel/unprivileged_bpf_disabled", "1", "the kernel keeps it before a reboot"},
    {"/proc/sys/kernel/yama/ptrace_scope", "3", "the kernel keeps it before a reboot"},
    {"/proc/sys/kernel/tainted", NULL, "the kernel only adds to it"},
    {"/proc/sys/vm/drop_caches", NULL, "the caches are filled again only as files are read"},
    {"/proc/sys/net/ipv6/conf/*/disable_ipv6", "1", "the IPv6 addresses and routes that are there are lost"},
    {"/proc/sys/net/ipv6/conf/*/forwarding", "[1-9]*", "routes that were learnt from routers are learnt anew"},
    {"/sys/class/net/*/mtu", "???", "the IPv6 addresses that are there are lost"},
    {"/proc/sys/net/*/route/flush", NULL, "the routes that are dropped are learnt anew"},
    {"/sys/kernel/mm/ksm/run", "2", "pages that were merged are separated"},
    {"/sys/kernel/security/lockdown", NULL, "the kernel keeps it before a reboot"},
    {"/sys/module/module/parameters/sig_enforce", NULL, "the kernel keeps it before a reboot"},
    {"/sys/*/queue/scheduler", NULL, "the settings of the scheduler that it had (queue/iosched) are lost"},
    {"/sys/*/sriov_numvfs", NULL, "virtual functions that are there, and their settings, are lost"},
    {"/sys/devices/system/cpu/cpu[0-9]*/online", "0", "threads that may run there only may run anywhere afterwards"},
};

const char *op_file_loss(const char *path, const char *value)
{
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (!fnmatch(losses[i].path, path, 0) && (!losses[i].value || !fnmatch(losses[i].value, value, 0)))
			return losses[i].loss;
	return NULL;
}

/* The CPUs that a value is, if it is a set of CPUs. */
static bool read_set(enum form form, const char *value, struct cpulist *cpus)
{
	if (form == FORM_LIST)
		return !cpulist_parse(value, cpus, NULL, 0);
	return form == FORM_MASK && !cpulist_parse_mask(value, cpus, NULL, 0);
}

/* Some files that could be written do not let anybody where there is nothing to set: nmi_watchdog without a counter that could
 * interrupt, as in Linux 6.12. */
static bool takes_no_value(const struct machine *m, const char *path)
{
	mode_t mode;

	return !machine_mode(m, path, &mode) && !(mode & 0222);
}

/* For a file that can be read and has this value and text: plan a step, or record why not. */
static struct step *plan_value(struct plan *plan, const struct machine *m, const char *knob, const char *path,
			       enum form form, const char *value, const char *now, const char *text)
{
	struct cpulist set;
	json_t *raw;

	/* smt/control: "notsupported", "notimplemented" */
	if (!strncmp(now, "not", 3)) {
		plan_missing(plan, knob, path, "the kernel says: %s", now);
		return NULL;
	}
	if (!form_same(form, now, value) && takes_no_value(m, path)) {
		plan_missing(plan, knob, path, "nobody may write it (this kernel has nothing to set here): it stays %s",
			     now);
		return NULL;
	}
	/* The kernel takes no such set back; work queues and cards are the exception, and no harm is done there. */
	if (read_set(form, now, &set) && cpulist_first(&set) >= 0 && !form_same(form, now, value) &&
	    topology_are_offline(m, &set)) {
		plan_missing(plan, knob, path, "all CPUs in it, %s, are offline, and it could not be put back", now);
		return NULL;
	}
	if (!form_offers(form, text, value)) {
		plan_missing(plan, knob, path, "this kernel offers '%.*s', not '%s'", (int)strcspn(text, "\n"), text,
			     value);
		return NULL;
	}
	raw = json_string(text);
	if (!raw) {
		plan_missing(plan, knob, path, "its content is not text and could not be restored");
		return NULL;
	}
	return plan_step(plan, knob, &op_file, path, now, form_same(form, now, value) ? now : value,
			 json_pack("{s:s, s:o}", "form", form_name(form), "raw", raw));
}

/* A file that only says something, or does not say what was written. */
static bool is_read_only(const struct machine *m, const char *path)
{
	mode_t mode;

	return machine_mode(m, path, &mode) || (mode & 0600) != 0600;
}

static void note_beside(const struct machine *m, const char *path, json_t *list)
{
	json_t *raw = NULL, *one;
	char *text, *is;

	if (is_read_only(m, path) || machine_read(m, path, &text))
		return;
	raw = json_string(text);
	if (raw) {
		one =
		    json_pack("{s:s, s:s, s:o}", "path", path, "form", form_name(form_of_file(path, text)), "raw", raw);
		is = identity_of(m, path);
		if (is)
			json_object_set_new(one, STEP_IDENTITY, json_string(is));
		json_array_append_new(list, one);
		free(is);
	}
	free(text);
}

void op_file_note_beside(const struct machine *m, const char *path, json_t *data)
{
	json_t *list = json_array();
	char **paths;
	size_t count = families_beside(m, path, &paths);

	for (size_t i = 0; i < count; i++)
		note_beside(m, paths[i], list);
	sysroot_names_free(paths);
	if (json_array_size(list))
		json_object_set(data, "beside", list);
	json_decref(list);
}

struct step *op_file_plan(struct plan *plan, const struct machine *m, const char *knob, const char *path,
			  enum form form, const char *value, const char *absent)
{
	char cause[128], *text, *now;
	struct step *s;
	int rc;

	if (plan_is_gone(plan, path))
		return NULL;
	rc = machine_read(m, path, &text);
	if (rc == -ENOENT || rc == -ENODEV || rc == -EOPNOTSUPP) {
		plan_missing(plan, knob, path, "%s", absent);
		return NULL;
	}
	if (rc) {
		plan_missing(plan, knob, path, "it cannot be read: %s", err_cause(rc, cause, sizeof(cause)));
		return NULL;
	}
	now = form_value(form, text, value);
	s = plan_value(plan, m, knob, path, form, value, now, text);
	if (s && strcmp(s->before, s->after) && op_file_loss(path, value))
		step_cannot_undo(s, false, path, "%s", op_file_loss(path, value));
	if (s && strcmp(s->before, s->after))
		op_file_note_beside(m, s->path, s->data);
	free(now);
	free(text);
	return s;
}

void op_file_may_refuse(struct step *s)
{
	json_object_set_new(s->data, "may_refuse", json_true());
}

void op_file_is_of_card(struct step *s)
{
	json_object_set_new(s->data, "of_card", json_true());
}

static bool is_of_card(const struct step *s)
{
	return json_is_true(json_object_get(s->data, "of_card"));
}

void op_file_plan_to_keep(struct plan *plan, const struct machine *m, const char *knob, const char *path,
			  enum form form)
{
	char *text, *now;
	struct step *s;

	if (machine_read(m, path, &text))
		return;
	now = form_value(form, text, "");
	s = plan_value(plan, m, knob, path, form, now, now, text);
	if (s) {
		json_object_set_new(s->data, "keep", json_true());
		op_file_is_of_card(s);
	}
	free(now);
	free(text);
}

static bool keeps_file(const struct step *s)
{
	return json_is_true(json_object_get(s->data, "keep"));
}

static int file_probe(struct machine *m, const struct step *s, char *why, size_t size)
{
	int rc = machine_foresee_write(m, s->path, why, size);

	return rc == -ENOENT && is_of_card(s) ? 0 : rc;
}

/* Kernel files accept the value; a recorded one must afterwards have the content that the kernel would show. */
static int write_in_form(struct machine *m, const struct step *s, const char *value)
{
	char *text, *full;
	int rc;

	if (m->root.live)
		return machine_write(m, s->path, value, strlen(value));
	rc = machine_read(m, s->path, &text);
	if (rc)
		return rc;
	full = form_written(form_of(s), text, value);
	rc = machine_write(m, s->path, full, strlen(full));
	free(text);
	free(full);
	return rc;
}

/* Errors of a kernel that does not permit a change on this hardware (ASPM controlled by firmware, locked turbo), or beside
 * another value (a preference of energy under the governor performance). A driver may have any reason, but a missing right
 * is none of its. */
static bool is_refusal(const struct step *s, int rc)
{
	if (is_of_card(s))
		return rc < 0 && rc != -EPERM && rc != -EACCES && rc != -EROFS;
	return json_is_true(json_object_get(s->data, "may_refuse")) &&
	       (rc == -EPERM || rc == -EOPNOTSUPP || rc == -ENODEV || rc == -EIO || rc == -EBUSY);
}

static bool was_refused(const struct step *s)
{
	return json_is_true(json_object_get(s->data, "refused"));
}

static int note_refusal(struct step *s, int rc)
{
	char cause[128];

	json_object_set_new(s->data, "refused", json_true());
	if (is_of_card(s) && (rc == -ENOENT || rc == -ENODEV))
		step_note(s, "it has disappeared meanwhile");
	else
		step_note(s, "%s does not allow it (%s): it stays %s",
			  is_of_card(s) ? "the card's driver" : "the hardware or its firmware",
			  err_cause(rc, cause, sizeof(cause)), s->before);
	return 0;
}

/* What a driver made of the value. */
static int note_rounding(struct machine *m, struct step *s)
{
	char *now;
	int rc = read_now(m, s, &now);

	if (rc)
		return is_refusal(s, rc) ? note_refusal(s, rc) : rc;
	if (!form_same(form_of(s), now, s->after)) {
		json_object_set_new(s->data, "got", json_string(now));
		step_note(s, "the card's driver made it %s, not %s", now, s->after);
	}
	free(now);
	return 0;
}

/* The value that it should have since it was changed. */
static const char *changed_value(const struct step *s)
{
	const char *got = json_string_value(json_object_get(s->data, "got"));

	return got ? got : s->after;
}

/* Does the file have the value that was written? 0, or a negative errno; fills in `e` if the value differs. */
static int compare_value(struct machine *m, const struct step *s, const char *operation, const char *value,
			 struct err *e)
{
	char *now;
	int rc = read_now(m, s, &now);

	if (!rc && !form_same(form_of(s), now, value))
		rc = err_set(e, -EIO, STATUS_FAILED, s->path, operation, "wrote '%s', but read back '%s'", value, now);
	free(now);
	return rc;
}

/* --- files beside it --- */

/* One of them, now: the caller frees `path` and `text`; NULL if it is gone. */
struct beside {
	json_t *record;
	enum form form;
	char *path, *text;
};

static void read_beside(const struct machine *m, json_t *record, struct beside *b)
{
	const char *path = json_string_value(json_object_get(record, "path"));
	const char *is = json_string_value(json_object_get(record, STEP_IDENTITY));
	const char *form = json_string_value(json_object_get(record, "form"));

	*b = (struct beside){.record = record,
			     .form = form && form_find(form) >= 0 ? (enum form)form_find(form) : FORM_TEXT};
	if (path && is && identity_follow(m, path, is, &b->path))
		b->path = NULL;
	else if (path && !is)
		b->path = fs_path("%s", path);
	if (b->path && machine_read(m, b->path, &b->text))
		b->text = NULL;
}

static void free_beside(struct beside *b)
{
	free(b->path);
	free(b->text);
}

static bool are_same_values(enum form form, const char *a, const char *b)
{
	char *one = form_value(form, a, ""), *other = form_value(form, b, "");
	bool same = form_same(form, one, other);

	free(one);
	free(other);
	return same;
}

/* How they are before it is changed. */
static struct beside *read_all_beside(const struct machine *m, const struct step *s, size_t *count)
{
	json_t *list = json_object_get(s->data, "beside");
	struct beside *all;

	*count = json_array_size(list);
	all = or_abort(calloc(*count + 1, sizeof(*all)));
	for (size_t i = 0; i < *count; i++)
		read_beside(m, json_array_get(list, i), &all[i]);
	return all;
}

/* Is it no longer so? */
static bool is_other(const struct beside *now, const char *text)
{
	return text && (!now->text || !are_same_values(now->form, text, now->text));
}

void op_file_look_beside(const struct machine *m, json_t *data)
{
	json_t *list = json_object_get(data, "beside"), *record;
	size_t i;

	json_array_foreach (list, i, record) {
		struct beside now;

		read_beside(m, record, &now);
		if (is_other(&now, json_string_value(json_object_get(record, "raw"))))
			json_object_set_new(record, "moved", json_true());
		free_beside(&now);
	}
	if (json_array_size(list))
		json_object_set_new(data, "looked", json_true());
}

static void note_moved(const struct machine *m, struct step *s, const struct beside *before, size_t count)
{
	const char *first = NULL;
	size_t moved = 0;

	for (size_t i = 0; i < count; i++) {
		struct beside now;

		read_beside(m, before[i].record, &now);
		if (is_other(&now, before[i].text) && !moved++)
			first = before[i].path;
		free_beside(&now);
	}
	if (moved > 1)
		step_note(s, "%s and %zu more have changed with it, and are put back with it", first, moved - 1);
	else if (moved)
		step_note(s, "%s has changed with it, and is put back with it", first);
}

/* What each of them should be again: as it was when this was planned, if it has changed with it; otherwise as it is now,
 * before this is put back, whoever has changed it since. */
struct wanted {
	struct beside now;
	char *text;
	bool farther; /* it changes with others of these, which come first */
};

static struct wanted *want_beside(const struct machine *m, const struct step *s, size_t *count)
{
	json_t *list = json_object_get(s->data, "beside");
	const bool looked = json_is_true(json_object_get(s->data, "looked"));
	struct wanted *all;

	*count = json_array_size(list);
	all = or_abort(calloc(*count + 1, sizeof(*all)));
	for (size_t i = 0; i < *count; i++) {
		json_t *one = json_array_get(list, i);
		const char *raw = json_string_value(json_object_get(one, "raw"));

		read_beside(m, one, &all[i].now);
		if (raw && (!looked || json_is_true(json_object_get(one, "moved"))))
			all[i].text = fs_path("%s", raw);
		else if (all[i].now.text)
			all[i].text = fs_path("%s", all[i].now.text);
	}
	return all;
}

static bool is_wanted_already(const struct step *s, const struct wanted *all, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].now.path && !strcmp(all[i].now.path, path))
			return true;
	return !strcmp(s->path, path);
}

/* Those that are put back change others in their turn, which stay as they are now, unless they are the same under another
 * name. */
static struct wanted *want_farther(const struct machine *m, const struct step *s, struct wanted *all, size_t *count)
{
	const size_t beside = *count;

	for (size_t i = 0; i < beside; i++) {
		char **paths;
		size_t n = all[i].now.path ? families_beside(m, all[i].now.path, &paths) : 0;

		for (size_t k = 0; k < n; k++) {
			struct wanted w = {.farther = true};

			if (is_wanted_already(s, all, *count, paths[k]) || is_read_only(m, paths[k]) ||
			    machine_read(m, paths[k], &w.text))
				continue;
			w.now.form = form_of_file(paths[k], w.text);
			w.now.path = fs_path("%s", paths[k]);
			all = or_abort(reallocarray(all, *count + 1, sizeof(*all)));
			all[(*count)++] = w;
		}
		if (all[i].now.path)
			sysroot_names_free(paths);
	}
	return all;
}

static void free_wanted(struct wanted *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free_beside(&all[i].now);
		free(all[i].text);
	}
	free(all);
}

/* Is it as it should be? What is gone needs nothing. */
static bool is_as_wanted(const struct machine *m, const struct wanted *w)
{
	char *text;
	bool same;

	if (!w->text || !w->now.path || machine_read(m, w->now.path, &text))
		return true;
	same = m->root.live ? are_same_values(w->now.form, text, w->text) : !strcmp(text, w->text);
	free(text);
	return same;
}

static int write_wanted(struct machine *m, const struct wanted *w)
{
	char *value;
	int rc;

	if (!m->root.live)
		return machine_put_back(m, w->now.path, w->text);
	value = form_value(w->now.form, w->text, "");
	rc = machine_write(m, w->now.path, value, strlen(value));
	free(value);
	return rc;
}

static size_t count_off(const struct machine *m, const struct wanted *all, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += !all[i].farther && !is_as_wanted(m, &all[i]);
	return n;
}

/* One that takes another away from where it should be is the same under another name: it is not wanted any more. */
static int write_farther(struct machine *m, const struct wanted *all, size_t count, struct wanted *w)
{
	size_t off = count_off(m, all, count);
	int rc = write_wanted(m, w);

	if (count_off(m, all, count) > off) {
		free(w->text);
		w->text = NULL;
	}
	return rc;
}

static int put_back_value(struct machine *m, const struct step *s);

/* Two that exclude each other and were both 0: the one that takes a 0 takes it only after another value. */
static void settle_zeros(struct machine *m, const struct step *s, const struct wanted *w)
{
	if (!m->root.live || !w->text || !families_exclude(s->path, w->now.path) || strcmp(s->before, "0") ||
	    !are_same_values(FORM_TEXT, w->text, "0"))
		return;
	if (machine_write(m, s->path, "1", 1) || machine_write(m, s->path, "0", 1))
		if (!machine_write(m, w->now.path, "1", 1))
			machine_write(m, w->now.path, "0", 1);
}

/* They limit and change each other in ways that depend on the kernel, so all are written again and again, as long as that
 * brings any of them closer. `rc` is how writing the value itself went. */
static int put_back_family(struct machine *m, const struct step *s, struct wanted *all, size_t count, int rc)
{
	for (size_t round = 0; round < count + 2; round++) {
		size_t left = 0, written = 0;

		for (size_t i = 0; i < count; i++) {
			if (is_as_wanted(m, &all[i]))
				continue;
			left++;
			written += !(all[i].farther ? write_farther(m, all, count, &all[i]) : write_wanted(m, &all[i]));
		}
		if (rc || left)
			rc = put_back_value(m, s);
		if (!left && !rc)
			break;
		if (!left && rc)
			for (size_t i = 0; i < count; i++)
				if (all[i].now.path)
					settle_zeros(m, s, &all[i]);
		if (!written && left)
			break;
	}
	return rc;
}

/* 0, or a file that is not as it was, in `e`. */
static int compare_beside(struct machine *m, const struct step *s, const struct wanted *all, size_t count,
			  struct err *e)
{
	for (size_t i = 0; i < count; i++) {
		char *text, *want;

		if (all[i].farther || is_as_wanted(m, &all[i]) || machine_read(m, all[i].now.path, &text))
			continue;
		want = form_value(all[i].now.form, all[i].text, "");
		text[strcspn(text, "\n")] = '\0';
		err_set(e, -EIO, STATUS_FAILED, all[i].now.path, "put back",
			"it changes with %s, and is '%s' instead of '%s'", s->path, text, want);
		free(want);
		free(text);
		return -EIO;
	}
	return 0;
}

static int change_value(struct machine *m, struct step *s, struct err *e)
{
	struct err other = ERR_INIT;
	int rc = keeps_file(s) ? 1 : is_now(m, s, s->after);

	/* Some files even reject their current value. */
	if (rc > 0)
		return 0;
	if (!rc)
		rc = write_in_form(m, s, s->after);
	if (is_refusal(s, rc))
		return note_refusal(s, rc);
	if (!rc)
		rc = is_of_card(s) ? note_rounding(m, s) : compare_value(m, s, "change", s->after, &other);
	if (other.status)
		return err_set(e, rc, other.status, NULL, NULL, "%s", other.text);
	return rc ? err_sys(e, rc, s->path, "write") : 0;
}

static int file_apply(struct machine *m, struct step *s, struct err *e)
{
	size_t count;
	struct beside *before = read_all_beside(m, s, &count);
	int rc = change_value(m, s, e);

	if (!rc) {
		op_file_look_beside(m, s->data);
		note_moved(m, s, before, count);
	}
	for (size_t i = 0; i < count; i++)
		free_beside(&before[i]);
	free(before);
	return rc;
}

static enum check file_check(struct machine *m, const struct step *s, char *now, size_t size)
{
	char cause[128], *value;
	int rc = read_now(m, s, &value);
	bool same = !rc && form_same(form_of(s), value, changed_value(s));

	if (rc)
		snprintf(now, size, "unreadable: %s", err_cause(rc, cause, sizeof(cause)));
	else
		snprintf(now, size, "%s", value);
	free(value);
	return keeps_file(s) || was_refused(s) || same ? CHECK_SAME : CHECK_DRIFT;
}

static int leave_as_is(const struct step *s, struct err *e)
{
	err_set(e, -EAGAIN, STATUS_FAILED, NULL, NULL, "CPU %s is offline", step_text(s, STEP_OFFLINE));
	return STEP_LEFT;
}

int op_file_leave(const struct machine *m, const struct step *s, const struct cpulist *set, struct err *e)
{
	const char *spared = step_text(s, STEP_OFFLINE);
	struct cpulist known;

	if (topology_waits_for_any(m, set, spared, s->path, e))
		return -EAGAIN;
	return !cpulist_parse(spared, &known, NULL, 0) && cpulist_intersects(&known, set) ? leave_as_is(s, e)
											  : STEP_GONE;
}

/* Why it could not be restored: its CPU is offline, it no longer exists, or an error. The kernel rejects a set of CPUs
 * that are all offline. */
static int judge_failure(const struct machine *m, const struct step *s, int rc, struct err *e)
{
	struct cpulist set;
	const bool none_online =
	    rc == -EINVAL && read_set(form_of(s), s->before, &set) && topology_are_offline(m, &set);

	if (topology_waits_for_cpu_of(m, s->path, step_text(s, STEP_OFFLINE), e))
		return -EAGAIN;
	if (none_online)
		return op_file_leave(m, s, &set, e);
	if (topology_is_of_spared_cpu(m, s->path, step_text(s, STEP_OFFLINE)))
		return leave_as_is(s, e);
	if (rc == -ENOENT || rc == -ENODEV || rc == -ENXIO || topology_is_of_offline_cpu(m, s->path))
		return STEP_GONE;
	/* Without its queues, which some drivers remove with the link. */
	if (rc == -EOPNOTSUPP && is_of_card(s))
		return err_set(
		    e, rc, STATUS_FAILED, s->path, "put back",
		    "the card's driver does not allow it now; set the interface up and run kbtune restore again");
	return err_sys(e, rc, s->path, "put back");
}

/* Every byte of a recorded machine is restored, even if its form ignores some. */
static bool is_recorded_whole(const struct machine *m, const struct step *s)
{
	char *text;
	bool is = !m->root.live && !machine_read(m, s->path, &text);

	if (!is)
		return false;
	is = !strcmp(text, step_text(s, "raw"));
	free(text);
	return is;
}

static int put_back_value(struct machine *m, const struct step *s)
{
	int rc;

	if (!m->root.live)
		return machine_put_back(m, s->path, step_text(s, "raw"));
	rc = is_now(m, s, s->before);
	if (rc)
		return rc > 0 ? 0 : rc;
	return write_in_form(m, s, s->before);
}

/* A card's driver may make another value even of one that it had by itself; there is no way back to that one, so it is
 * said. */
static bool was_rounded_back(struct machine *m, const struct step *s)
{
	char *now;
	bool was;

	if (!is_of_card(s) || read_now(m, s, &now))
		return false;
	was = !form_same(form_of(s), now, s->before) && !form_same(form_of(s), now, changed_value(s));
	if (was)
		fprintf(stderr, "kbtune: %s: the card's driver made it %s when it was put back to %s\n", s->path, now,
			s->before);
	free(now);
	return was;
}

static int file_undo(struct machine *m, const struct step *s, struct err *e)
{
	struct err other = ERR_INIT;
	size_t count;
	struct wanted *beside = want_farther(m, s, want_beside(m, s, &count), &count);
	int rc = put_back_value(m, s);

	if (count)
		rc = put_back_family(m, s, beside, count, rc);

	if (!rc && !is_recorded_whole(m, s) && !was_rounded_back(m, s))
		rc = compare_value(m, s, "put back", s->before, &other);
	if (!rc)
		rc = compare_beside(m, s, beside, count, &other);
	free_wanted(beside, count);
	if (other.status)
		return err_set(e, rc, other.status, NULL, NULL, "%s", other.text);
	return rc ? judge_failure(m, s, rc, e) : 0;
}

const struct op op_file = {
    .name = "file",
    .right = "CAP_SYS_ADMIN",
    .probe = file_probe,
    .apply = file_apply,
    .check = file_check,
    .undo = file_undo,
};
