#include <gnu/libc-version.h>
#include <jansson.h>
#include <yaml.h>

#include "common/program.h"
#include "tuning/commands/tune_commands.h"

static const struct program_command commands[] = {
    {&tune_status_cli, tune_status, false},	{&tune_plan_cli, tune_plan, false},
    {&tune_apply_cli, tune_apply, false},	{&tune_verify_cli, tune_verify, false},
    {&tune_restore_cli, tune_restore, false},	{&tune_run_cli, tune_run, false},
    {&tune_hold_cli, tune_hold, false},		{&tune_cpuset_cli, tune_cpuset, false},
    {&tune_irq_cli, tune_irq, false},		{&tune_card_cli, tune_card, false},
    {&tune_latency_cli, tune_latency, false},	{&tune_tuned_cli, tune_tuned, false},
    {&tune_profiles_cli, tune_profiles, false}, {.cli = NULL},
};

static const struct program_status statuses[] = {
    {STATUS_OK, "success"},
    {STATUS_FAILED, "failure"},
    {STATUS_USAGE, "wrong usage or bad input"},
    {STATUS_NO, "the answer is no (something drifted)"},
    {STATUS_IMPOSSIBLE, "not possible on this machine"},
    {.meaning = NULL},
};

static const struct library libraries[] = {
    {"glibc", gnu_get_libc_version, NULL},	{"libcpuset.so.1", NULL, "libcpuset"},	{"libmnl.so.0", NULL, "libmnl"},
    {"libyaml", yaml_get_version_string, NULL}, {"Jansson", jansson_version_str, NULL}, {.name = NULL},
};

static const struct program kbtune = {
    .name = "kbtune",
    .about =
	"Quiets a machine for latency measurements, verifies that it stays so, and restores it: cpusets,\ninterrupts, "
	"PM QoS, CPU frequency, tuned and more, as one transaction that can be planned and undone.\n",
    .statuses = statuses,
    .commands = commands,
    .libraries = libraries,
};

int main(int argc, char **argv)
{
	return program_main(&kbtune, argc, argv);
}
