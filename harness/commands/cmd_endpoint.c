#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "commands/commands.h"
#include "common/clean_stream.h"
#include "common/err.h"
#include "doctor/check.h"
#include "measure/endpoint/endpoint.h"

const struct cli_command cmd_endpoint_cli = {
    .name = "endpoint",
    .synopsis = "",
    .summary = "one side of a point; started by kblat run, takes orders on standard input",
    .max_args = 0,
};

enum status cmd_endpoint(int argc, char **argv, struct err *e)
{
	struct cli_list args = {0};
	bool help;
	int rc = cli_parse(&cmd_endpoint_cli, NULL, argc, argv, &args, &help, e);

	cli_list_free(&args);
	if (help)
		cli_help("kblat", &cmd_endpoint_cli, NULL, stdout);
	if (rc || help)
		return e->status;
	/* What a library prints is no answer to the coordinator. */
	clean_streams_not();
	const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
		err_sys(e, -errno, "standard output", "keep for the coordinator");
		return STATUS_FAILED;
	}
	return endpoint_serve(STDIN_FILENO, out, doctor_findings, e) ? STATUS_FAILED : STATUS_OK;
}
