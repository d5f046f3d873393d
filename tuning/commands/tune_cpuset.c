/* kbtune cpuset list, create, destroy, exec. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpulist.h"
#include "common/form.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/table_print.h"
#include "common/text.h"
#include "tuning/apply/apply.h"
#include "tuning/apply/output.h"
#include "tuning/commands/command.h"
#include "tuning/commands/tune_commands.h"
#include "tuning/journal/change.h"
#include "tuning/journal/journal.h"
#include "tuning/journal/transaction.h"
#include "tuning/machine/cgroups.h"
#include "tuning/machine/child.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/topology.h"
#include "tuning/ops/op_cpuset.h"
#include "tuning/ops/op_file.h"
#include "tuning/steps/plan.h"

const struct cli_command tune_cpuset_cli = {
    .name = "cpuset",
    .synopsis = "list | create NAME --cpus LIST | destroy NAME | exec NAME -- COMMAND...",
    .summary = "Manage cpusets: list them, create or remove one, run a command in one.",
    .details = "'kbtune restore' removes cpusets made by create. destroy removes a cpuset in which nothing runs. exec "
	       "runs a command inside a cpuset and returns its exit status.",
    .min_args = 1,
    .max_args = 100000,
};

struct request {
	struct machine *m;
	const struct cli_list *args;
	const char *cpus, *partition;
	bool json, dry_run;
	struct err *e;
};

static char *cpuset_line(const struct machine *m, const struct cgroups *cg, const char *name, const char *file,
			 char *buf, size_t size)
{
	char *path = cgroups_file(cg, name, file);

	if (sysroot_line(&m->root, path, buf, size))
		buf[0] = '\0';
	free(path);
	return buf;
}

/* The root cpuset of version 2 only has effective values. */
static json_t *cpuset_json(const struct machine *m, const struct cgroups *cg, const char *name)
{
	char cpus[CPULIST_TEXT_MAX], memory[CPULIST_TEXT_MAX], kind[128], shown[1024];
	int tasks = cgroups_tasks(m, cg, name);

	if (!*cpuset_line(m, cg, name, "cpus", cpus, sizeof(cpus)) &&
	    !*cpuset_line(m, cg, name, "cpus.exclusive", cpus, sizeof(cpus)))
		cpuset_line(m, cg, name, "cpus.effective", cpus, sizeof(cpus));
	if (!*cpuset_line(m, cg, name, "mems", memory, sizeof(memory)))
		cpuset_line(m, cg, name, "mems.effective", memory, sizeof(memory));
	if (cg->version == 2)
		cpuset_line(m, cg, name, "cpus.partition", kind, sizeof(kind));
	else
		snprintf(kind, sizeof(kind), "%s", cgroups_exclusive(m, cg, name) ? "exclusive" : "shared");
	return json_pack("{s:s, s:s, s:s, s:s, s:i}", "name",
			 *name ? text_clean(name, strlen(name), shown, sizeof(shown)) : "/", "cpus", cpus,
			 "memory_nodes", memory, "kind", *kind ? kind : "root", "tasks", tasks < 0 ? 0 : tasks);
}

enum { NAME, CPUS, MEMORY, TASKS, KIND, COLUMNS };

static const struct table_column columns[COLUMNS] = {
    [NAME] = {.key = "name", .label = "cpuset", .least = 32, .most = TABLE_WHOLE},
    [CPUS] = {.key = "cpus", .label = "CPUs", .least = 16, .most = TABLE_WHOLE},
    [MEMORY] = {.key = "memory_nodes", .label = "memory", .least = 8, .most = TABLE_WHOLE},
    [TASKS] = {.key = "tasks", .label = "tasks", .least = 10},
    [KIND] = {.key = "kind", .label = "kind"},
};

static void print_table(const json_t *list, FILE *out)
{
	struct table t = table_of(columns, COLUMNS, json_array_size(list));
	const json_t *one;
	size_t i;

	json_array_foreach (list, i, one) {
		table_count(&t, TASKS, i, json_integer_value(json_object_get(one, columns[TASKS].key)));
		for (size_t c = 0; c < COLUMNS; c++)
			if (c != TASKS)
				table_text(&t, c, i, "%s", json_text(one, columns[c].key));
	}
	table_print(&t, &(struct table_style){.gap = 1}, out);
	table_free(&t);
}

static enum status need_cpusets(struct request *r, struct cgroups *cg)
{
	cgroups_find(r->m, cg);
	if (cg->version)
		return STATUS_OK;
	err_set(r->e, -ENODEV, STATUS_IMPOSSIBLE, "cpuset", NULL,
		"no mounted control groups have the cpuset controller");
	return STATUS_IMPOSSIBLE;
}

static enum status cpuset_list(void *request)
{
	struct request *r = request;
	struct cgroups cg;
	json_t *list, *all;
	char **names;
	int n;

	if (need_cpusets(r, &cg))
		return STATUS_IMPOSSIBLE;
	list = json_array();
	json_array_append_new(list, cpuset_json(r->m, &cg, ""));
	n = cgroups_all(r->m, &cg, &names);
	if (n < 0) {
		err_sys(r->e, n, cg.root, "list the cpusets");
		json_decref(list);
		return err_status(r->e);
	}
	for (int i = 0; i < n; i++)
		json_array_append_new(list, cpuset_json(r->m, &cg, names[i]));
	sysroot_names_free(names);
	all = json_pack("{s:i, s:i, s:s, s:o}", "schema", 1, "version", cg.version, "root", cg.root, "cpusets", list);
	if (r->json)
		json_print(all, stdout);
	else
		print_table(list, stdout);
	json_decref(all);
	return STATUS_OK;
}

static enum status cpuset_misuse(struct request *r, const char *format, const char *word)
{
	char quoted[TEXT_QUOTE_MAX], text[300];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, text_quote(word, quoted, sizeof(quoted)));
#pragma GCC diagnostic pop
	err_set(r->e, -EINVAL, STATUS_USAGE, "cpuset", NULL, "%s", text);
	return STATUS_USAGE;
}

static const char *find_partition(const char *asked)
{
	static const char *const known[] = {"isolated", "root", "member"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i], asked))
			return known[i];
	return NULL;
}

static void plan_create(struct request *r, const struct cgroups *cg, const struct topology *t,
			const struct cpulist *cpus, const char *partition, struct plan *plan)
{
	char *file = cgroups_file(cg, "", "cgroup.subtree_control");
	struct cpulist memory;

	topology_memory_of(t, cpus, &memory);
	if (cg->version == 2)
		op_file_plan(plan, r->m, "cpuset", file, FORM_CONTROLLER, "+cpuset", "the hierarchy has no such file");
	op_cpuset_plan(plan, "cpuset", cg, r->args->items[1], cpus, &memory, partition);
	free(file);
}

static enum status check_create(struct request *r, const struct cgroups *cg, const struct topology *t,
				struct cpulist *cpus)
{
	const char *name = r->args->items[1];
	char why[200], *path;
	bool exists;

	if (!cgroups_is_name(name))
		return cpuset_misuse(r, "%s is not a name: letters, digits, - and _", name);
	if (!r->cpus)
		return cpuset_misuse(r, "create %s needs --cpus LIST", name);
	if (cpulist_parse(r->cpus, cpus, why, sizeof(why)) || cpulist_first(cpus) < 0)
		return cpuset_misuse(r, "--cpus %s is not a list of CPUs such as 2-3", r->cpus);
	if (!cpulist_is_subset(cpus, &t->online))
		return cpuset_misuse(r, "--cpus %s: not all of these CPUs exist and are online", r->cpus);
	if (r->partition && !find_partition(r->partition))
		return cpuset_misuse(r, "--partition must be isolated, root or member, not %s", r->partition);
	if (cpulist_is_subset(&t->online, cpus) && r->partition && strcmp(r->partition, "member"))
		return cpuset_misuse(
		    r, "--cpus %s has all CPUs; a partition must leave at least one for everything else", r->cpus);
	path = fs_path("%s/%s", cg->root, name);
	exists = sysroot_exists(&r->m->root, path);
	if (exists)
		err_set(r->e, -EEXIST, STATUS_FAILED, path, "make the cpuset", "a cpuset of that name already exists");
	free(path);
	return exists ? STATUS_FAILED : STATUS_OK;
}

static enum status cpuset_make(void *request)
{
	struct request *r = request;
	struct topology t;
	struct cpulist cpus;
	struct cgroups cg;
	struct plan plan;
	enum status status = need_cpusets(r, &cg);

	if (status || topology_read(r->m, &t, r->e))
		return status ? status : err_status(r->e);
	plan_init(&plan, "cpuset create", "");
	status = check_create(r, &cg, &t, &cpus);
	if (!status) {
		plan_create(r, &cg, &t, &cpus, r->partition ? find_partition(r->partition) : "member", &plan);
		status = apply_steps(r->m, &plan, r->dry_run, r->json, r->e);
	}
	plan_free(&plan);
	topology_free(&t);
	return status;
}

/* A cpuset not created by kbtune: the kernel refuses to remove it while it is in use. */
static int remove_foreign(struct request *r, const struct cgroups *cg, const char *name, const char *path)
{
	int tasks = cgroups_tasks(r->m, cg, name), rc;

	if (tasks < 0)
		return err_set(r->e, -ENOENT, STATUS_USAGE, name, "destroy", "there is no cpuset of that name");
	if (tasks > 0)
		return err_set(r->e, -EBUSY, STATUS_FAILED, path, "destroy",
			       "%d tasks are in it; end or move them first", tasks);
	rc = machine_rmdir(r->m, path);
	return rc ? err_sys(r->e, rc, path, "destroy") : 0;
}

static bool is_in_journal(const struct journal *j, const char *path)
{
	for (size_t i = 0; i < j->count; i++)
		if (j->steps[i].op == &op_cpuset && !strcmp(j->steps[i].path, path))
			return true;
	return false;
}

static enum status cpuset_destroy(void *request)
{
	struct request *r = request;
	const char *name = r->args->items[1];
	struct cgroups cg;
	struct journal j;
	int lock, rc;
	char *path;

	if (need_cpusets(r, &cg))
		return STATUS_IMPOSSIBLE;
	if (!cgroups_is_name(name))
		return cpuset_misuse(r, "%s is not the name of a cpuset right below the root", name);
	if (change_begin(r->m, "", &j, &lock, r->e))
		return err_status(r->e);
	path = fs_path("%s/%s", cg.root, name);
	rc = is_in_journal(&j, path) ? transaction_undo(r->m, &j, NULL, path, NULL, r->e)
				     : remove_foreign(r, &cg, name, path);
	if (!rc) {
		printf("destroyed %s\n", path);
		output_settle("%s is destroyed", path);
	}
	free(path);
	change_end(r->m, &j, lock);
	return rc ? err_status(r->e) : STATUS_OK;
}

static enum status cpuset_exec(void *request)
{
	struct request *r = request;
	char **command;
	int rc;

	if (r->args->count < 3)
		return cpuset_misuse(r, "exec %s needs a command after it", r->args->items[1]);
	command = command_words(r->args, 2);
	rc = child_run(r->m, r->args->items[1], command);
	free(command);
	return (enum status)rc;
}

static const struct command_action actions[] = {
    {"list", 0, 0, cpuset_list},
    {"create", 1, 1, cpuset_make},
    {"destroy", 1, 1, cpuset_destroy},
    {"exec", 1, 100000, cpuset_exec},
    {.name = NULL},
};

static enum status cpuset_act(struct machine *m, const struct cli_list *args, void *request, struct err *e)
{
	struct request *r = request;

	r->m = m;
	r->args = args;
	r->e = e;
	return command_act("cpuset", actions, args, r, e);
}

enum status tune_cpuset(int argc, char **argv, struct err *e)
{
	const char *sysroot = NULL;
	struct request r = {0};
	const struct cli_flag flags[] = {
	    {"cpus", CLI_STRING, &r.cpus, "LIST", "for create: its CPUs", 0, 0},
	    {"partition", CLI_STRING, &r.partition, "KIND", "for create: isolated, root, or member (default)", 0, 0},
	    {"dry-run", CLI_FLAG, &r.dry_run, NULL, "for create: show what would be done", 0, 0},
	    COMMAND_SYSROOT(&sysroot),
	    COMMAND_JSON(&r.json),
	    COMMAND_FLAGS_END};

	return command_run(&(struct command){&tune_cpuset_cli, flags, &sysroot, cpuset_act, &r}, argc, argv, e);
}
