#include "common/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clean_stream.h"
#include "common/diag.h"
#include "common/err.h"
#include "common/or_abort.h"
#include "common/text.h"
#include "common/units.h"

#define WIDTH	  80
#define FLAGS_MAX 64
#define INDENT	  26 /* of help texts */

/* The state of parsing a command line. */
struct reading {
	const struct cli_command *command;
	const struct cli_flag *flags;
	char **argv;
	int argc, at;
	uint64_t seen; /* one bit per flag */
	struct err *e;
};

static int refuse_line(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse_line(struct reading *r, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(r->e, -EINVAL, STATUS_USAGE, r->command->name, NULL, "%s", text);
}

static void list_add(struct cli_list *l, const char *item)
{
	l->items = or_abort(reallocarray(l->items, l->count + 1, sizeof(*l->items)));
	l->items[l->count++] = item;
}

void cli_list_free(struct cli_list *l)
{
	free(l->items);
	*l = (struct cli_list){NULL, 0};
}

static bool is_flag_named(const struct cli_flag *f, const char *name, size_t n)
{
	return strlen(f->name) == n && !memcmp(f->name, name, n);
}

/* "did you mean", including the dashes that the user must write. */
static int unknown_flag(struct reading *r, const char *arg)
{
	const char *names[FLAGS_MAX + 2], *near;
	const char *word = arg + strspn(arg, "-");
	char plain[64], quoted[TEXT_QUOTE_MAX];
	size_t count = 0, n = strcspn(arg, "=");

	for (const struct cli_flag *f = r->flags; f && f->name && count < FLAGS_MAX; f++)
		if (*f->name)
			names[count++] = f->name;
	names[count++] = "help";
	names[count] = NULL;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(word, "="), word);
	near = suggest(plain, names);
	snprintf(plain, sizeof(plain), "%.*s", n < sizeof(plain) ? (int)n : (int)sizeof(plain) - 1, arg);
	text_quote(plain, quoted, sizeof(quoted));
	if (near)
		return refuse_line(r, "unknown flag %s; did you mean '--%s'?", quoted, near);
	return refuse_line(r, "unknown flag %s; --help lists all flags", quoted);
}

static int set_int(struct reading *r, const struct cli_flag *f, const char *text)
{
	char quoted[TEXT_QUOTE_MAX];
	bool ranged = f->min || f->max;
	int64_t v;

	text_quote(text, quoted, sizeof(quoted));
	switch (unit_read(UNIT_ONE, text, &v)) {
	case UNIT_FINE:
		break;
	case UNIT_TOO_LARGE:
		return refuse_line(r, "flag '--%s' got %s, which is too large", f->name, quoted);
	default:
		return refuse_line(r, "flag '--%s' must be a whole number, not %s", f->name, quoted);
	}
	if (ranged && v < f->min)
		return refuse_line(r, "flag '--%s' got %s, below its minimum of %ld", f->name, quoted, f->min);
	if (ranged && v > f->max)
		return refuse_line(r, "flag '--%s' got %s, above its maximum of %ld", f->name, quoted, f->max);
	*(long *)f->target = (long)v;
	return 0;
}

/* The value of a flag: what follows '=', or the next argument unless that is a flag itself. */
static const char *take_value(struct reading *r, const char *equals)
{
	const char *next = r->at + 1 < r->argc ? r->argv[r->at + 1] : NULL;

	if (equals)
		return equals + 1;
	if (!next || !strncmp(next, "--", 2))
		return NULL;
	r->at++;
	return next;
}

static int set_flag(struct reading *r, const struct cli_flag *f, const char *equals)
{
	uint64_t bit = UINT64_C(1) << (f - r->flags) % FLAGS_MAX;
	const char *value;

	if (f->kind == CLI_FLAG) {
		if (equals)
			return refuse_line(r, "flag '--%s' takes no value", f->name);
		*(bool *)f->target = true;
		return 0;
	}
	value = take_value(r, equals);
	if (!value)
		return refuse_line(r, "flag '--%s' needs a value: --%s %s", f->name, f->name, f->metavar);
	if (f->kind == CLI_LIST) {
		list_add(f->target, value);
		return 0;
	}
	if (r->seen & bit)
		return refuse_line(r, "flag '--%s' is given twice", f->name);
	r->seen |= bit;
	if (f->kind == CLI_INT)
		return set_int(r, f, value);
	*(const char **)f->target = value;
	return 0;
}

static int read_flag(struct reading *r, const char *arg)
{
	const char *equals = strchr(arg, '=');
	size_t n = equals ? (size_t)(equals - arg) : strlen(arg);

	for (const struct cli_flag *f = r->flags; f && f->name; f++)
		if (n > 2 && !strncmp(arg, "--", 2) && is_flag_named(f, arg + 2, n - 2))
			return set_flag(r, f, equals);
	return unknown_flag(r, arg);
}

static int check_count(struct reading *r, const struct cli_list *args)
{
	const struct cli_command *c = r->command;
	char quoted[TEXT_QUOTE_MAX];

	if (args->count < c->min_args)
		return refuse_line(r, "too few arguments; usage: %s %s", c->name, c->synopsis);
	if (args->count <= c->max_args)
		return 0;
	text_quote(args->items[c->max_args], quoted, sizeof(quoted));
	return refuse_line(r, "too many arguments, from %s on; usage: %s %s", quoted, c->name, c->synopsis);
}

static bool asks_for_help(const char *arg)
{
	return !strcmp(arg, "--help") || !strcmp(arg, "-h");
}

int cli_parse(const struct cli_command *c, const struct cli_flag *flags, int argc, char **argv, struct cli_list *args,
	      bool *help, struct err *e)
{
	struct reading r = {.command = c, .flags = flags, .argv = argv, .argc = argc, .e = e};
	bool only_args = false;
	int rc = 0;

	*args = (struct cli_list){NULL, 0};
	*help = false;
	for (r.at = 1; r.at < argc && !rc; r.at++) {
		const char *arg = argv[r.at];

		if (only_args || arg[0] != '-' || !arg[1]) {
			list_add(args, arg);
		} else if (!strcmp(arg, "--")) {
			only_args = true;
		} else if (asks_for_help(arg)) {
			*help = true;
			return 0;
		} else {
			rc = read_flag(&r, arg);
		}
	}
	if (!rc)
		rc = check_count(&r, args);
	if (rc)
		cli_list_free(args);
	return rc;
}

const char **cli_names(const char *text, char **copy)
{
	size_t count = 0, room = 2;
	const char **names;

	for (const char *p = text; p && *p; p++)
		room += *p == ',';
	names = or_abort(calloc(room, sizeof(*names)));
	*copy = or_abort(strdup(text ? text : ""));
	for (char *rest = *copy, *name; rest && (name = strsep(&rest, ","));)
		if (*name)
			names[count++] = name;
	return names;
}

/* A paragraph being printed. */
struct fill {
	FILE *out;
	int width, column, indent;
	bool bare; /* no word on this line yet */
	bool brackets;
};

/* Longer lines are hard to read. */
static int help_width(FILE *out)
{
	const int width = (int)clean_stream_width(out, WIDTH);

	return width < WIDTH ? width : WIDTH;
}

static void end_line(struct fill *f)
{
	if (f->column)
		fputc('\n', f->out);
	f->column = 0;
	f->bare = true;
}

static void put_word(struct fill *f, const char *word, size_t n)
{
	const int width = (int)text_columns(word, n);

	if (!f->bare && f->column + 1 + width > f->width)
		end_line(f);
	if (f->column < f->indent)
		f->column += fprintf(f->out, "%*s", f->indent - f->column, "");
	if (!f->bare)
		f->column += fprintf(f->out, " ");
	fwrite(word, 1, n, f->out);
	f->column += width;
	f->bare = false;
}

/* A blank ends a word, but "[--out DIR]…" in a synopsis is kept together. */
static size_t word_length(const char *s, const char *end, bool brackets)
{
	const char *p = s;
	int open = 0;

	for (; p < end && (*p != ' ' || open > 0); p++)
		open += brackets ? (*p == '[') - (*p == ']') : 0;
	return (size_t)(p - s);
}

static void fill_line(struct fill *f, const char *line, size_t n)
{
	const char *end = line + n;

	while (line < end) {
		size_t word = word_length(line, end, f->brackets);

		if (word)
			put_word(f, line, word);
		line += word + (line + word < end);
	}
}

/* Lines are joined and wrapped, except for empty ones and those that start with a blank, which are
 * kept unchanged. */
static void wrap(struct fill *f, const char *text)
{
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (n && *text != ' ') {
			fill_line(f, text, n);
			continue;
		}
		end_line(f);
		fprintf(f->out, "%.*s\n", (int)n, text);
	}
	end_line(f);
}

void cli_print_text(const char *text, FILE *out)
{
	struct fill f = {.out = out, .width = help_width(out), .bare = true};

	wrap(&f, text);
}

void cli_print_item(const char *name, int column, const char *text, FILE *out)
{
	struct fill f = {.out = out, .width = help_width(out), .indent = column, .bare = true};

	fprintf(out, "  %s", name);
	f.column = 2 + (int)text_columns(name, strlen(name));
	if (f.column + 2 > column)
		end_line(&f);
	wrap(&f, text);
}

static void help_flag(const char *name, const char *metavar, const char *help, FILE *out)
{
	char flag[128];

	snprintf(flag, sizeof(flag), "--%s%s%s", name, metavar ? " " : "", metavar ? metavar : "");
	cli_print_item(flag, INDENT, help, out);
}

static struct {
	cli_help_writer *write;
	void *arg;
} diverted;

void cli_help_divert(cli_help_writer *write, void *arg)
{
	diverted.write = write;
	diverted.arg = arg;
}

void cli_help(const char *program, const struct cli_command *c, const struct cli_flag *flags, FILE *out)
{
	struct fill usage = {.out = out, .width = help_width(out), .bare = true, .brackets = true};
	const char *form = c->synopsis;
	const struct cli_flag *f;

	if (diverted.write) {
		diverted.write(diverted.arg, c, flags);
		return;
	}
	do {
		usage.column = usage.indent =
		    fprintf(out, "%s %s %s ", form == c->synopsis ? "Usage:" : "      ", program, c->name);
		fill_line(&usage, form, strcspn(form, "\n"));
		end_line(&usage);
		form += strcspn(form, "\n");
	} while (*form++);
	fputc('\n', out);
	cli_print_text(c->summary, out);
	if (c->details) {
		fputc('\n', out);
		cli_print_text(c->details, out);
	}
	fputc('\n', out);
	for (f = flags; f && f->name && *f->name; f++)
		help_flag(f->name, f->metavar, f->help, out);
	help_flag("help", NULL, "show this help", out);
	for (; f && f->name; f++)
		if (*f->name) {
			help_flag(f->name, f->metavar, f->help, out);
		} else {
			fputc('\n', out);
			cli_print_text(f->help, out);
		}
}

enum status cli_run(const char *program, const struct cli_command *c, const struct cli_flag *flags, int argc,
		    char **argv, cli_act *act, void *options, struct err *e)
{
	enum status status = STATUS_OK;
	struct cli_list args;
	bool help;

	if (cli_parse(c, flags, argc, argv, &args, &help, e))
		return STATUS_USAGE;
	if (help)
		cli_help(program, c, flags, stdout);
	else
		status = act(&args, options, e);
	cli_list_free(&args);
	return status;
}

/* The cause of an earlier error is no longer known, but whether a reader is gone is. */
static int earlier_error(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	if (!ferror(stdout))
		return 0;
	return poll(&out, 1, 0) == 1 && out.revents & POLLERR ? -EPIPE : -EIO;
}

int cli_close_stdout(void)
{
	const int earlier = earlier_error();
	int rc = 0;

	errno = 0;
	if (fflush(stdout))
		rc = errno ? -errno : -EIO;
	/* Some file systems only report now that there was no space. If the descriptor was never
	 * open, nothing was lost. */
	if (fclose(stdout) && !rc && errno != EBADF)
		rc = errno ? -errno : -EIO;
	return rc ? rc : earlier;
}
