/* The kernel's command line, as the kernel reads it. */
#include <stdlib.h>

#include "common/boot_arguments.h"
#include "tap.h"

static void finds(const char *line, const char *name, const char *want)
{
	char *got = boot_arguments_find(line, name);

	is_str(got, want, "%s in '%s'", name, line);
	free(got);
}

static void names(const char *name, const char *values, int last, const char *want)
{
	struct cpulist cpus;
	char list[256];
	int rc = boot_arguments_cpus(name, values, last, &cpus);

	is_str(rc ? "no CPUs" : cpulist_format(&cpus, list, sizeof(list)), want, "%s=%s, the last CPU being %d", name,
	       values ? values : "(not there)", last);
}

static void test_find(void)
{
	finds("quiet isolcpus=2-3 ro\n", "isolcpus", "2-3");
	finds("isolcpus=2-N isolcpus=1", "isolcpus", "2-N 1");
	finds("isolcpus=\"2, 3\" x", "isolcpus", "2, 3");
	finds("\"isolcpus=2,3\" x", "isolcpus", "2,3");
	finds("intel-idle.max_cstate=1", "intel_idle.max_cstate", "1");
	finds("nosmt", "nosmt", "");
	finds("quiet -- isolcpus=3", "isolcpus", NULL);
	finds("dyndbg=\"file a +p\" isolcpus=1", "isolcpus", "1");
	finds("xisolcpus=3 isolcpusx=3", "isolcpus", NULL);
	finds("isolcpus=\"2", "isolcpus", "\"2");
}

static void test_cpus(void)
{
	names("isolcpus", "2,3", 7, "2-3");
	names("isolcpus", "domain,managed_irq,2-N", 7, "2-7");
	names("isolcpus", "2-3 1", 7, "2-3");
	names("rcu_nocbs", "2-3 1", 7, "1");
	names("rcu_nocbs", "all", 7, "0-7");
	names("nohz_full", "N", 7, "7");
	names("nohz_full", "0-N:1/2", 3, "0,2");
	names("nohz_full", "2,3,", 7, "2-3");
	names("nohz_full", NULL, 7, "");
	names("irqaffinity", "\"0,1\"", 7, "0-1");
	names("nohz_full", "2-N", -1, "no CPUs");
	names("isolcpus", "managed_irq,2-3", -1, "2-3");
	names("nohz_full", "3-2", 7, "no CPUs");
	names("nohz_full", "90000", 7, "no CPUs");
	names("mitigations", "2", 7, "no CPUs");
}

static void test_same(void)
{
	ok(boot_arguments_same("isolcpus", "2,3", 3, "domain,2-N", 3), "domain is what it means without a flag");
	ok(!boot_arguments_same("isolcpus", "2,3", 3, "managed_irq,2-3", 3), "another flag is another meaning");
	ok(boot_arguments_same("isolcpus", "", 3, NULL, 3), "no CPUs, and not there");
	ok(!boot_arguments_same("nohz_full", "2-N", 3, "2-N", 7), "N of other machines");
	ok(boot_arguments_same("quiet", NULL, 3, NULL, 3) && !boot_arguments_same("quiet", "", 3, NULL, 3),
	   "there or not");
	ok(boot_arguments_same("nosmt", "1", 3, "y", 3), "switches");
	ok(boot_arguments_same("console", "\"tty0\"", 3, "tty0", 3), "quotes");
	ok(boot_arguments_same("hugepagesz", "1G", 3, "1024M", 3), "sizes");
	ok(!boot_arguments_same("idle", "poll", 3, "halt", 3), "words");
}

int main(void)
{
	test_find();
	test_cpus();
	test_same();
	return done_testing();
}
