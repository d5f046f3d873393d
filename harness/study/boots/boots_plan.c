#include "study/boots/boots_plan.h"

#include <errno.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/codec.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "common/units.h"
#include "files/rundir/writer.h"
#include "judge/compare/comparison.h"
#include "measure/run/environment.h"
#include "measure/run/forecast.h"
#include "measure/run/host_state.h"
#include "measure/run/run.h"
#include "study/study.h"

#define STAGE	    "boots"
#define EVENTS_MOST 10000
#define SETTLE_MOST 86400

static const char *const run_folders[ARMS] = {"old", "new"};
static const char *const ways[BOOTS_WAYS] = {"pair", "series", "bisect"};
static const char *const whats[BOOTS_WHATS] = {"booted", "measured", "failed", "stopped"};

struct boots_plan *boots_plan_of(const struct study *s)
{
	return s->plan;
}

enum compare_arm boots_role_of(const struct boots_plan *p, size_t boot)
{
	const size_t i = boot % boots_each(p) % 4;

	return i == 0 || i == 3 ? ARM_BASE : ARM_WITH;
}

size_t boots_arm_of(const struct boots_plan *p, size_t boot)
{
	return p->way == BOOTS_SERIES ? boot % p->arms : boots_role_of(p, boot) == ARM_BASE ? 0 : p->at.with;
}

/* What a boot, and the folder of its runs, is called. */
static const char *boots_name_of(const struct boots_plan *p, size_t boot)
{
	return p->way == BOOTS_SERIES ? p->arm[boots_arm_of(p, boot)].kernel : run_folders[boots_role_of(p, boot)];
}

size_t boots_each(const struct boots_plan *p)
{
	return (p->way == BOOTS_SERIES ? p->arms : ARMS) * p->boots;
}

/* That of the last kernel with the first, and one for each halving. */
size_t boots_comparisons(const struct boots_plan *p)
{
	size_t n = 1;

	for (size_t left = p->arms - 1; p->way == BOOTS_BISECT && left > 1; left = (left + 1) / 2)
		n++;
	return n;
}

size_t boots_all(const struct boots_plan *p)
{
	return boots_comparisons(p) * boots_each(p);
}

void boots_plan_cells(struct study *s)
{
	const struct boots_plan *p = boots_plan_of(s);

	for (size_t boot = 0; boot < boots_all(p); boot++)
		for (size_t run = 0; run < p->runs; run++) {
			struct cell *c = study_add_cell(s);

			c->name = fs_path("%s", boots_name_of(p, boot));
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
	const struct boots_plan *p = boots_plan_of(s);
	size_t n = 0;

	while (n < boots_each(p) && boots_is_done(s, p->at.first + n))
		n++;
	return n;
}

/* Of one boot at a time only some runs may be. */
size_t boots_measured(const struct study *s)
{
	return study_count(s, CELL_COMPLETED) / boots_plan_of(s)->runs;
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
	char utc[32], running[BOOTS_KERNEL_MOST], clean[512];
	const char *kernel = p->in_guest ? p->arm[boots_arm_of(p, p->at.boot)].kernel : boots_running_kernel(running);

	if (p->events == EVENTS_MOST)
		return;
	p->event = grow_or_abort(p->event, p->events, sizeof(*p->event));
	p->event[p->events++] =
	    (struct boots_event){.utc = fs_path("%s", utc_now(utc, sizeof(utc), 0)),
				 .kernel = fs_path("%s", kernel),
				 .why = fs_path("%s", text_clean(why, strlen(why), clean, sizeof(clean))),
				 .boot = p->at.boot,
				 .what = what,
				 .took_s = took_s,
				 .others_percent = NAN};
}

/* More than there can be, or what the plan has no such boot or kernel for. */
static const char *trouble_with_boots(const struct boots_plan *p)
{
	const struct boots_at *a = &p->at;
	const size_t least = p->way == BOOTS_SERIES ? 1 : ARMS, most = p->way == BOOTS_PAIR ? ARMS : BOOTS_ARMS_MOST;

	if (p->arms < least || p->arms > most)
		return "too few kernels, or too many";
	if (boots_all(p) * p->runs > BOOTS_RUNS_ALL)
		return "too many runs";
	if (p->way == BOOTS_BISECT && (a->first % boots_each(p) || a->first >= boots_all(p) || !a->with ||
				       a->with >= p->arms || a->high >= p->arms || a->low > a->high))
		return "'at' does not say what is compared";
	if (a->boot > boots_all(p))
		return "'at' is beyond the last boot";
	if (p->events > EVENTS_MOST)
		return "'events' has too many";
	for (size_t i = 0; i < p->events; i++)
		if (p->event[i].boot > boots_all(p))
			return "'events' has one that is beyond the last boot";
	return NULL;
}

/* --- a new plan --- */

static int check_asked_for(const struct study_request *r, struct err *e)
{
	const struct boots_options *o = r->own;
	const bool many = o->kernels.count, guest = o->loader && loader_is_guest(o->loader);
	bool pair = false, settled = false, of_guest = false;

	for (size_t i = 0; i < ARMS; i++) {
		settled |= o->pair[i][PAIR_ENTRY] != NULL;
		of_guest |= o->pair[i][PAIR_APPEND] || o->pair[i][PAIR_BESIDE];
		pair |= o->pair[i][PAIR_KERNEL] || settled || of_guest;
	}
	settled |= o->settle != NULL;
	of_guest |= o->no_rdma || o->count_time;
	for (size_t i = 0; i < GUEST_OPTIONS; i++)
		of_guest |= o->guest[i] != NULL;
	const struct {
		bool is;
		const char *text;
	} wrong[] = {
	    {!r->path, "no SPEC given; 'kblat list experiments' lists experiments"},
	    {!many && !o->pair[ARM_BASE][PAIR_KERNEL],
	     "no --old given: the release of the old kernel, as uname -r prints it"},
	    {!many && !o->pair[ARM_WITH][PAIR_KERNEL],
	     "no --new given: the release of the new kernel, as uname -r prints it"},
	    {!o->loader, "no --loader given: " LOADER_NAMES},
	    {many && pair,
	     "--kernel, which names all from old to new, does not go with --old and --new and their options"},
	    {many && !o->bisect && r->format, "--format is for an answer; a series has none"},
	    {guest && settled, "--old-entry, --new-entry and --settle are not for --loader guest"},
	    {of_guest && !guest, "options of the guest are for --loader guest alone"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (wrong[i].is)
			return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "boots: %s", wrong[i].text);
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
	if (ns > 0 && ns < 1000)
		return err_set(e, -EINVAL, STATUS_USAGE, "--settle", NULL,
			       "%s is a few nanoseconds; write it with its unit, as 30s or 5min", o->settle);
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
		const int missing = errno;
		const struct forecast sum = forecast_run(&spec, s->parent, NULL);

		p->expected_s = forecast_seconds(&sum);
		if (r->dry_run && !p->in_guest)
			rc = environment_foresee_points(spec.point, spec.point_count, stderr, e);
		if (!rc && !s->spec)
			rc = err_sys(e, -missing, r->path, "find");
		if (!rc && !p->in_guest)
			rc = check_outlives(s->parent, e);
	}
	diag_free(&diag);
	spec_free(&spec);
	return rc;
}

static char *asked_text(const char *text)
{
	return text ? fs_path("%s", text) : NULL;
}

/* A file, and after a colon its modules. */
static int check_kernel(const char *text, struct err *e)
{
	char *file = fs_path("%.*s", (int)strcspn(text, ":"), text);
	int rc = 0;

	if (access(file, R_OK))
		rc = err_set(e, -ENOENT, STATUS_USAGE, file, NULL, "this kernel cannot be read: %s", strerror(errno));
	free(file);
	return rc;
}

/* In a guest, which kernel is running is known without its name, which a file need not have. */
static int take_kernel(struct boots_plan *p, size_t i, const struct boots_options *o, struct err *e)
{
	const bool many = o->kernels.count;
	const char *const *pair = o->pair[many ? 0 : i];
	const char *text = many ? o->kernels.items[i] : pair[PAIR_KERNEL],
		   *slash = p->in_guest ? strrchr(text, '/') : NULL, *name = slash ? slash + 1 : text;

	if (!study_is_name(name) || (!p->in_guest && strlen(name) >= BOOTS_KERNEL_MOST))
		return err_set(e, -EINVAL, STATUS_USAGE, "boots", NULL,
			       "'%.80s' is not the release of a kernel, as uname -r prints it", text);
	if (slash && *text != '/')
		return err_set(e, -EINVAL, STATUS_USAGE, "boots", NULL, "'%.80s' must be named by its absolute path",
			       text);
	if (slash && check_kernel(text, e))
		return -ENOENT;
	for (size_t k = 0; k < i && (many || !p->in_guest); k++)
		if (!strcmp(p->arm[k].kernel, name))
			return err_set(e, -EINVAL, STATUS_USAGE, "boots", NULL,
				       "%s kernels are %s: they could not be told apart", many ? "two" : "both", name);
	p->arm[i] = (struct boots_arm){.kernel = fs_path("%s", name),
				       .entry = asked_text(p->in_guest ? text
							   : many      ? NULL
								       : pair[PAIR_ENTRY]),
				       .append = many ? NULL : asked_text(pair[PAIR_APPEND]),
				       .beside = many ? NULL : asked_text(pair[PAIR_BESIDE])};
	return 0;
}

/* The boot loader is asked only if all else is right. */
static int take_kernels(struct boots_plan *p, const struct boots_options *o, struct err *e)
{
	int rc = 0;

	p->arms = o->kernels.count ? o->kernels.count : ARMS;
	p->arm = or_abort(calloc(p->arms, sizeof(*p->arm)));
	for (size_t i = 0; i < p->arms && !rc; i++)
		rc = take_kernel(p, i, o, e);
	for (size_t i = 0; i < p->arms && !rc; i++) {
		p->arm[i].entry = p->arm[i].entry ?: loader_entry(o->loader, p->arm[i].kernel, e);
		rc = p->arm[i].entry ? 0 : -ENOENT;
	}
	return rc;
}

static void take_guest(struct boots_plan *p, const struct boots_options *o)
{
	static const char *const flags[GUEST_OPTIONS] = {"--cpus", "--nodes", "--memory", "--timeout"};

	for (size_t i = 0; i < GUEST_OPTIONS; i++)
		if (o->guest[i])
			words_copy(&p->guest, (const char *const[]){flags[i], o->guest[i]}, 2);
	if (o->no_rdma)
		words_add(&p->guest, fs_path("--no-rdma"));
	if (o->count_time)
		words_add(&p->guest, fs_path(GUEST_COUNTS));
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
	const char *why;

	if (check_asked_for(r, e))
		return err_status(e);
	p->way = o->bisect ? BOOTS_BISECT : o->kernels.count ? BOOTS_SERIES : BOOTS_PAIR;
	if (loader_check_name(o->loader, e))
		return err_status(e);
	p->in_guest = loader_is_guest(o->loader);
	p->settle_s = p->in_guest ? 0 : BOOTS_SETTLE_S;
	if (read_settle(o, &p->settle_s, e) || take_kernels(p, o, e) || take_boots_spec(s, r, e))
		return err_status(e);
	take_guest(p, o);
	p->at.high = p->at.with = p->arms - 1;
	p->loader = fs_path("%s", o->loader);
	p->home = fs_path("%s", boots_running_kernel(kernel));
	p->metric = o->metric ? fs_path("%s", o->metric) : NULL;
	p->boots = given_or(o->boots, p->way == BOOTS_SERIES ? BOOTS_EACH_SERIES : BOOTS_EACH);
	p->runs = given_or(o->runs, p->way == BOOTS_SERIES ? 1 : BOOTS_RUNS);
	p->tries = given_or(o->tries, BOOTS_TRIES);
	words_copy(&p->quantities, o->quantities.items, o->quantities.count);
	if (p->way == BOOTS_BISECT && !p->quantities.count)
		words_add(&p->quantities, fs_path("p50"));
	words_copy(&p->margins, o->margins.items, o->margins.count);
	words_copy(&p->judge, o->judge.items, o->judge.count);
	why = trouble_with_boots(p);
	if (why)
		return err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "boots: %s", why), STATUS_USAGE;
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

static void show_kernels(const struct boots_plan *p)
{
	for (size_t i = 0; i < p->arms; i++) {
		const struct boots_arm *a = &p->arm[i];

		printf("%s: %s", p->way == BOOTS_PAIR ? run_folders[i] : "kernel", text_named(a->kernel));
		if (!p->in_guest || a->append)
			printf(" (%s '%s')", p->in_guest ? "with" : "entry",
			       text_shown(p->in_guest ? a->append : a->entry));
		printf(", ");
	}
	printf("by %s\n", text_named(p->loader));
}

void boots_plan_show(const struct study *s, const struct study_request *r)
{
	const struct boots_plan *p = boots_plan_of(s);
	const double reboot = mean_took_s(p, BOOTS_BOOTED), measured = mean_took_s(p, BOOTS_MEASURED),
		     assumed_s = p->in_guest ? (isnan(measured) ? GUEST_BOOT_S : 0) : BOOTS_REBOOT_S,
		     reboot_s = isnan(reboot) ? assumed_s : reboot,
		     measure_s = isnan(measured) ? p->settle_s + (double)p->runs * p->expected_s : measured,
		     left = (double)(boots_all(p) - boots_measured(s)),
		     least = p->way == BOOTS_SERIES ? left : fmin(ARMS * BOOTS_PER_LOOK, left);
	char boot[FORECAST_TEXT_MAX], in_boot[FORECAST_TEXT_MAX], settle[FORECAST_TEXT_MAX], run[FORECAST_TEXT_MAX],
	    all[FORECAST_TEXT_MAX], soon[FORECAST_TEXT_MAX];

	if (r->json) {
		json_t *j = study_to_json(s);

		json_print(j, stdout);
		json_decref(j);
		return;
	}
	show_kernels(p);
	if (p->in_guest) /* it is not known when it has booted */
		printf("a boot: about %s (%s): %d s to start and end",
		       forecast_text(reboot_s + measure_s, boot, sizeof(boot)),
		       isnan(measured) ? "expected" : "measured", GUEST_BOOT_S);
	else
		printf("a boot: about %s to reboot (%s), %s to settle and measure (%s): %s to settle",
		       forecast_text(reboot_s, boot, sizeof(boot)), isnan(reboot) ? "assumed" : "measured",
		       forecast_text(measure_s, in_boot, sizeof(in_boot)), isnan(measured) ? "expected" : "measured",
		       forecast_text(p->settle_s, settle, sizeof(settle)));
	printf(", %zu run%s of about %s\n", p->runs, p->runs == 1 ? "" : "s",
	       forecast_text(p->expected_s, run, sizeof(run)));
	printf("at most %g boots: %s; it ends as soon as there is an answer, at the earliest after %g boots: %s\n",
	       left, forecast_text(left * (reboot_s + measure_s), all, sizeof(all)), least,
	       forecast_text(least * (reboot_s + measure_s), soon, sizeof(soon)));
}

void boots_plan_print_events(const struct study *s)
{
	const struct boots_plan *p = boots_plan_of(s);

	for (size_t i = 0; i < p->events; i++) {
		const struct boots_event *v = &p->event[i];

		printf("%s  boot %zu, %s: %s", text_shown(v->utc), v->boot + 1, boots_name_of(p, v->boot),
		       whats[v->what]);
		if (!isnan(v->took_s))
			printf(", %.0f s", v->took_s);
		printf(" (%s)%s%s\n", text_named(v->kernel), *v->why ? ": " : "", text_shown(v->why));
	}
}

/* --- JSON --- */

#define BOOTS_NUMBER(member, from, to) CODEC(boots_plan, member, .least = (from), .most = (to), .flags = CODEC_NEEDED)
#define BOOTS_WORDS(member, ...)                                                                                       \
	CODEC_LISTED(#member, boots_plan, member.word, member.count, codec_texts, ##__VA_ARGS__)

static const struct codec arm_rows[] = {
    CODEC(boots_arm, kernel, .flags = CODEC_NEEDED, .check = study_check_name),
    CODEC(boots_arm, entry, .flags = CODEC_NEEDED),
    CODEC(boots_arm, append),
    CODEC(boots_arm, beside),
    {0},
};

static const struct codec at_rows[] = {
    CODEC(boots_at, boot, .flags = CODEC_NEEDED),
    CODEC(boots_at, asked),
    CODEC(boots_at, asked_s, .most = 1e12, .flags = CODEC_NEEDED),
    CODEC_AS("measured_in", boots_at, here),
    CODEC(boots_at, failed, .most = BOOTS_TRIES_MOST, .flags = CODEC_NEEDED),
    CODEC(boots_at, first),
    CODEC(boots_at, low),
    CODEC(boots_at, high),
    CODEC(boots_at, with),
    {0},
};

static const struct codec event_rows[] = {
    CODEC(boots_event, utc, .flags = CODEC_NEVER_NULL),
    CODEC(boots_event, boot, .flags = CODEC_NEEDED),
    CODEC(boots_event, what, CODEC_WORDS(whats), .flags = CODEC_NEEDED),
    CODEC(boots_event, kernel, .flags = CODEC_NEVER_NULL),
    CODEC(boots_event, took_s),
    CODEC(boots_event, others_percent),
    CODEC(boots_event, why, .flags = CODEC_NEVER_NULL),
    {0},
};

static const struct codec plan_rows[] = {
    CODEC(boots_plan, way, CODEC_WORDS(ways)),
    CODEC_LISTED("arms", boots_plan, arm, arms, arm_rows, .flags = CODEC_NEEDED),
    CODEC(boots_plan, loader, .flags = CODEC_NEVER_NULL),
    BOOTS_WORDS(guest),
    CODEC(boots_plan, home, .flags = CODEC_NEVER_NULL),
    BOOTS_NUMBER(boots, 1, BOOTS_MOST_EACH),
    BOOTS_NUMBER(runs, 1, BOOTS_MOST_EACH),
    BOOTS_NUMBER(settle_s, 0, SETTLE_MOST),
    BOOTS_NUMBER(tries, 1, BOOTS_TRIES_MOST),
    BOOTS_NUMBER(expected_s, 0, 1e9),
    CODEC(boots_plan, metric),
    BOOTS_WORDS(quantities, .flags = CODEC_NEEDED),
    BOOTS_WORDS(margins, .flags = CODEC_NEEDED),
    BOOTS_WORDS(judge, .flags = CODEC_NEEDED),
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

int boots_plan_from_json(struct study *s, const json_t *j, const char *file, struct err *e)
{
	struct boots_plan *p = s->plan = or_abort(calloc(1, sizeof(*p)));
	const char *why = codec_decode(plan_rows, p, j, NULL);

	/* 1.0.0 knew only two kernels. */
	if (!why && p->way != BOOTS_BISECT)
		p->at = (struct boots_at){p->at.boot,	 p->at.asked,  p->at.here,
					  p->at.asked_s, p->at.failed, .with = p->arms - 1};
	p->in_guest = p->loader && loader_is_guest(p->loader);
	why = why ?: trouble_with_boots(p);
	return why ? err_set(e, -EINVAL, STATUS_USAGE, file, NULL,
			     "it is not a comparison of boots that this kblat can read: %s", why)
		   : 0;
}

char *boots_page(const struct study *s)
{
	const struct boots_plan *p = boots_plan_of(s);
	const size_t comparison = p->at.first / boots_each(p);

	return comparison ? fs_path("comparison-%zu", comparison + 1) : fs_path("comparison");
}

json_t *boots_answer_to_json(const struct study *s, const struct comparison *c)
{
	char *page = boots_page(s);
	json_t *j = json_pack("{s:s, s:s, s:[I, I], s:s+}", "verdict", compare_outcomes[c->verdict], "answer",
			      c->answer, "boots", (json_int_t)c->arm[ARM_BASE].units,
			      (json_int_t)c->arm[ARM_WITH].units, "page", page, "/report.html");

	free(page);
	return j;
}
