#include "study/boots/boots_plan.h"

#include <errno.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "common/codec.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "common/units.h"
#include "files/rundir/writer.h"
#include "judge/compare/comparison.h"
#include "measure/run/forecast.h"
#include "measure/run/host_state.h"
#include "measure/run/run.h"
#include "study/study.h"

#define STAGE	    "boots"
#define EVENTS_MOST 10000
#define SETTLE_MOST 86400

static const char *const arm_names[BOOTS_KERNELS] = {"old", "new"};
static const char *const whats[BOOTS_WHATS] = {"booted", "measured", "failed", "stopped"};

struct boots_plan *boots_plan_of(const struct study *s)
{
	return s->plan;
}

enum compare_arm boots_arm_of(size_t boot)
{
	return boot % 4 == 0 || boot % 4 == 3 ? ARM_BASE : ARM_WITH;
}

void boots_plan_cells(struct study *s)
{
	const struct boots_plan *p = boots_plan_of(s);

	for (size_t boot = 0; boot < BOOTS_KERNELS * p->boots; boot++)
		for (size_t run = 0; run < p->runs; run++) {
			struct cell *c = study_add_cell(s);

			c->name = fs_path("%s", arm_names[boots_arm_of(boot)]);
			c->stage = fs_path("%s", STAGE);
			c->block = boot;
		}
}

bool boots_is_done(const struct study *s, size_t boot)
{
	bool any = false;

	for (size_t i = 0; i < s->count; i++) {
		if (s->cell[i].block != boot)
			continue;
		if (s->cell[i].state != CELL_COMPLETED)
			return false;
		any = true;
	}
	return any;
}

size_t boots_done(const struct study *s)
{
	size_t n = 0;

	while (boots_is_done(s, n))
		n++;
	return n;
}

char *boots_running_kernel(char *buf)
{
	struct sysroot root;

	*buf = '\0';
	if (sysroot_open(&root, NULL, NULL))
		return buf;
	sysroot_line(&root, "/proc/sys/kernel/osrelease", buf, BOOTS_KERNEL_MOST);
	sysroot_close(&root);
	return buf;
}

void boots_plan_note(struct study *s, enum boots_what what, double took_s, const char *why)
{
	struct boots_plan *p = boots_plan_of(s);
	char utc[32], kernel[BOOTS_KERNEL_MOST], clean[512];

	if (p->events == EVENTS_MOST)
		return;
	p->event = grow_or_abort(p->event, p->events, sizeof(*p->event));
	p->event[p->events++] =
	    (struct boots_event){.utc = fs_path("%s", utc_now(utc, sizeof(utc), 0)),
				 .kernel = fs_path("%s", boots_running_kernel(kernel)),
				 .why = fs_path("%s", text_clean(why, strlen(why), clean, sizeof(clean))),
				 .boot = p->at.boot,
				 .what = what,
				 .took_s = took_s};
}

/* --- a new plan --- */

static int check_asked_for(const struct study_request *r, struct err *e)
{
	const struct boots_options *o = r->own;
	const char *missing =
	    !r->path		   ? "no SPEC given; 'kblat list experiments' lists experiments"
	    : !o->kernel[ARM_BASE] ? "no --old given: the release of the old kernel, as uname -r prints it"
	    : !o->kernel[ARM_WITH] ? "no --new given: the release of the new kernel, as uname -r prints it"
	    : !o->loader	   ? "no --loader given: " LOADER_NAMES
				   : NULL;

	if (missing)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "boots: %s", missing);
	for (size_t i = 0; i < BOOTS_KERNELS; i++)
		if (!study_is_name(o->kernel[i]) || strlen(o->kernel[i]) >= BOOTS_KERNEL_MOST)
			return err_set(e, -EINVAL, STATUS_USAGE, "boots", NULL,
				       "'%.80s' is not the release of a kernel, as uname -r prints it", o->kernel[i]);
	if (!strcmp(o->kernel[ARM_BASE], o->kernel[ARM_WITH]))
		return err_set(e, -EINVAL, STATUS_USAGE, "boots", NULL,
			       "both kernels are %s: they could not be told apart", o->kernel[ARM_BASE]);
	return 0;
}

static int read_settle(const struct boots_options *o, double *settle_s, struct err *e)
{
	char why[128];
	int64_t ns;

	if (!o->settle)
		return 0;
	if (unit_parse(UNIT_TIME_NS, o->settle, &ns, why, sizeof(why)))
		return err_set(e, -EINVAL, STATUS_USAGE, "--settle", NULL, "%s", why);
	if (ns < 0 || ns > (int64_t)SETTLE_MOST * 1000000000)
		return err_set(e, -EINVAL, STATUS_USAGE, "--settle", NULL, "must be from 0s to 24h, not %s", o->settle);
	*settle_s = (double)ns / 1e9;
	return 0;
}

/* What is in memory would be lost at the first boot. Of a folder that does not exist yet, the one above counts. */
static int check_outlives(const char *parent, struct err *e)
{
	char *path = fs_path("%s", parent), *slash;
	struct statfs fs;
	int rc;

	while ((rc = statfs(path, &fs)) && errno == ENOENT && (slash = strrchr(path, '/')) && slash > path)
		*slash = '\0';
	if (rc && errno == ENOENT)
		rc = statfs(*path == '/' ? "/" : ".", &fs);
	free(path);
	if (rc)
		return err_sys(e, -errno, parent, "find its file system");
	if (fs.f_type == TMPFS_MAGIC && !machine_state_sysroot())
		return err_set(
		    e, -EINVAL, STATUS_USAGE, parent, NULL,
		    "it is in memory (tmpfs) and would be lost at the first boot: name another folder with --out");
	return 0;
}

static int take_boots_spec(struct study *s, const struct study_request *r, struct err *e)
{
	struct boots_plan *p = boots_plan_of(s);
	struct spec spec;
	struct diag diag;
	int rc = spec_load(r->path, &r->overrides, &spec, &diag);

	diag_print(&spec.warnings, stderr);
	if (rc) {
		diag_print(&diag, stderr);
		err_set(e, rc, STATUS_USAGE, r->path, NULL, "the spec has errors");
	} else {
		s->name = fs_path("%s", spec.name);
		s->parent = run_parent(&spec, r->out);
		s->spec = realpath(spec.path, NULL);
		const struct forecast sum = forecast_run(&spec, s->parent, NULL);

		p->expected_s = forecast_seconds(&sum);
		rc = s->spec ? check_outlives(s->parent, e) : err_sys(e, -errno, r->path, "find");
	}
	diag_free(&diag);
	spec_free(&spec);
	return rc;
}

static int take_kernels(struct boots_plan *p, const struct boots_options *o, struct err *e)
{
	for (size_t i = 0; i < BOOTS_KERNELS; i++) {
		p->arm[i].kernel = fs_path("%s", o->kernel[i]);
		p->arm[i].entry = o->entry[i] ? fs_path("%s", o->entry[i]) : loader_entry(o->loader, o->kernel[i], e);
		if (!p->arm[i].entry)
			return -ENOENT;
	}
	return 0;
}

static size_t given_or(long given, size_t otherwise)
{
	return given ? (size_t)given : otherwise;
}

enum status boots_plan_make(struct study *s, const struct study_request *r, struct err *e)
{
	const struct boots_options *o = r->own;
	struct boots_plan *p = s->plan = or_abort(calloc(1, sizeof(*p)));
	char kernel[BOOTS_KERNEL_MOST];

	p->settle_s = BOOTS_SETTLE_S;
	if (check_asked_for(r, e) || read_settle(o, &p->settle_s, e) || take_kernels(p, o, e) ||
	    take_boots_spec(s, r, e))
		return err_status(e);
	p->loader = fs_path("%s", o->loader);
	p->home = fs_path("%s", boots_running_kernel(kernel));
	p->metric = o->metric ? fs_path("%s", o->metric) : NULL;
	p->boots = given_or(o->boots, BOOTS_EACH);
	p->runs = given_or(o->runs, BOOTS_RUNS);
	p->tries = given_or(o->tries, BOOTS_TRIES);
	words_copy(&p->quantities, o->quantities.items, o->quantities.count);
	words_copy(&p->margins, o->margins.items, o->margins.count);
	words_copy(&p->judge, o->judge.items, o->judge.count);
	boots_plan_cells(s);
	return STATUS_OK;
}

/* --- what it costs --- */

/* The mean time that events of a kind took; NaN: there were none. */
static double mean_took_s(const struct boots_plan *p, enum boots_what what)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->events; i++)
		if (p->event[i].what == what && !isnan(p->event[i].took_s)) {
			sum += p->event[i].took_s;
			n++;
		}
	return n ? sum / (double)n : NAN;
}

void boots_plan_show(const struct study *s, const struct study_request *r)
{
	const struct boots_plan *p = boots_plan_of(s);
	const double reboot = mean_took_s(p, BOOTS_BOOTED), measured = mean_took_s(p, BOOTS_MEASURED),
		     reboot_s = isnan(reboot) ? BOOTS_REBOOT_S : reboot,
		     measure_s = isnan(measured) ? p->settle_s + (double)p->runs * p->expected_s : measured,
		     left = (double)(BOOTS_KERNELS * p->boots - boots_done(s)), least = BOOTS_KERNELS * BOOTS_PER_LOOK;
	char boot[FORECAST_TEXT_MAX], in_boot[FORECAST_TEXT_MAX], settle[FORECAST_TEXT_MAX], run[FORECAST_TEXT_MAX],
	    all[FORECAST_TEXT_MAX], soon[FORECAST_TEXT_MAX];

	if (r->json) {
		json_t *j = study_to_json(s);

		json_print(j, stdout);
		json_decref(j);
		return;
	}
	printf("old: %s (entry '%s'), new: %s (entry '%s'), by %s\n", text_named(p->arm[ARM_BASE].kernel),
	       text_shown(p->arm[ARM_BASE].entry), text_named(p->arm[ARM_WITH].kernel),
	       text_shown(p->arm[ARM_WITH].entry), text_named(p->loader));
	printf("a boot: about %s to reboot (%s), %s to settle and measure (%s): %s to settle, %zu runs of about %s\n",
	       forecast_text(reboot_s, boot, sizeof(boot)), isnan(reboot) ? "assumed" : "measured",
	       forecast_text(measure_s, in_boot, sizeof(in_boot)), isnan(measured) ? "expected" : "measured",
	       forecast_text(p->settle_s, settle, sizeof(settle)), p->runs,
	       forecast_text(p->expected_s, run, sizeof(run)));
	printf("at most %g boots: %s; it ends as soon as there is an answer, at the earliest after %g boots: %s\n",
	       left, forecast_text(left * (reboot_s + measure_s), all, sizeof(all)), fmin(least, left),
	       forecast_text(fmin(least, left) * (reboot_s + measure_s), soon, sizeof(soon)));
}

void boots_plan_print_events(const struct study *s)
{
	const struct boots_plan *p = boots_plan_of(s);

	for (size_t i = 0; i < p->events; i++) {
		const struct boots_event *v = &p->event[i];

		printf("%s  boot %zu, %s: %s", text_shown(v->utc), v->boot + 1, arm_names[boots_arm_of(v->boot)],
		       whats[v->what]);
		if (!isnan(v->took_s))
			printf(", %.0f s", v->took_s);
		printf(" (%s)%s%s\n", text_named(v->kernel), *v->why ? ": " : "", text_shown(v->why));
	}
}

/* --- JSON --- */

#define BOOTS_NUMBER(member, from, to) CODEC(boots_plan, member, .least = (from), .most = (to), .flags = CODEC_NEEDED)
#define BOOTS_WORDS(member)                                                                                            \
	CODEC_LISTED(#member, boots_plan, member.word, member.count, codec_texts, .flags = CODEC_NEEDED)

static const struct codec arm_rows[] = {
    CODEC(boots_kernel, kernel, .flags = CODEC_NEEDED, .check = study_check_name),
    CODEC(boots_kernel, entry, .flags = CODEC_NEEDED),
    {0},
};

static const struct codec at_rows[] = {
    CODEC(boots_at, boot, .most = BOOTS_KERNELS * BOOTS_MOST_EACH, .flags = CODEC_NEEDED),
    CODEC(boots_at, asked),
    CODEC(boots_at, asked_s, .most = 1e12, .flags = CODEC_NEEDED),
    CODEC_AS("measured_in", boots_at, here),
    CODEC(boots_at, failed, .most = BOOTS_TRIES_MOST, .flags = CODEC_NEEDED),
    {0},
};

static const struct codec event_rows[] = {
    CODEC(boots_event, utc, .flags = CODEC_NEVER_NULL),
    CODEC(boots_event, boot, .most = BOOTS_KERNELS * BOOTS_MOST_EACH, .flags = CODEC_NEEDED),
    CODEC(boots_event, what, CODEC_WORDS(whats), .flags = CODEC_NEEDED),
    CODEC(boots_event, kernel, .flags = CODEC_NEVER_NULL),
    CODEC(boots_event, took_s),
    CODEC(boots_event, why, .flags = CODEC_NEVER_NULL),
    {0},
};

static const struct codec plan_rows[] = {
    CODEC_FIXED("arms", boots_plan, arm, arm_rows),
    CODEC(boots_plan, loader, .flags = CODEC_NEVER_NULL),
    CODEC(boots_plan, home, .flags = CODEC_NEVER_NULL),
    BOOTS_NUMBER(boots, 1, BOOTS_MOST_EACH),
    BOOTS_NUMBER(runs, 1, BOOTS_MOST_EACH),
    BOOTS_NUMBER(settle_s, 0, SETTLE_MOST),
    BOOTS_NUMBER(tries, 1, BOOTS_TRIES_MOST),
    BOOTS_NUMBER(expected_s, 0, 1e9),
    CODEC(boots_plan, metric),
    BOOTS_WORDS(quantities),
    BOOTS_WORDS(margins),
    BOOTS_WORDS(judge),
    CODEC_NESTED("at", boots_plan, at, at_rows, .flags = CODEC_NEEDED),
    CODEC_LISTED("events", boots_plan, event, events, event_rows, .flags = CODEC_NEEDED),
    {0},
};

void boots_plan_free(void *plan)
{
	codec_free(plan_rows, plan);
	free(plan);
}

json_t *boots_plan_to_json(const void *plan)
{
	return codec_encode(plan_rows, plan, NULL);
}

/* What the plan has no such boot for. */
static const char *trouble_with_boots(const struct boots_plan *p)
{
	const size_t most = BOOTS_KERNELS * p->boots;

	if (p->at.boot > most)
		return "'at' is beyond the last boot";
	if (p->events > EVENTS_MOST)
		return "'events' has too many";
	for (size_t i = 0; i < p->events; i++)
		if (p->event[i].boot > most)
			return "'events' has one that is beyond the last boot";
	return NULL;
}

int boots_plan_from_json(struct study *s, const json_t *j, const char *file, struct err *e)
{
	struct boots_plan *p = s->plan = or_abort(calloc(1, sizeof(*p)));
	const char *why = codec_decode(plan_rows, p, j, NULL) ?: trouble_with_boots(p);

	return why ? err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			     "it is not a comparison of boots that this kblat can read: %s", why)
		   : 0;
}

json_t *boots_answer_to_json(const struct comparison *c, const char *page)
{
	return json_pack("{s:s, s:s, s:[I, I], s:s}", "verdict", compare_outcomes[c->verdict], "answer", c->answer,
			 "boots", (json_int_t)c->arm[ARM_BASE].units, (json_int_t)c->arm[ARM_WITH].units, "page", page);
}
