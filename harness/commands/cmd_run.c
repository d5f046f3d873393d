#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "analysis/summary_table.h"
#include "campaign/campaign.h"
#include "claims/claim_json.h"
#include "claims/claims.h"
#include "claims/claims_table.h"
#include "commands/commands.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "common/version.h"
#include "point/settings.h"
#include "run/channel.h"
#include "run/coordinator.h"
#include "run/environment.h"
#include "run/preflight.h"
#include "state/before_after.h"
#include "state/state.h"

const struct cli_command cmd_run_cli = {
    .name = "run",
    .synopsis =
	"SPEC|STUDY|CAMPAIGN [--quick] [--out DIR] [--set KEY=VALUE]… [--only KEY=VALUE]… [--device DEV] [--reps N] "
	"[--dry-run] [--json]",
    .summary = "run an experiment and seal its run directory",
    .details =
	"SPEC is a YAML file, or a directory with a spec.yaml in it (`kblat list` shows those there are). The run "
	"directory is made inside runs/ beside the spec, or inside --out; its path is the last line of standard "
	"output.\n\n"
	"STUDY is a directory with experiments in it: all of them are run, one after the other, as a campaign: a "
	"directory "
	"with their run directories, campaign.json, and a table of what they claim (claims.tsv). One that was "
	"interrupted "
	"goes on with `kblat run CAMPAIGN`, or --resume.\n\n"
	"Each side of a point is a process of its own. --source and --sink give a command prefix that starts it: "
	"\"ip netns exec ns0\", \"numactl -m 0\", \"ssh host\". Both talk over their standard input and output; "
	"nothing "
	"listens on a network but the data path under test.\n\n"
	"Ctrl-C ends the run early and keeps what was measured.\n\n"
	"Exit status: 0 measured and valid; 3 measured, but not valid (the reasons are said), or a claim fails; 1 a "
	"point failed or the "
	"run "
	"was interrupted; 2 the spec or the command line is wrong; 77 no point is possible on this machine.",
    .min_args = 1,
    .max_args = 1,
};

struct run_options {
	struct cli_list args, set, only;
	const char *out, *source, *sink, *device, *resume;
	long reps;
	bool quick, dry_run, json;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int signal_number)
{
	(void)signal_number;
	if (interrupted++)
		_exit(STATUS_FAILED); /* asked twice: at once; endpoints see the end of their input and clean up */
}

static void catch_signals(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction sa = {.sa_handler = on_signal};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		sigaction(caught[i], &sa, NULL);
		sigaddset(&set, caught[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL); /* let in where we wait: channel_wait() */
}

/* Signals are let in for a moment, so that one that came while the coordinator was busy is seen. */
static bool is_interrupted(void)
{
	sigset_t none, old;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return interrupted != 0;
}

/* "kblat run: point 3/7, repetition 2/5, 120000 of 400000 messages, 0:12 left" on one line of the terminal. */
static void show_progress(const struct progress *p)
{
	double part = p->all_messages ? (double)p->messages / (double)p->all_messages : 0;
	double passed = (double)(channel_now_ms() - p->started_ms) / 1000;
	char left[32] = "";

	if (part > 0.02)
		snprintf(left, sizeof(left), ", %d:%02d left", (int)(passed * (1 - part) / part) / 60,
			 (int)(passed * (1 - part) / part) % 60);
	fprintf(stderr, "\r\033[Kpoint %zu/%zu, repetition %lld/%lld, %llu of %llu messages%s", p->point, p->points,
		p->rep, p->reps, (unsigned long long)p->messages, (unsigned long long)p->all_messages, left);
}

static void clear_progress(bool shown)
{
	if (shown)
		fprintf(stderr, "\r\033[K");
}

static char *parent_of(const struct spec *spec, const char *out)
{
	if (out)
		return fs_path("%s", out);

	char *path = strdup(spec->path);
	char *parent = fs_path("%s/runs", dirname(path));

	free(path);
	return parent;
}

static json_t *describe_series(const struct kernel_series *s)
{
	json_t *j = json_pack("{s:s, s:s, s:s, s:s, s:s*, s:s*}", "name", s->name, "label", s->label, "column",
			      s->column, "minus", s->minus, "with", s->with, "among", s->among);

	if (s->divide > 1)
		json_object_set_new(j, "divide", json_integer(s->divide));
	if (s->sparse)
		json_object_set_new(j, "sparse", json_true());
	return j;
}

static json_t *kernel_tables(const struct spec *spec)
{
	json_t *all = json_object();
	size_t i;
	const json_t *point;

	json_array_foreach (spec->points, i, point) {
		const char *name = json_string_value(json_object_get(json_object_get(point, "params"), "kernel"));
		const struct kernel_ops *k = kernel_find(name);
		json_t *columns = json_array(), *series = json_array();

		for (const struct kernel_column *c = k->columns; c->name; c++)
			json_array_append_new(columns,
					      json_pack("{s:s, s:s, s:s*}", "name", c->name, "side",
							c->side == ROLE_SOURCE ? "source" : "sink", "with", c->with));
		for (const struct kernel_series *r = k->series; r->name; r++)
			json_array_append_new(series, describe_series(r));
		json_object_set_new(all, name, json_pack("{s:o, s:o}", "columns", columns, "series", series));
	}
	return all;
}

static json_t *resolve(const struct spec *spec)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:O, s:O, s:o}", "schema", 1, "name", spec->name, "title",
			 spec->title, "variant", spec->quick ? "quick" : "full", "kernels", kernel_tables(spec),
			 "points", spec->points, "named", spec->named, "claims", claim_list_to_json(&spec->claims));
}

/* The settings of every point, those that are the same everywhere first. */
static void print_points(const json_t *points)
{
	const json_t *first = json_object_get(json_array_get(points, 0), "params"), *point;
	size_t i;
	const char *key;
	json_t *value;

	printf("%zu point%s, %llu messages; settings that all share:\n", json_array_size(points),
	       json_array_size(points) == 1 ? "" : "s", preflight_messages(points));
	for (int shared = 1; shared >= 0; shared--)
		json_array_foreach (points, i, point) {
			const json_t *params = json_object_get(point, "params");

			if (shared && i > 0)
				break;
			printf(shared ? " " : "%4zu:", i);
			json_object_foreach (json_object_get(point, "params"), key, value) {
				bool same = true;
				size_t j;
				const json_t *other;

				json_array_foreach (points, j, other)
					same &= json_equal(json_object_get(json_object_get(other, "params"), key),
							   json_object_get(first, key));
				if (same != (shared != 0))
					continue;
				char *text = json_dumps(json_object_get(params, key), JSON_ENCODE_ANY | JSON_COMPACT);

				printf(" %s=%s", key, text);
				free(text);
			}
			printf("\n");
		}
}

static void read_first_line(const char *path, char *buf, size_t size)
{
	struct sysroot root;

	buf[0] = '\0';
	if (sysroot_open(&root, NULL, NULL))
		return;
	sysroot_line(&root, path, buf, size);
	sysroot_close(&root);
}

static json_t *clocks_at_start(struct coordinator *co)
{
	struct timespec mono, real, tai;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_TAI, &tai);
	co->conversion = clock_conversion_from(clock_ticks_begin(), co->clock.hz);
#define NS(t) ((json_int_t)(t).tv_sec * 1000000000 + (t).tv_nsec)
	return json_pack("{s:I, s:I, s:I}", "monotonic_ns", NS(mono), "realtime_ns", NS(real), "tai_ns", NS(tai));
#undef NS
}

static json_t *describe_run(struct coordinator *co, const struct spec *spec, int argc, char **argv, const char *host)
{
	char utc[32];
	json_t *words = json_array(), *clock = clock_json(&co->clock);

	json_array_append_new(words, json_string("kblat"));
	for (int i = 0; i < argc; i++)
		json_array_append_new(words, json_string(argv[i]));
	json_object_set_new(clock, "common", json_true());
	return json_pack(
	    "{s:i, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:n, s:o, s:{s:{s:s, s:[s]}}, s:o, s:b, s:[], s:[]}",
	    "schema", 1, "name", spec->name, "title", spec->title, "source", spec->source, "status", "RUNNING",
	    "variant", spec->quick ? "quick" : "full", "argv", words, "version", kblat_version, "commit", kblat_commit,
	    "started_utc", utc_now(utc, sizeof(utc), 0), "ended_utc", "t0", clocks_at_start(co), "hosts", host,
	    "boot_id", co->boot_id, "roles", "coordinator", "clock", clock, "valid", 0, "reasons", "warnings");
}

static void capture(struct rundir *dir, const char *host, const char *when)
{
	struct err e = ERR_INIT;
	struct sysroot root;
	char *path = fs_path("%s/state/%s/%s", dir->path, host, when);

	if (sysroot_open(&root, NULL, &e) == 0) {
		if (fs_mkdirs(path, &e) == 0)
			state_capture(&root, path, NULL, &e);
		sysroot_close(&root);
	}
	if (e.status) {
		fprintf(stderr, "kblat: %s\n", e.text);
		rundir_log(dir, "state", json_pack("{s:s}", "error", e.text));
	}
	free(path);
}

static void note_changes(struct rundir *dir, const char *host, json_t *environments)
{
	struct err e = ERR_INIT;
	char *before = fs_path("%s/state/%s/before", dir->path, host);
	char *after = fs_path("%s/state/%s/after", dir->path, host);
	char *path = fs_path("%s/state/%s/changes.json", dir->path, host);
	json_t *changes = before_after_changes(before, after, &e);

	if (changes)
		json_object_set(changes, "environments", environments);
	if (!changes || json_write(path, changes, &e))
		rundir_log(dir, "state", json_pack("{s:s}", "error", e.text));
	json_decref(changes);
	free(before);
	free(after);
	free(path);
}

/* How the points ended. */
struct tally {
	size_t count[OUTCOMES];
	size_t total;
};

static void run_points(struct coordinator *co, const struct spec *spec, bool show, struct tally *tally)
{
	size_t i;
	const json_t *point;

	tally->total = json_array_size(spec->points);
	co->progress.points = tally->total;
	co->progress.all_messages = preflight_messages(spec->points);
	json_array_foreach (spec->points, i, point) {
		struct err e = ERR_INIT;
		enum outcome outcome;

		if (is_interrupted())
			break;
		co->progress.point = i + 1;
		outcome = coordinator_run_point(co, point, &e);
		tally->count[outcome]++;
		if (outcome == OUTCOME_COMPLETED)
			continue;
		clear_progress(show);
		fprintf(stderr, "kblat: point %zu of %zu: %s: %s\n", i + 1, tally->total, outcome_names[outcome],
			outcome == OUTCOME_INTERRUPTED ? "by a signal" : e.text);
		rundir_update(co->rundir, NULL);
	}
	clear_progress(show);
}

static const char *status_of(const struct tally *t)
{
	if (interrupted)
		return "INTERRUPTED";
	return t->count[OUTCOME_FAILED] ? "FAILED" : "COMPLETED";
}

static enum status conclude(const struct tally *t, const json_t *summary)
{
	if (interrupted || t->count[OUTCOME_FAILED])
		return STATUS_FAILED;
	if (t->count[OUTCOME_IMPOSSIBLE] == t->total)
		return STATUS_IMPOSSIBLE;
	return json_is_true(json_object_get(summary, "valid")) ? STATUS_OK : STATUS_NO;
}

/* What became of the spec's claims, if it makes any. One that fails is a no. */
static enum status show_claims(const struct rundir *dir, bool json, enum status status)
{
	struct claim_verdicts verdicts = claims_read(dir->path);

	if (verdicts.count && !json) {
		printf("\n");
		claims_table(&verdicts, stdout);
	}
	if (status == STATUS_OK && claim_verdicts_status(&verdicts) == STATUS_NO)
		status = STATUS_NO;
	claim_verdicts_free(&verdicts);
	return status;
}

static enum status seal(struct rundir *dir, const struct tally *t, bool json, struct err *e)
{
	json_t *summary;
	json_t *points = json_pack("{s:I}", "total", (json_int_t)t->total);
	enum status status;

	for (size_t i = 0; i < OUTCOMES; i++)
		json_object_set_new(points, outcome_names[i], json_integer((json_int_t)t->count[i]));
	json_object_set_new(dir->run, "points", points);
	if (rundir_seal(dir, status_of(t), &summary, e)) {
		fprintf(stderr, "kblat: what was measured is in %s, not sealed\n", dir->path);
		return STATUS_FAILED;
	}
	if (json)
		json_print(summary, stdout);
	else
		summary_table((const json_t *const[]){summary}, 1, stdout);
	status = conclude(t, summary);
	status = show_claims(dir, json, status);
	if (interrupted)
		fprintf(stderr, "kblat: interrupted; what was measured is kept\n");
	json_decref(summary);
	printf("%s\n", dir->path);
	return status;
}

static enum status execute(struct coordinator *co, const struct spec *spec, const char *host, bool json, struct err *e)
{
	bool show = isatty(STDERR_FILENO);
	struct tally tally = {0};
	struct err left = ERR_INIT;

	co->interrupted = &interrupted;
	co->on_progress = show ? show_progress : NULL;
	co->progress.started_ms = channel_now_ms();
	catch_signals();
	capture(co->rundir, host, "before");
	run_points(co, spec, show, &tally);
	if (environment_leave(co->environment, &left))
		fprintf(stderr, "kblat: %s\n", left.text);
	capture(co->rundir, host, "after");
	note_changes(co->rundir, host, co->environment->history);
	return seal(co->rundir, &tally, json, e);
}

static enum status measure(const struct run_options *o, const struct spec *spec, int argc, char **argv, struct err *e)
{
	struct rundir dir = {0};
	struct environment environment;
	struct coordinator co = {.rundir = &dir, .launcher = {o->source, o->sink}, .environment = &environment};
	char *parent = parent_of(spec, o->out), host[256] = "localhost";
	bool local = (!o->source || !*o->source) && (!o->sink || !*o->sink);
	enum status status = STATUS_FAILED;

	gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p; p++)
		if (*p == '/')
			*p = '_';
	read_first_line("/proc/sys/kernel/random/boot_id", co.boot_id, sizeof(co.boot_id));
	if (environment_open(&environment, &interrupted, e) || fs_mkdirs(parent, e) ||
	    preflight(spec->points, parent, local, e) || environment_check(&environment, spec->points, e))
		goto out;
	clock_calibrate(100, &co.clock);
	if (rundir_create(&dir, parent, spec, resolve(spec), describe_run(&co, spec, argc, argv, host), e) == 0)
		status = execute(&co, spec, host, o->json, e);
out:
	if (e->status)
		status = e->status;
	rundir_close(&dir);
	environment_close(&environment);
	free(parent);
	return status;
}

/* --device and --reps are --set by other names. */
static void add_shorthand(struct cli_list *set, const char *format, const char *text, char **keep)
{
	if (!text)
		return;
	*keep = fs_path(format, text);
	set->items = or_abort(realloc(set->items, (set->count + 1) * sizeof(*set->items)));
	set->items[set->count++] = *keep;
}

static enum status run_one(const struct run_options *o, const struct spec_overrides *overrides, int argc, char **argv,
			   struct err *e)
{
	struct spec spec;
	struct diag diag;
	enum status status;

	if (spec_load(o->args.items[0], overrides, &spec, &diag)) {
		diag_print(&diag, stderr);
		status = STATUS_USAGE;
	} else if (o->dry_run) {
		status = STATUS_OK;
		if (o->json)
			json_print(spec.points, stdout);
		else
			print_points(spec.points);
	} else {
		status = measure(o, &spec, argc, argv, e);
	}
	diag_free(&diag);
	spec_free(&spec);
	return status;
}

static enum status run_many(const struct run_options *o, const struct spec_overrides *overrides, int argc, char **argv,
			    struct err *e)
{
	const struct campaign_options campaign = {o->args.items[0], o->resume,	o->out,	 o->source, o->sink,
						  *overrides,	    o->dry_run, o->json, argc,	    argv};

	return campaign_run(&campaign, e);
}

static enum status run(struct run_options *o, int argc, char **argv, struct err *e)
{
	char reps[24], *kept[2] = {NULL, NULL};
	enum status status;

	snprintf(reps, sizeof(reps), "%ld", o->reps);
	add_shorthand(&o->set, "device=%s", o->device, &kept[0]);
	add_shorthand(&o->set, "repetitions=%s", o->reps ? reps : NULL, &kept[1]);

	const struct spec_overrides overrides = {o->set.items,	o->set.count, o->only.items,
						 o->only.count, o->quick,     NULL};

	if (o->resume || campaign_is(o->args.items[0]))
		status = run_many(o, &overrides, argc, argv, e);
	else
		status = run_one(o, &overrides, argc, argv, e);
	free(kept[0]);
	free(kept[1]);
	return status;
}

enum status cmd_run(int argc, char **argv, struct err *e)
{
	struct run_options o = {0};
	const struct cli_flag flags[] = {
	    {"quick", CLI_FLAG, &o.quick, NULL, "the spec's quick variant: fewer messages, shorter pauses", 0, 0},
	    {"out", CLI_STRING, &o.out, "DIR", "make the run directory inside DIR", 0, 0},
	    {"set", CLI_LIST, &o.set, "KEY=VALUE", "change a setting in every point that has it", 0, 0},
	    {"only", CLI_LIST, &o.only, "KEY=VALUE", "keep the points that match; the same key again: either", 0, 0},
	    {"source", CLI_STRING, &o.source, "CMD", "command prefix that starts the source endpoint", 0, 0},
	    {"sink", CLI_STRING, &o.sink, "CMD", "command prefix that starts the sink endpoint", 0, 0},
	    {"device", CLI_STRING, &o.device, "DEV", "the RDMA device, as --set device=DEV", 0, 0},
	    {"reps", CLI_INT, &o.reps, "N", "repetitions, as --set repetitions=N", 1, 100000},
	    {"resume", CLI_STRING, &o.resume, "DIR", "go on with a campaign that was begun", 0, 0},
	    {"dry-run", CLI_FLAG, &o.dry_run, NULL, "print the points with every setting, and do nothing", 0, 0},
	    {"json", CLI_FLAG, &o.json, NULL, "print JSON instead of a table", 0, 0},
	    {.name = NULL},
	};
	bool help;
	enum status status = STATUS_USAGE;

	if (cli_parse(&cmd_run_cli, flags, argc, argv, &o.args, &help, e) == 0) {
		if (help)
			cli_help("kblat", &cmd_run_cli, flags, stdout);
		status = help ? STATUS_OK : run(&o, argc, argv, e);
	}
	cli_list_free(&o.args);
	cli_list_free(&o.set);
	cli_list_free(&o.only);
	return status;
}
