/* tuned: a profile of the distribution's, or the tuned.conf beside ours. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/text.h"
#include "tuning/knobs/knob.h"
#include "tuning/knobs/tuned_plan.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tuned.h"

#define CONF_MAX (1 << 20)

/* tuned writes down which profile it has, even where it was told once only. */
static json_t *read_own_files(const struct machine *m)
{
	static const char *const files[] = {"/etc/tuned/active_profile", "/etc/tuned/profile_mode",
					    "/etc/tuned/post_loaded_profile"};
	json_t *list = json_array();
	char *text;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!machine_read(m, files[i], &text)) {
			json_t *one = json_pack("{s:s, s:s}", "path", files[i], "raw", text);

			if (one)
				json_array_append_new(list, one);
			free(text);
		}
	return list;
}

void tuned_plan(struct plan *plan, struct machine *m, const char *knob, const char *name, const char *own)
{
	char active[256] = "", *folder;
	bool daemon = m->root.live && tuned_daemon(m) && tuned_active(active, sizeof(active));
	struct step *s;

	if (!tuned_is_installed(m)) {
		plan_missing(plan, knob, name, "tuned is not installed (Debian: tuned)");
		return;
	}
	s = plan_step(plan, knob, &op_tuned, "tuned's profile", *active ? active : "none", name,
		      json_pack("{s:s, s:s, s:s, s:o}", "profile", name, "mode", daemon ? "daemon" : "oneshot",
				"before", active, "guards", tuned_guards(m, name, own)));
	if (!daemon)
		json_object_set_new(s->data, "files", read_own_files(m));
	if (own) {
		folder = fs_path("/etc/tuned/%s", name);
		json_object_set_new(s->data, "install", json_string(own));
		json_object_set_new(s->data, "folder", json_string(folder));
		free(folder);
	}
}

static char *read_own(struct planner *p, const struct setting *s)
{
	char *path = fs_path("%s/tuned.conf", s->file->folder), *text = NULL;
	struct err e = ERR_INIT;

	if (fs_read(path, CONF_MAX, &text, NULL, &e))
		profile_fault(s, s->value, "%s", e.text);
	free(path);
	(void)p;
	return text;
}

static void plan_own(struct planner *p, const struct setting *s, const struct knob *k)
{
	const char *slash = strrchr(s->file->folder, '/');
	char *name = fs_path("kbtune-%s", slash ? slash + 1 : s->file->folder), *text = read_own(p, s);
	char *installed = tuned_find(p->m, name);

	/* An administrator has installed it. */
	if (text)
		tuned_plan(p->plan, p->m, k->key, name, installed ? NULL : text);
	free(installed);
	free(text);
	free(name);
}

static void unknown(struct planner *p, const struct setting *s)
{
	char **names = tuned_names(p->m), quoted[TEXT_QUOTE_MAX];
	const char *near = names ? suggest(s->value->scalar, (const char *const *)names) : NULL;

	profile_fault(s, s->value, "tuned has no profile %s here%s%s%s",
		      text_quote(s->value->scalar, quoted, sizeof(quoted)), near ? "; did you mean '" : "",
		      near ? near : "", near ? "'?" : "");
	sysroot_names_free(names);
}

/* One that stays and goes on by its own rules. */
static void warn_of_daemon(struct planner *p)
{
	char active[256];

	if (p->m->root.live && tuned_daemon(p->m) && tuned_active(active, sizeof(active)) && *active)
		plan_warn(p->plan, "tuned runs with its profile %s and may set some of this otherwise", active);
}

void plan_tuned(struct planner *p, const struct setting *s, const struct knob *k)
{
	const char *name = s->value->scalar;
	char *conf;

	if (s->value->kind != YNODE_SCALAR || !*name) {
		profile_fault(s, s->value, "'tuned' wants the name of a profile, own, or leave");
		return;
	}
	if (!strcmp(name, "leave")) {
		warn_of_daemon(p);
		return;
	}
	if (!strcmp(name, "own")) {
		plan_own(p, s, k);
		return;
	}
	conf = tuned_find(p->m, name);
	if (conf || !tuned_is_installed(p->m))
		tuned_plan(p->plan, p->m, k->key, name, NULL);
	else
		unknown(p, s);
	free(conf);
}
