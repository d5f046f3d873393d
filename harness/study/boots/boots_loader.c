#include "study/boots/boots_loader.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/diag.h"
#include "common/fs.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/sysroot.h"
#include "common/text.h"
#include "measure/run/host_state.h"

#define WORDS_MOST   6
#define LOADER_GUEST "guest"
#define LIMIT_MS     120000
#define MENU_MOST    (4 << 20)
#define ONE_SHOT     "/sys/firmware/efi/efivars/LoaderEntryOneShot-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"

/* Words in which {entry}, {unit}, {dir} and, of a program of the user, {loader} are filled in. */
typedef const char *loader_words[WORDS_MOST];

struct loader_row {
	const char *name;
	loader_words words[LOADER_VERBS];
	/* NULL: the release itself */
	void (*find_entry)(const struct sysroot *root, const char *kernel, char **found);
};

/* --- what boot loaders call a kernel --- */

/* The text between the quotes that follow `before`, or NULL. */
static char *quoted_after(const char *line, const char *before)
{
	const char *at = strstr(line, before), *end;

	if (!at)
		return NULL;
	at += strlen(before);
	end = strchr(at, '\'');
	return end ? or_abort(strndup(at, (size_t)(end - at))) : NULL;
}

/* The ID of an entry of this release, with that of its submenu, as grub-mkconfig writes them. */
static char *find_in_menu(char *text, const char *kernel)
{
	char *wanted = fs_path("gnulinux-%s-advanced", kernel), *menu = NULL, *found = NULL, *rest = text, *line;

	while (!found && (line = strsep(&rest, "\n"))) {
		char *id = quoted_after(line, "$menuentry_id_option '");

		if (*line == '}' || !strncmp(line, "submenu ", 8)) {
			free(menu);
			menu = *line == '}' ? NULL : id;
			id = *line == '}' ? id : NULL;
		} else if (id && !strncmp(id, wanted, strlen(wanted))) {
			found = menu ? fs_path("%s>%s", menu, id) : fs_path("%s", id);
		}
		free(id);
	}
	free(menu);
	free(wanted);
	return found;
}

static void find_grub_entry(const struct sysroot *root, const char *kernel, char **found)
{
	char *text = NULL;

	if (!sysroot_read(root, "/boot/grub/grub.cfg", MENU_MOST, &text, NULL))
		*found = find_in_menu(text, kernel);
	free(text);
}

/* The name of a file that kernel-install has written. */
static void find_bootctl_entry(const struct sysroot *root, const char *kernel, char **found)
{
	static const char *const places[] = {"/efi", "/boot", "/boot/efi"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !*found; i++) {
		char *pattern = fs_path("%s/loader/entries/*-%s.conf", places[i], kernel), **paths = NULL;

		if (sysroot_glob(root, pattern, &paths) > 0)
			*found = fs_path("%s", strrchr(paths[0], '/') + 1);
		sysroot_names_free(paths);
		free(pattern);
	}
}

/* --- the table --- */

/* clang-format off */
#define GOES_DOWN [LOADER_GOES_DOWN] = {"sh", "-c", "[ \"$(systemctl is-system-running 2>/dev/null)\" = stopping ]"}
#define BY_SYSTEMD                                                                                                     \
	[LOADER_ENABLE] = {"systemctl", "enable", "{unit}"},                                                           \
	[LOADER_DISABLE] = {"systemctl", "disable", "{unit}"},                                                         \
	[LOADER_STOP] = {"systemctl", "disable", "--now", "{unit}"},                                                   \
	[LOADER_SETTLED] = {"sh", "-c", "case $(systemctl is-system-running) in running | degraded) ;; *) exit 1 ;; esac"}, GOES_DOWN

static const struct loader_row loaders[] = {
	{"grub", {BY_SYSTEMD,
		[LOADER_SET] = {"grub-reboot", "{entry}"},
		[LOADER_CLEAR] = {"grub-editenv", "-", "unset", "next_entry"},
		[LOADER_PENDING] = {"sh", "-c", "v=$(grub-editenv - list) || exit 2; echo \"$v\" | grep -q '^next_entry=.'"},
		[LOADER_REBOOT] = {"systemctl", "reboot"}}, find_grub_entry},
	{"bootctl", {BY_SYSTEMD,
		[LOADER_SET] = {"bootctl", "set-oneshot", "{entry}"},
		[LOADER_CLEAR] = {"bootctl", "set-oneshot", ""},
		[LOADER_PENDING] = {"test", "-e", ONE_SHOT},
		[LOADER_REBOOT] = {"systemctl", "reboot"}}, find_bootctl_entry},
	/* Nothing of it outlives a power failure. */
	{"kexec", {BY_SYSTEMD,
		[LOADER_SET] = {"sh", "-c", "exec kexec -l \"/boot/vmlinuz-$1\" --initrd=\"/boot/initrd.img-$1\" --reuse-cmdline", "-", "{entry}"},
		[LOADER_CLEAR] = {"kexec", "-u"},
		[LOADER_PENDING] = {"grep", "-q", "1", "/sys/kernel/kexec_loaded"},
		/* Into the default kernel, too, for which nothing is loaded. */
		[LOADER_REBOOT] = {"sh", "-c", "grep -q 1 /sys/kernel/kexec_loaded && exec systemctl kexec; exec systemctl reboot"}}, NULL},
	{LOADER_GUEST, {{NULL}}, NULL},
};

static const struct loader_row own = {"", {
	[LOADER_ENABLE] = {"{loader}", "enable", "{unit}", "{dir}"},
	[LOADER_DISABLE] = {"{loader}", "disable", "{unit}", "{dir}"},
	[LOADER_STOP] = {"{loader}", "stop", "{unit}", "{dir}"},
	[LOADER_SETTLED] = {"{loader}", "settled"},
	[LOADER_SET] = {"{loader}", "set", "{entry}"},
	[LOADER_CLEAR] = {"{loader}", "clear"},
	[LOADER_PENDING] = {"{loader}", "pending"},
	[LOADER_REBOOT] = {"{loader}", "reboot"}, GOES_DOWN}, NULL};
/* clang-format on */

static const struct loader_row *loader_row(const char *name)
{
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (!strcmp(loaders[i].name, name))
			return &loaders[i];
	return *name == '/' ? &own : NULL;
}

bool loader_is_guest(const char *name)
{
	return !strcmp(name, LOADER_GUEST);
}

int loader_check_name(const char *name, struct err *e)
{
	const char *names[sizeof(loaders) / sizeof(loaders[0]) + 1] = {NULL};
	char hint[SUGGESTION_MAX];

	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		names[i] = loaders[i].name;
	return loader_row(name)
		   ? 0
		   : err_set(e, -EINVAL, STATUS_USAGE, "--loader", NULL, "must be one of " LOADER_NAMES ", not '%s'%s",
			     name, suggestion(suggest(name, names), hint, sizeof(hint)));
}

int loader_check(const char *name, struct err *e)
{
	const struct loader_row *row = loader_row(name);

	if (!row)
		return loader_check_name(name, e);
	if (row == &own)
		return access(name, X_OK) ? err_sys(e, -errno, name, "run it as the boot loader's program") : 0;
	if (loader_is_guest(name))
		return 0;
	if (machine_state_sysroot())
		return err_set(e, -EPERM, STATUS_USAGE, "--loader", NULL,
			       "KBLAT_SYSROOT names a recorded machine, so this one is not rebooted");
	if (geteuid())
		return err_set(e, -EPERM, STATUS_IMPOSSIBLE, "--loader", NULL,
			       "only root may choose the next boot: use sudo");
	return 0;
}

char *loader_entry(const char *name, const char *kernel, struct err *e)
{
	const struct loader_row *row = loader_row(name);
	struct sysroot root;
	char *found = NULL;

	if (!row || !row->find_entry)
		return fs_path("%s", kernel);
	if (sysroot_open(&root, machine_state_sysroot(), e))
		return NULL;
	row->find_entry(&root, kernel, &found);
	sysroot_close(&root);
	if (!found)
		err_set(
		    e, -ENOENT, STATUS_USAGE, name, NULL,
		    "it has no entry for the kernel %s that could be found: name it with --old-entry or --new-entry",
		    kernel);
	return found;
}

/* As systemd-escape --path does. */
static char *escaped_path(const char *path)
{
	char *text = fs_path("%s", "");

	for (const char *p = path + (*path == '/'); *p; p++) {
		const bool plain = isalnum((unsigned char)*p) || strchr(":_", *p) || (*p == '.' && *text);
		char *longer = *p == '/' ? fs_path("%s-", text)
			       : plain	 ? fs_path("%s%c", text, *p)
					 : fs_path("%s\\x%02x", text, (unsigned char)*p);

		free(text);
		text = longer;
	}
	return text;
}

static char *unit_name(const struct loader *l)
{
	char *path = escaped_path(l->dir), *unit = fs_path("kblat-boots@%s.service", path);

	free(path);
	return unit;
}

char *loader_other_unit(const struct loader *l)
{
	char *own_unit = unit_name(l), **paths = NULL, *other = NULL;
	struct sysroot root;

	if (loader_row(l->name) != &own && !sysroot_open(&root, NULL, NULL)) {
		if (sysroot_glob(&root, "/etc/systemd/system/*.wants/kblat-boots@*.service", &paths) > 0)
			for (size_t i = 0; paths[i] && !other; i++)
				if (strcmp(strrchr(paths[i], '/') + 1, own_unit) != 0)
					other = fs_path("%s", strrchr(paths[i], '/') + 1);
		sysroot_names_free(paths);
		sysroot_close(&root);
	}
	free(own_unit);
	return other;
}

/* A word with its placeholder filled in; there is at most one, and nothing else in it. */
static char *filled_word(const struct loader *l, const char *word, const char *entry)
{
	if (!strcmp(word, "{unit}"))
		return unit_name(l);
	if (!strcmp(word, "{entry}"))
		word = entry;
	else if (!strcmp(word, "{dir}"))
		word = l->dir;
	else if (!strcmp(word, "{loader}"))
		word = l->name;
	return fs_path("%s", word);
}

/* What was begun is done: neither Ctrl-C nor the shutdown that it asks for ends it half-way. */
static int hold_out(void *context)
{
	(void)context;
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	return 0;
}

/* What the command returns; `text` has what it printed. */
static int loader_call(const struct loader *l, enum loader_verb verb, const char *entry, char *text, size_t size)
{
	const struct loader_row *row = loader_row(l->name);
	char *word[WORDS_MOST + 1] = {NULL};
	const struct spawn s = {
	    .words = (const char *const *)word, .in = -1, .out = -1, .err = -1, .own_group = true, .prepare = hold_out};
	int status;

	for (size_t i = 0; i < WORDS_MOST && row->words[verb][i]; i++)
		word[i] = filled_word(l, row->words[verb][i], entry ? entry : "");
	status = spawn_output(&s, LIMIT_MS, text, size);
	for (size_t i = 0; word[i]; i++)
		free(word[i]);
	return status;
}

static const char *const meanings[LOADER_VERBS] = {
    [LOADER_ENABLE] = "enable the unit that goes on after each boot",
    [LOADER_DISABLE] = "disable the unit that goes on after each boot",
    [LOADER_STOP] = "stop the unit that goes on after each boot",
    [LOADER_SET] = "set the entry of the next boot",
    [LOADER_CLEAR] = "clear the entry of the next boot",
    [LOADER_PENDING] = "ask whether an entry of the next boot is set",
    [LOADER_REBOOT] = "reboot",
    [LOADER_SETTLED] = "ask whether the machine has settled",
    [LOADER_GOES_DOWN] = "ask whether the machine goes down",
};

static int refuse_call(const struct loader *l, enum loader_verb verb, int status, char *text, struct err *e)
{
	char shown[512];

	text[strcspn(text, "\n")] = '\0';
	text_clean(text, strlen(text), shown, sizeof(shown));
	if (status < 0)
		return err_sys(e, status, l->name, meanings[verb]);
	return err_set(e, -ECHILD, STATUS_FAILED, l->name, meanings[verb], "its command ended with status %d%s%s",
		       status, *shown ? ": " : "", shown);
}

int loader_do(const struct loader *l, enum loader_verb verb, const char *entry, struct err *e)
{
	char text[1024];
	int status;

	if (loader_is_guest(l->name))
		return 0;
	status = loader_call(l, verb, entry, text, sizeof(text));
	/* Boot loaders' tools and systemctl do not wait for the disk. */
	sync();
	return status ? refuse_call(l, verb, status, text, e) : 0;
}

int loader_ask(const struct loader *l, enum loader_verb verb, struct err *e)
{
	char text[1024];
	const int status = loader_is_guest(l->name) ? 1 : loader_call(l, verb, NULL, text, sizeof(text));

	return status == 0 || status == 1 ? !status : refuse_call(l, verb, status, text, e);
}
