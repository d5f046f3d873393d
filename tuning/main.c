#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/diag.h"
#include "tuning/commands.h"

#ifndef KBLAT_VERSION
#define KBLAT_VERSION "0.1.0"
#endif
#ifndef KBLAT_COMMIT
#define KBLAT_COMMIT "unknown"
#endif

static const struct subcommand {
	const struct cli_command *cli;
	command_fn *main;
} subcommands[] = {
    {&cmd_status_cli, cmd_status},   {&cmd_plan_cli, cmd_plan},	      {&cmd_apply_cli, cmd_apply},
    {&cmd_verify_cli, cmd_verify},   {&cmd_restore_cli, cmd_restore}, {&cmd_run_cli, cmd_run},
    {&cmd_hold_cli, cmd_hold},	     {&cmd_cpuset_cli, cmd_cpuset},   {&cmd_irq_cli, cmd_irq},
    {&cmd_latency_cli, cmd_latency}, {&cmd_tuned_cli, cmd_tuned},     {&cmd_profiles_cli, cmd_profiles},
};

#define COUNT (sizeof(subcommands) / sizeof(subcommands[0]))

static void print_help(FILE *out)
{
	fprintf(out,
		"Usage: kbtune SUBCOMMAND …\n\n"
		"Quiets a machine, proves that it is quiet, and puts it back: cpusets, interrupts, PM QoS, tuned and\n"
		"what belongs to them, as one transaction that can be planned, verified and undone.\n\n");
	for (size_t i = 0; i < COUNT; i++)
		fprintf(out, "  %-12s %.100s\n", subcommands[i].cli->name, subcommands[i].cli->summary);
	fprintf(out, "\n`kbtune SUBCOMMAND --help` says more; kbtune(1) says all.\n"
		     "Exit status: 0 it is so, 1 it failed, 2 wrong usage or bad input, 3 the answer is no (drift),\n"
		     "77 not possible on this machine.\n");
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
	const char *names[COUNT + 2] = {"help"}, *nearest;

	for (size_t i = 0; i < COUNT; i++)
		names[i + 1] = subcommands[i].cli->name;
	nearest = suggest(name, names);
	err_set(e, -EINVAL, STATUS_USAGE, NULL, NULL, "unknown subcommand '%s'%s%s%s; see kbtune help", name,
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
		printf("kbtune %s (%s)\n", KBLAT_VERSION, KBLAT_COMMIT);
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
	int rc;

	signal(SIGPIPE, SIG_IGN);
	status = dispatch(argc, argv, &e);
	if (e.status) {
		fprintf(stderr, "kbtune: %s\n", e.text);
		if (!status)
			status = e.status;
	}
	rc = cli_close_stdout();
	if (rc && rc != -EPIPE) {
		fprintf(stderr, "kbtune: standard output: cannot write: %s\n", strerror(-rc));
		if (!status)
			status = STATUS_FAILED;
	}
	return (int)status;
}
