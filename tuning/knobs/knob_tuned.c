#include "tuning/knobs/knob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/diag.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/text.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/tuned.h"
#include "tuning/ops/op_tuned.h"

#define CONF_MAX (1 << 20)

static char *read_own_conf(const struct setting *s)
{
	char *path = fs_path("%s/tuned.conf", s->file->folder), *text = NULL;
	struct err e = ERR_INIT;

	if (fs_read_followed(path, CONF_MAX, &text, NULL, &e))
		setting_fault(s, s->value, "%s", e.text);
	free(path);
	return text;
}

static void plan_own(struct planner *p, const struct setting *s, const struct knob *k)
{
	const char *slash = strrchr(s->file->folder, '/');
	char *name = fs_path("kbtune-%s", slash ? slash + 1 : s->file->folder), *text = read_own_conf(s);
	char *path = fs_path("%s/tuned.conf", s->file->folder), *installed = tuned_find(p->m, name);

	/* It was installed by an administrator, unless it is one of kbtune's that was never removed. */
	if (text && installed && !tuned_is_ours(p->m, installed))
		op_tuned_plan(p->plan, p->m, k->key, &(struct tuned_choice){.names = name});
	else if (text)
		op_tuned_plan(p->plan, p->m, k->key, &(struct tuned_choice){.names = name, .path = path, .text = text});
	free(installed);
	free(path);
	free(text);
	free(name);
}

static void fault_unknown_profile(struct planner *p, const struct setting *s, const char *name)
{
	char **names = tuned_names(p->m), quoted[TEXT_QUOTE_MAX], hint[SUGGESTION_MAX];

	setting_fault(s, s->value, "tuned has no profile %s here%s", text_quote(name, quoted, sizeof(quoted)),
		      suggestion(suggest(name, (const char *const *)names), hint, sizeof(hint)));
	sysroot_names_free(names);
}

/* A profile of tuned, or several that tuned merges. */
static void plan_names(struct planner *p, const struct setting *s, const struct knob *k)
{
	char *missing = tuned_is_installed(p->m) ? tuned_find_missing(p->m, s->value->scalar) : NULL;

	if (missing)
		fault_unknown_profile(p, s, missing);
	else
		op_tuned_plan(p->plan, p->m, k->key, &(struct tuned_choice){.names = s->value->scalar});
	free(missing);
}

/* Warn of a daemon that keeps running and changes settings by its own rules. */
static void warn_of_daemon(struct planner *p)
{
	struct tuned_active active;

	if (p->m->root.live && tuned_daemon(p->m) && tuned_active(&active) && *active.profile)
		plan_warn(p->plan, "tuned runs with its profile %s and may change some of these values",
			  active.profile);
}

void knob_tuned_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	const char *name = s->value->scalar;

	if (s->value->kind != YNODE_SCALAR || !*name) {
		setting_must_be(s, s->value, s->key, "the names of profiles, own, or leave");
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
	plan_names(p, s, k);
}
