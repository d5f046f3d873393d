#include <gnu/libc-version.h>
#include <jansson.h>
#include <nettle/version.h>
#include <yaml.h>
#include <zlib.h>

#include "commands/commands.h"
#include "common/dpdk_abi.h"
#include "common/program.h"
#include "measure/transports/transport_list.h"

static const struct program_command commands[] = {
    {&cmd_run_cli, cmd_run, false},	     {&cmd_list_cli, cmd_list, false},
    {&cmd_verify_cli, cmd_verify, false},    {&cmd_summary_cli, cmd_summary, false},
    {&cmd_explain_cli, cmd_explain, false},  {&cmd_report_cli, cmd_report, false},
    {&cmd_claims_cli, cmd_claims, false},    {&cmd_compare_cli, cmd_compare, false},
    {&cmd_history_cli, cmd_history, false},  {&cmd_index_cli, cmd_index, false},
    {&cmd_knobs_cli, cmd_knobs, false},	     {&cmd_boots_cli, cmd_boots, false},
    {&cmd_export_cli, cmd_export, false},    {&cmd_import_cli, cmd_import, false},
    {&cmd_bundle_cli, cmd_bundle, false},    {&cmd_reproduce_cli, cmd_reproduce, false},
    {&cmd_state_cli, cmd_state, false},	     {&cmd_doctor_cli, cmd_doctor, false},
    {&cmd_noise_cli, cmd_noise, false},	     {&cmd_trace_cli, cmd_trace, false},
    {&cmd_endpoint_cli, cmd_endpoint, true}, {.cli = NULL},
};

static const struct program_status statuses[] = {
    {STATUS_OK, "success"},
    {STATUS_FAILED, "failure"},
    {STATUS_USAGE, "wrong usage or bad input"},
    {STATUS_NO, "the answer is no (not valid, slower, fails, drift)"},
    {STATUS_UNDECIDED, "undecided"},
    {STATUS_IMPOSSIBLE, "not possible on this machine"},
    {.meaning = NULL},
};

static const char *version_of_nettle(void)
{
	static char text[16];

	snprintf(text, sizeof(text), "%d.%d", nettle_version_major(), nettle_version_minor());
	return text;
}

/* A build may be without it. */
extern const char *sqlite3_libversion(void) __attribute__((weak));

#define LOADED(transport, file, debian, fedora) {file, NULL, NULL},

static const struct library libraries[] = {
    {"glibc", gnu_get_libc_version, NULL},
    {"libibverbs.so.1", NULL, NULL},
    {"librdmacm.so.1", NULL, NULL},
    {"libnuma.so.1", NULL, NULL},
    EVERY_LOADED_LIBRARY(LOADED){"libtracefs.so.1", NULL, "libtracefs"},
    {"libtraceevent.so.1", NULL, "libtracefs"},
    {"libyaml", yaml_get_version_string, NULL},
    {"Jansson", jansson_version_str, NULL},
    {"Nettle", version_of_nettle, NULL},
    {"zlib", zlibVersion, NULL},
    {"SQLite", sqlite3_libversion, "SQLite"},
    {.name = NULL},
};

int main(int argc, char **argv)
{
	const struct program kblat = {
	    .name = "kblat",
	    .about = "A kernel-bypass latency laboratory: measures message latencies over InfiniBand verbs, shared "
		     "memory,\nsockets and message libraries, keeps raw time stamps and the state of the machine, and "
		     "says when a\nnumber is not valid.\n",
	    .statuses = statuses,
	    .commands = commands,
	    .libraries = libraries,
	};

	return program_main(&kblat, argc, argv);
}
