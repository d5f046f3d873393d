#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "common/diag.h"
#include "version.h"

static const struct subcommand subcommands[] = {
    {&cmd_run_cli, cmd_run, false},	    {&cmd_list_cli, cmd_list, false},
    {&cmd_verify_cli, cmd_verify, false},   {&cmd_summary_cli, cmd_summary, false},
    {&cmd_report_cli, cmd_report, false},   {&cmd_claims_cli, cmd_claims, false},
    {&cmd_compare_cli, cmd_compare, false}, {&cmd_history_cli, cmd_history, false},
    {&cmd_export_cli, cmd_export, false},   {&cmd_state_cli, cmd_state, false},
    {&cmd_doctor_cli, cmd_doctor, false},   {&cmd_endpoint_cli, cmd_endpoint, true},
};

#define COUNT (sizeof(subcommands) / sizeof(subcommands[0]))

static void print_help(FILE *out)
{
	fprintf(out, "Usage: kblat SUBCOMMAND …\n\n"
		     "A kernel-bypass latency laboratory: runs latency kernels over InfiniBand verbs and over what\n"
		     "people use instead, keeps raw time stamps next to the state of the machine, and says when a\n"
		     "number is not valid.\n\n");
	for (size_t i = 0; i < COUNT; i++)
		if (!subcommands[i].hidden)
			fprintf(out, "  %-9s %s\n", subcommands[i].cli->name, subcommands[i].cli->summary);
	fprintf(out, "\n`kblat SUBCOMMAND --help` or `kblat help SUBCOMMAND` says more; kblat(1) says all.\n"
		     "Exit status: 0 it is so, 1 it failed, 2 wrong usage or bad input, 3 the answer is no,\n"
		     "4 undecided, 77 not possible on this machine.\n");
}

static const struct subcommand *find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcmp(subcommands[i].cli->name, name))
			return &subcommands[i];
	return NULL;
}

static enum status complain(struct err *e, const char *name)
{
	const char *names[COUNT + 2] = {"help"};
	size_t count = 1;

	for (size_t i = 0; i < COUNT; i++)
		if (!subcommands[i].hidden)
			names[count++] = subcommands[i].cli->name;
	const char *nearest = suggest(name, names);

	err_set(e, -EINVAL, STATUS_USAGE, "kblat", NULL, "unknown subcommand '%s'%s%s%s; see kblat help", name,
		nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
	return STATUS_USAGE;
}

static enum status help(int argc, char **argv, struct err *e)
{
	const struct subcommand *s = argc > 1 ? find(argv[1]) : NULL;
	char *ask[] = {argc > 1 ? argv[1] : NULL, (char[]){"--help"}, NULL};

	if (argc > 1)
		return s ? s->main(2, ask, e) : complain(e, argv[1]);
	print_help(stdout);
	return STATUS_OK;
}

static enum status dispatch(int argc, char **argv, struct err *e)
{
	const struct subcommand *s;

	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("kblat %s (%s)\n", kblat_version, kblat_commit);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1, e);
	s = find(argv[1]);
	return s ? s->main(argc - 1, argv + 1, e) : complain(e, argv[1]);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	enum status status;

	signal(SIGPIPE, SIG_IGN);
	status = dispatch(argc, argv, &e);
	if (e.status) {
		fprintf(stderr, "kblat: %s\n", e.text);
		if (!status)
			status = e.status;
	}

	int rc = cli_close_stdout();

	if (rc && rc != -EPIPE) {
		fprintf(stderr, "kblat: standard output: cannot write: %s\n", strerror(-rc));
		if (!status)
			status = STATUS_FAILED;
	}
	return status;
}
