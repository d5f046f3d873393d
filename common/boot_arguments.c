#include "common/boot_arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/form.h"
#include "common/fs.h"
#include "common/or_abort.h"

bool boot_arguments_next(const char **rest, struct boot_argument_text *a)
{
	const char *p = *rest + strspn(*rest, " \t\n"), *end = p, *equals;
	bool quoted = false;

	if (!*p)
		return false;
	for (; *end && (quoted || !isspace((unsigned char)*end)); end++)
		quoted ^= *end == '"';
	*rest = end;
	/* All of it may be in quotes, or its value. */
	if (*p == '"') {
		p++;
		end -= end > p && end[-1] == '"';
	}
	equals = memchr(p, '=', (size_t)(end - p));
	*a = (struct boot_argument_text){p, "", (size_t)((equals ? equals : end) - p), 0};
	if (equals) {
		a->value = equals + 1;
		a->value_length = (size_t)(end - a->value);
	}
	if (a->name_length == 2 && !equals && !memcmp(p, "--", 2)) {
		a->value = *rest + strspn(*rest, " \t\n");
		a->value_length = strlen(a->value);
		while (a->value_length && isspace((unsigned char)a->value[a->value_length - 1]))
			a->value_length--;
		*rest = a->value + a->value_length;
	}
	return true;
}

/* The kernel takes dashes and underscores for the same. */
static bool is_named(const struct boot_argument_text *a, const char *name)
{
	size_t i = 0;

	for (; i < a->name_length && name[i]; i++)
		if ((a->name[i] == '-' ? '_' : a->name[i]) != (name[i] == '-' ? '_' : name[i]))
			return false;
	return i == a->name_length && !name[i];
}

char *boot_arguments_find(const char *line, const char *name)
{
	struct boot_argument_text a;
	char *values = NULL, *longer;

	while (boot_arguments_next(&line, &a)) {
		if (!is_named(&a, name))
			continue;
		if (a.value_length > 1 && a.value[0] == '"' && a.value[a.value_length - 1] == '"') {
			a.value++;
			a.value_length -= 2;
		}
		longer = fs_path("%s%s%.*s", values ? values : "", values ? " " : "", (int)a.value_length, a.value);
		free(values);
		values = longer;
	}
	return values;
}

static const struct set_argument {
	const char *name;
	bool first; /* of several, the first counts */
	const char *flags[3];
	const char *usual; /* the flag that it has without any */
} set_arguments[] = {
    {"isolcpus", true, {"domain", "managed_irq", "nohz"}, "domain"},
    {"nohz_full", true, {NULL}, NULL},
    {"rcu_nocbs", false, {NULL}, NULL},
    {"irqaffinity", false, {NULL}, NULL},
};

static const struct set_argument *find_set_argument(const char *name)
{
	for (size_t i = 0; i < sizeof(set_arguments) / sizeof(set_arguments[0]); i++)
		if (!strcmp(set_arguments[i].name, name))
			return &set_arguments[i];
	return NULL;
}

/* The one of several that counts, without quotes, which captures of earlier versions have. */
static char *value_that_counts(const struct set_argument *s, const char *values)
{
	const char *from = values, *end = values + strlen(values), *blank;

	while (!s->first && (blank = strchr(from, ' ')))
		from = blank + 1;
	if (s->first && (blank = strchr(from, ' ')))
		end = blank;
	if (*from == '"') {
		from++;
		end -= end > from && end[-1] == '"';
	}
	return or_abort(strndup(from, (size_t)(end - from)));
}

/* Flags come before the CPUs; one that the kernel does not know is passed over, as there. Returns what follows them. */
static const char *read_flags(const struct set_argument *s, const char *value, unsigned *flags)
{
	*flags = 0;
	while (s->flags[0] && isalpha((unsigned char)*value)) {
		size_t n = strcspn(value, ",");

		for (unsigned i = 0; i < sizeof(s->flags) / sizeof(s->flags[0]); i++)
			if (s->flags[i] && strlen(s->flags[i]) == n && !strncmp(s->flags[i], value, n))
				*flags |= 1U << i;
		value += n + (value[n] == ',');
	}
	if (!*flags && s->usual)
		*flags = 1;
	return value;
}

/* Numbers for N and all, and one comma between two items. */
static char *plain_list(const char *value, int last)
{
	char *list = fs_path("%s", ""), *longer;

	for (const char *p = value; *p;) {
		size_t n = strcspn(p, "N, \t");
		bool is_all = !strncasecmp(p, "all", 3) && (!p[3] || strchr(", :", p[3]));

		if (is_all)
			longer = fs_path("%s0-%d", list, last), n = 3;
		else if (n)
			longer = fs_path("%s%.*s", list, (int)n, p);
		else if (*p == 'N')
			longer = fs_path("%s%d", list, last), n = 1;
		else
			longer = fs_path("%s%s", list, *list && list[strlen(list) - 1] != ',' ? "," : ""), n = 1;
		free(list);
		list = longer;
		p += n;
	}
	if (*list && list[strlen(list) - 1] == ',')
		list[strlen(list) - 1] = '\0';
	return list;
}

static int read_set(const struct set_argument *s, const char *values, int last, struct cpulist *cpus, unsigned *flags)
{
	char *value = value_that_counts(s, values ? values : "");
	const char *named = read_flags(s, value, flags);
	char *list = plain_list(named, last);
	int rc = last < 0 && strpbrk(named, "Na") ? -EINVAL : cpulist_parse(list, cpus, NULL, 0);

	if (!rc && cpulist_first(cpus) < 0)
		*flags = 0;
	free(value);
	free(list);
	return rc;
}

int boot_arguments_cpus(const char *name, const char *values, int last, struct cpulist *cpus)
{
	const struct set_argument *s = find_set_argument(name);
	unsigned flags;

	return s ? read_set(s, values, last, cpus, &flags) : -EINVAL;
}

static char *unquoted(const char *value)
{
	size_t n = strlen(value);

	return n > 1 && value[0] == '"' && value[n - 1] == '"' ? fs_path("%.*s", (int)n - 2, value + 1)
							       : fs_path("%s", value);
}

bool boot_arguments_same(const char *name, const char *a, int a_last, const char *b, int b_last)
{
	const struct set_argument *s = find_set_argument(name);
	unsigned a_flags, b_flags;
	struct cpulist x, y;
	char *one, *other;
	bool same;

	if (s && !read_set(s, a, a_last, &x, &a_flags) && !read_set(s, b, b_last, &y, &b_flags))
		return a_flags == b_flags && !memcmp(&x, &y, sizeof(x));
	if (!a || !b)
		return a == b;
	one = unquoted(a);
	other = unquoted(b);
	same = form_same(FORM_TEXT, one, other);
	free(one);
	free(other);
	return same;
}
