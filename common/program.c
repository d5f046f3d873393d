#include "common/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clean_stream.h"
#include "common/diag.h"
#include "common/feature.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/version.h"
#include "common/write_signals.h"

/* --- libraries --- */

struct library_search {
	const char *name;
	char file[PATH_MAX];
};

/* A symbolic link "libnuma.so.1" leads to the file "libnuma.so.1.0.0". */
static int library_look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct library_search *s = arg;
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!slash || strcmp(slash + 1, s->name))
		return 0;
	return realpath(info->dlpi_name, s->file) != NULL;
}

static void library_print_file(const char *name, FILE *out)
{
	struct library_search s = {.name = name};

	/* What is loaded only where it is needed, such as a transport's library. */
	if (!dlopen(name, RTLD_LAZY | RTLD_LOCAL) || !dl_iterate_phdr(library_look, &s))
		fprintf(out, "%s (not installed)", name);
	else
		fputs(strrchr(s.file, '/') + 1, out);
}

/* "glibc 2.36, libnuma.so.1.0.0" */
static void libraries_print(const struct library *libraries, FILE *out)
{
	for (const struct library *l = libraries; l->name; l++) {
		if (l->feature && !feature_is_built(l->feature))
			continue;
		fputs(l == libraries ? "" : ", ", out);
		if (l->version)
			fprintf(out, "%s %s", l->name, l->version());
		else
			library_print_file(l->name, out);
	}
}

/* --- as JSON, from which man pages and completions are generated (docs/man/generate) --- */

static const char *const kinds[] = {
    [CLI_FLAG] = "flag", [CLI_STRING] = "text", [CLI_INT] = "number", [CLI_LIST] = "list"};

static json_t *program_json_flags(const struct cli_flag *flags)
{
	json_t *list = json_array();
	const char *heading = NULL;

	for (const struct cli_flag *f = flags; f && f->name; f++) {
		if (!*f->name) {
			heading = f->help;
			continue;
		}
		json_t *j = json_pack("{s:s, s:s, s:s?, s:s, s:s*}", "name", f->name, "kind", kinds[f->kind], "metavar",
				      f->metavar, "help", f->help, "heading", heading);

		if (f->kind == CLI_INT && (f->min || f->max)) {
			json_object_set_new(j, "min", json_integer(f->min));
			json_object_set_new(j, "max", json_integer(f->max));
		}
		json_array_append_new(list, j);
	}
	return list;
}

/* Called by a command instead of printing its help. */
static void program_json_command(void *commands, const struct cli_command *c, const struct cli_flag *flags)
{
	json_array_append_new(commands, json_pack("{s:s, s:s, s:s, s:s?, s:o}", "name", c->name, "synopsis",
						  c->synopsis, "summary", c->summary, "details", c->details, "flags",
						  program_json_flags(flags)));
}

/* The table of flags is inside of a command's function, so it is called with --help. */
static json_t *program_json_commands(const struct program *p)
{
	json_t *commands = json_array();
	struct err e = ERR_INIT;

	cli_help_divert(program_json_command, commands);
	for (const struct program_command *c = p->commands; c->cli; c++) {
		char name[64], help[] = "--help", *argv[] = {name, help, NULL};

		snprintf(name, sizeof(name), "%s", c->cli->name);
		if (!c->hidden)
			c->run(2, argv, &e);
	}
	cli_help_divert(NULL, NULL);
	return commands;
}

static json_t *program_json_statuses(const struct program *p)
{
	json_t *list = json_array();

	for (const struct program_status *s = p->statuses; s->meaning; s++)
		json_array_append_new(list, json_pack("{s:i, s:s}", "status", (int)s->status, "meaning", s->meaning));
	return list;
}

/* {"schema", "name", "version", "about", "statuses": [{"status", "meaning"}], "commands": [{"name",
 * "synopsis", "summary", "details", "flags": [{"name", "kind", "metavar", "help", "min", "max"}]}]}:
 * a new object. Hidden commands are left out. */
static json_t *program_json(const struct program *p)
{
	return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o}", "schema", 1, "name", p->name, "version", kblat_version,
			 "about", p->about, "statuses", program_json_statuses(p), "commands", program_json_commands(p));
}

#define MAX_COMMANDS 32
#define STACK_LEAST  (1024 * 1024) /* 1 MiB */

/* "Exit status: 0 it is so, 1 it failed." */
static void print_statuses(const struct program *p, FILE *out)
{
	char text[600] = "Exit status:";

	for (const struct program_status *s = p->statuses; s->meaning; s++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, " %d %s%s", (int)s->status, s->meaning,
			 s[1].meaning ? "," : ".");
	}
	cli_print_text(text, out);
}

static void print_help(const struct program *p, FILE *out)
{
	char more[200];
	int width = 0;

	for (const struct program_command *c = p->commands; c->cli; c++)
		if (!c->hidden && (int)strlen(c->cli->name) > width)
			width = (int)strlen(c->cli->name);
	fprintf(out, "Usage: %s SUBCOMMAND …\n\n", p->name);
	cli_print_text(p->about, out);
	fputc('\n', out);
	for (const struct program_command *c = p->commands; c->cli; c++)
		if (!c->hidden)
			cli_print_item(c->cli->name, width + 4, c->cli->summary, out);
	snprintf(more, sizeof(more),
		 "\nFor a subcommand: `%s SUBCOMMAND --help` or `%s help SUBCOMMAND`. Manual: %s(1).\n", p->name,
		 p->name, p->name);
	cli_print_text(more, out);
	print_statuses(p, out);
}

static const struct program_command *find(const struct program *p, const char *name)
{
	for (const struct program_command *c = p->commands; c->cli; c++)
		if (!strcmp(c->cli->name, name))
			return c;
	return NULL;
}

static enum status refuse_command(const struct program *p, const char *name, struct err *e)
{
	const char *names[MAX_COMMANDS + 2] = {"help"};
	char hint[SUGGESTION_MAX];
	size_t count = 1;

	for (const struct program_command *c = p->commands; c->cli && count <= MAX_COMMANDS; c++)
		if (!c->hidden)
			names[count++] = c->cli->name;
	err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "unknown subcommand '%s'%s; see %s help", name,
		suggestion(suggest(name, names), hint, sizeof(hint)), p->name);
	return STATUS_USAGE;
}

static void print_version(const struct program *p, FILE *out)
{
	fprintf(out, "%s %s (%s)\ncompiler: %s\nlibraries: ", p->name, kblat_version, kblat_commit, kblat_compiler);
	libraries_print(p->libraries, out);
	fputc('\n', out);
	features_print(p->name, out);
}

/* Print all tables as JSON, for programs. */
static void print_description(const struct program *p, FILE *out)
{
	json_t *description = program_json(p);

	json_print(description, out);
	json_decref(description);
}

static enum status help(const struct program *p, int argc, char **argv, struct err *e)
{
	const struct program_command *c = argc > 1 ? find(p, argv[1]) : NULL;
	char *ask[] = {argc > 1 ? argv[1] : NULL, (char[]){"--help"}, NULL};

	if (argc > 1 && !strcmp(argv[1], "--json")) {
		print_description(p, stdout);
		return STATUS_OK;
	}
	if (argc > 1)
		return c ? c->run(2, ask, e) : refuse_command(p, argv[1], e);
	print_help(p, stdout);
	return STATUS_OK;
}

static enum status run_command(const struct program *p, int argc, char **argv, struct err *e)
{
	const struct program_command *c;

	if (argc < 2) {
		print_help(p, stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		print_version(p, stdout);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(p, argc - 1, argv + 1, e);
	c = find(p, argv[1]);
	return c ? c->run(argc - 1, argv + 1, e) : refuse_command(p, argv[1], e);
}

/* If the stack cannot grow, the process would crash somewhere. This checks and reports it without
 * using much stack. */
static bool stack_may_grow(const struct program *p)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= STACK_LEAST)
		return true;
	fputs(p->name, stderr);
	fputs(": the stack may grow to less than 1 MiB: raise the limit (ulimit -s)\n", stderr);
	return false;
}

static int status_of_lost_output = STATUS_FAILED;

void program_lost_output_is(int status)
{
	status_of_lost_output = status;
}

static __attribute__((noinline)) int run_program(const struct program *p, int argc, char **argv)
{
	struct err e = ERR_INIT;
	enum status status = run_command(p, argc, argv, &e);
	int rc;

	if (e.status) {
		fprintf(stderr, "%s: %s\n", p->name, e.text);
		if (!status)
			status = e.status;
	}
	/* Whatever the answer was, it has not arrived. A reader that is gone need not be told. */
	rc = cli_close_stdout();
	if (rc && rc != -EPIPE)
		fprintf(stderr, "%s: standard output: cannot write: %s\n", p->name, strerror(-rc));
	return rc ? status_of_lost_output : (int)status;
}

/* A file that is opened must not become standard output, which would be written into it. To write into a closed one stays an
 * error. */
static void keep_descriptors(void)
{
	static const int modes[] = {[STDIN_FILENO] = O_RDONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) < 0) /* the lowest that is free */
			return;
}

/* If the caller ignores SIGCHLD, so do the programs that it starts; the kernel then removes children
 * when they end, and nobody can wait for them. */
static void keep_children(void)
{
	signal(SIGCHLD, SIG_DFL);
}

static void *json_alloc(size_t size)
{
	return or_abort(malloc(size));
}

int program_main(const struct program *p, int argc, char **argv)
{
	keep_descriptors();
	clean_streams();
	write_signals_ignore();
	keep_children();
	json_set_alloc_funcs(json_alloc, free);
	return stack_may_grow(p) ? run_program(p, argc, argv) : (int)STATUS_IMPOSSIBLE;
}
