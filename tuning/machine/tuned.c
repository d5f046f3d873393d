#include "tuning/machine/tuned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tasks.h"

#define ANSWER_MAX (1 << 20)

/* The first match counts. tuned 2.23 and later store profiles one folder deeper. */
static const char *const folders[] = {"/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"};

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

char *tuned_find(const struct machine *m, const char *profile)
{
	if (!*profile || strchr(profile, '/') || profile[0] == '.')
		return NULL;
	for (size_t i = 0; i < FOLDERS; i++) {
		char *path = fs_path("%s/%s/tuned.conf", folders[i], profile);

		if (sysroot_exists(&m->root, path))
			return path;
		free(path);
	}
	return NULL;
}

char *tuned_find_missing(const struct machine *m, const char *names)
{
	char *missing = *names ? NULL : fs_path("%s", "");

	for (const char *n = names + strspn(names, " "); *n && !missing; n += strcspn(n, " "), n += strspn(n, " ")) {
		char *one = fs_path("%.*s", (int)strcspn(n, " "), n), *conf = tuned_find(m, one);

		if (!conf)
			missing = fs_path("%s", one);
		free(conf);
		free(one);
	}
	return missing;
}

static bool has_name(char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

char **tuned_names(const struct machine *m)
{
	char **all = or_abort(calloc(1, sizeof(*all))), **found;
	size_t count = 0;

	for (size_t i = 0; i < FOLDERS; i++) {
		int n = sysroot_list(&m->root, folders[i], NULL, &found);

		for (int k = 0; k < n; k++) {
			char *path = fs_path("%s/%s/tuned.conf", folders[i], found[k]);

			if (sysroot_exists(&m->root, path) && !has_name(all, count, found[k])) {
				all = or_abort(reallocarray(all, count + 2, sizeof(*all)));
				all[count++] = fs_path("%s", found[k]);
				all[count] = NULL;
			}
			free(path);
		}
		if (n >= 0)
			sysroot_names_free(found);
	}
	return all;
}

/* What it is asked, and answers, is at its beginning. */
static const char tuned_script[] = {
#include "tuning/machine/tuned_script.py.inc"
    0};

/* That which starts tuned itself, as its modules belong to it. */
static void find_python(char *path, size_t size)
{
	struct sysroot live;
	char line[256] = "";

	snprintf(path, size, "/usr/bin/python3");
	if (sysroot_open(&live, NULL, NULL))
		return;
	if (!sysroot_line(&live, "/usr/sbin/tuned", line, sizeof(line)) && !strncmp(line, "#!/", 3) &&
	    strstr(line, "python") && !strstr(line, "/env "))
		snprintf(path, size, "%.*s", (int)strcspn(line + 2, " "), line + 2);
	sysroot_close(&live);
}

/* Takes `asked`. An object, or NULL and why. */
static json_t *ask_modules(json_t *asked, char *why, size_t size)
{
	char python[256], *text = json_dumps(asked, JSON_COMPACT), *said = or_abort(malloc(ANSWER_MAX));
	const char *const argv[] = {python, "-I", "-B", "-c", tuned_script, text, NULL};
	json_t *answer = NULL;
	int rc;

	find_python(python, sizeof(python));
	rc = text ? tuned_command(argv, -1, TUNED_COMMAND_MS, said, ANSWER_MAX) : -EILSEQ;
	if (rc >= 0)
		answer = json_loads(said, 0, NULL);
	if (rc < 0)
		err_cause(rc, why, size);
	else if (!json_is_object(answer))
		snprintf(why, size, "%s ended with status %d", python, rc);
	else if (json_object_get(answer, "missing"))
		snprintf(why, size, "%s", json_string_value(json_object_get(answer, "missing")));
	if (!json_is_object(answer) || json_object_get(answer, "missing")) {
		json_decref(answer);
		answer = NULL;
	}
	json_decref(asked);
	free(said);
	free(text);
	return answer;
}

static const char *root_of(const struct machine *m)
{
	return m->root.live ? "" : m->root.path;
}

json_t *tuned_resolve(const struct machine *m, const char *names, const char *own, char *why, size_t size)
{
	json_t *list = json_array();

	for (const char *n = names; *n; n += strcspn(n, " "), n += strspn(n, " "))
		json_array_append_new(list, json_stringn(n, strcspn(n, " ")));
	return ask_modules(json_pack("{s:s, s:o, s:o, s:b}", "root", root_of(m), "names", list, "own",
				     own ? json_pack("[s, s]", names, own) : json_null(), "list", 0),
			   why, size);
}

json_t *tuned_profiles(const struct machine *m)
{
	char why[256], **names = tuned_names(m);
	json_t *answer = ask_modules(json_pack("{s:s, s:[], s:n, s:b}", "root", root_of(m), "names", "own", "list", 1),
				     why, sizeof(why));
	json_t *known = json_incref(json_object_get(answer, "known"));

	if (!json_is_object(known)) {
		known = json_object();
		for (char **n = names; *n; n++)
			json_object_set_new(known, *n, json_string(""));
	}
	json_decref(answer);
	sysroot_names_free(names);
	return known;
}

bool tuned_is_ours(const struct machine *m, const char *conf)
{
	char line[sizeof(TUNED_OURS)];

	return !sysroot_line(&m->root, conf, line, sizeof(line)) && !strncmp(line, TUNED_OURS, strlen(TUNED_OURS) - 1);
}

static int name_owner(void *context)
{
	holder_write_pid(*(const int *)context, getpid());
	return 0;
}

int tuned_command(const char *const argv[], int lock, int limit_ms, char *said, size_t size)
{
	const struct spawn s = {.words = argv, .kept = lock, .prepare = lock < 0 ? NULL : name_owner, .context = &lock};

	return spawn_output(&s, limit_ms, said, size);
}

int tuned_daemon(struct machine *m)
{
	pid_t ours = m->root.live ? holder_pid(m, "tuned") : 0;
	int pid = tasks_find(m, "tuned");

	return pid == ours ? 0 : pid;
}

/* The rest of the line after a label; "" if there is none. */
static void find_labelled(const char *text, const char *label, char *buf, size_t size)
{
	const char *found = strstr(text, label);

	buf[0] = '\0';
	if (found)
		snprintf(buf, size, "%.*s", (int)strcspn(found + strlen(label), "\n"), found + strlen(label));
}

int tuned_ask_active(struct tuned_active *a)
{
	static const char *const argv[] = {"tuned-adm", "active", NULL};
	char said[4096];
	int rc = tuned_command(argv, -1, TUNED_COMMAND_MS, said, sizeof(said));
	size_t all, post;

	/* Without the bus, tuned-adm says so, and what tuned has written down. */
	a->answers = rc == 0 && !strstr(said, "DBus");
	find_labelled(said, "Current active profile: ", a->profile, sizeof(a->profile));
	find_labelled(said, "Current post-loaded profile: ", a->post, sizeof(a->post));
	all = strlen(a->profile);
	post = strlen(a->post);
	/* It is among the active ones, too, as the last. */
	if (post && all == post && !strcmp(a->profile, a->post))
		a->profile[0] = '\0';
	else if (post && all > post && a->profile[all - post - 1] == ' ' && !strcmp(a->profile + all - post, a->post))
		a->profile[all - post - 1] = '\0';
	return rc;
}

bool tuned_active(struct tuned_active *a)
{
	tuned_ask_active(a);
	return a->answers;
}

bool tuned_is_installed(const struct machine *m)
{
	return sysroot_exists(&m->root, "/usr/sbin/tuned") || sysroot_exists(&m->root, "/sbin/tuned");
}
