#include "common/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "common/feature.h"

struct library_search {
	const char *name;
	char file[PATH_MAX];
};

/* A symbolic link "libnuma.so.1" leads to the file "libnuma.so.1.0.0". */
static int library_look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct library_search *s = arg;
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!slash || strcmp(slash + 1, s->name))
		return 0;
	return realpath(info->dlpi_name, s->file) != NULL;
}

static void library_print_file(const char *name, FILE *out)
{
	struct library_search s = {.name = name};

	/* What is loaded only where it is needed, such as a transport's library. */
	if (!dlopen(name, RTLD_LAZY | RTLD_LOCAL) || !dl_iterate_phdr(library_look, &s))
		fprintf(out, "%s (not installed)", name);
	else
		fputs(strrchr(s.file, '/') + 1, out);
}

void libraries_print(const struct library *libraries, FILE *out)
{
	for (const struct library *l = libraries; l->name; l++) {
		if (l->feature && !feature_is_built(l->feature))
			continue;
		fputs(l == libraries ? "" : ", ", out);
		if (l->version)
			fprintf(out, "%s %s", l->name, l->version());
		else
			library_print_file(l->name, out);
	}
}
