#include "tuning/knobs/knob_files.h"

#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/text.h"
#include "tuning/machine/machine.h"
#include "tuning/ops/op_file.h"

/* "vm.swappiness" and "/sys/a/b" -> a path below `base`; NULL if it would be outside. As in
 * sysctl(8), a name that contains a slash is used unchanged; otherwise dots are separators. */
static char *file_path(const char *name, const char *base)
{
	bool is_path = !strncmp(name, base, strlen(base)), dots = !strchr(name, '/');
	char *path;

	if (!*name || (!is_path && name[0] == '/') || strstr(name, ".."))
		return NULL;
	path = fs_path("%s%s", base, is_path ? name + strlen(base) : name);
	for (char *c = path + strlen(base); dots && *c; c++)
		if (*c == '.')
			*c = '/';
	return path;
}

/* A choice between words is recognised by its brackets. */
static enum form form_at(const struct machine *m, const char *path)
{
	char line[512];

	return !sysroot_line(&m->root, path, line, sizeof(line)) && strchr(line, '[') && strchr(line, ']') ? FORM_CHOICE
													   : FORM_TEXT;
}

void knob_files_plan(struct planner *p, const struct setting *s, const struct knob *k)
{
	char quoted[TEXT_QUOTE_MAX];

	if (s->value->kind != YNODE_MAPPING) {
		setting_must_be(s, s->value, s->key, "a mapping {name: value}");
		return;
	}
	for (size_t i = 0; i < s->value->count; i++) {
		const struct ynode *key = s->value->keys[i], *value = s->value->items[i];
		char *path = file_path(key->scalar, k->row);

		if (!path)
			setting_fault(s, key, "%s is not a name below %s",
				      text_quote(key->scalar, quoted, sizeof(quoted)), (const char *)k->row);
		else if (value->kind != YNODE_SCALAR || !*value->scalar || strlen(value->scalar) >= MACHINE_VALUE_MAX)
			setting_fault(s, value, "a value is a text");
		else
			op_file_plan(p->plan, p->m, s->key, path, form_at(p->m, path), value->scalar,
				     "this kernel has no such file");
		free(path);
	}
}
