#include "common/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "common/err.h"
#include "tap.h"

struct flags {
	bool json;
	const char *out;
	long reps, any, low;
	struct cli_list set;
};

enum { FLAG_COUNT = 8 };

static void make_flags(struct flags *f, struct cli_flag flags[FLAG_COUNT])
{
	const struct cli_flag rows[FLAG_COUNT] = {
	    {"out", CLI_STRING, &f->out, "DIR", "make the run directory inside DIR instead of beside the spec", 0, 0},
	    {"set", CLI_LIST, &f->set, "KEY=VALUE", "change a setting in every point", 0, 0},
	    {"reps", CLI_INT, &f->reps, "N", "repetitions", 1, 1000},
	    {"any", CLI_INT, &f->any, "N", "any number", 0, 0},
	    {"json", CLI_FLAG, &f->json, NULL, "machine-readable", 0, 0},
	    {"twentytwo-columns", CLI_INT, &f->low, "AB", "its help just fits beside it", 0, 5},
	    {"twenty-three-columns", CLI_INT, &f->low, "A", "its help goes below", -5, 0},
	    {NULL, CLI_FLAG, NULL, NULL, NULL, 0, 0},
	};

	memcpy(flags, rows, sizeof(rows));
}

static const struct cli_command run = {
    "run",
    "SPEC [--out DIR] [--set KEY=VALUE]… [--only KEY=VALUE]… [--reps N] [--dry-run]",
    "Measure what a spec says.",
    "First paragraph, which is long enough to be wrapped, so that it takes more than one line, and another that is "
    "filled\nto the very last one of its eighty columns. End.\n"
    "\n"
    "  kblat run a.yaml   # kept as it is\n"
    "\n"
    "Second.",
    1,
    2,
};

/* One line of words, parsed. */
static int parse(struct flags *f, struct cli_list *args, bool *help, struct err *e, const char *line, char *store)
{
	struct cli_flag flags[FLAG_COUNT];
	char *argv[32];
	int argc = 0, rc;

	make_flags(f, flags);
	*f = (struct flags){.reps = -77};
	strcpy(store, line);
	for (char *w = strtok(store, " "); w; w = strtok(NULL, " "))
		argv[argc++] = strcmp(w, "EMPTY") ? w : w + 5;
	argv[argc] = NULL;
	err_clear(e);
	rc = cli_parse(&run, flags, argc, argv, args, help, e);
	return rc;
}

static void test_good(void)
{
	char store[200];
	struct flags f;
	struct cli_list args;
	struct err e = ERR_INIT;
	bool help;

	is_int(parse(&f, &args, &help, &e, "run --json a --out d b --reps=3 --set x=1 --set=y=2", store), 0,
	       "flags between arguments");
	ok(f.json && !help, "a flag");
	is_str(f.out, "d", "a text");
	is_int(f.reps, 3, "a number behind '='");
	ok(f.set.count == 2 && !strcmp(f.set.items[0], "x=1") && !strcmp(f.set.items[1], "y=2"), "a list");
	ok(args.count == 2 && !strcmp(args.items[0], "a") && !strcmp(args.items[1], "b"), "arguments in order");
	cli_list_free(&f.set);
	cli_list_free(&args);
	ok(!args.items && !args.count, "a list that is freed is empty");

	is_int(parse(&f, &args, &help, &e, "run a -- --json", store), 0, "everything behind -- is an argument");
	ok(!f.json && args.count == 2 && !strcmp(args.items[1], "--json"), "also what looks like a flag");
	cli_list_free(&args);

	is_int(parse(&f, &args, &help, &e, "run - --any -5 --out EMPTY", store), 0, "'-' is an argument");
	is_int(f.any, -5, "a negative number is a value");
	is_str(f.out, "", "so is an empty text");
	is_int(f.reps, -77, "what is not given stays as it was");
	cli_list_free(&args);

	is_int(parse(&f, &args, &help, &e, "run a --reps 1000 --twentytwo-columns=0", store), 0, "the ends of a range");
	ok(f.reps == 1000 && f.low == 0, "are within it");
	cli_list_free(&args);

	is_int(parse(&f, &args, &help, &e, "run --any 1e6 a", store), 0, "an exponent");
	is_int(f.any, 1000000, "is a number too");
	cli_list_free(&args);
}

static void test_help_flag(void)
{
	static const char *const lines[] = {"run --help", "run -h", "run a b c --help --nonsense",
					    "run --json --help a"};
	char store[200];
	struct flags f;
	struct cli_list args;
	struct err e = ERR_INIT;
	bool help;

	for (size_t i = 0; i < 4; i++) {
		is_int(parse(&f, &args, &help, &e, lines[i], store), 0, "'%s' is fine", lines[i]);
		ok(help, "'%s' asks for help", lines[i]);
		cli_list_free(&args);
	}
	is_int(parse(&f, &args, &help, &e, "run a -- --help", store), 0, "behind -- ...");
	ok(!help, "... it does not");
	cli_list_free(&args);
}

static void test_misuse(void)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
	    {"run a --rpes 3", "run: unknown flag '--rpes'; did you mean '--reps'?"},
	    {"run a --rpes=3", "run: unknown flag '--rpes'; did you mean '--reps'?"},
	    {"run a --hlep", "did you mean '--help'?"},
	    {"run a --zzzzz", "run: unknown flag '--zzzzz'; --help lists all flags"},
	    {"run a -json", "run: unknown flag '-json'; did you mean '--json'?"},
	    {"run a -x", "unknown flag '-x'"},
	    {"run a --=3", "unknown flag '--'"},
	    {"run a --jso", "did you mean '--json'?"},
	    {"run a --out", "run: flag '--out' needs a value: --out DIR"},
	    {"run a --out --json", "run: flag '--out' needs a value: --out DIR"},
	    {"run a --out -- b", "needs a value"},
	    {"run a --json=yes", "run: flag '--json' takes no value"},
	    {"run a --out b --out c", "run: flag '--out' is given twice"},
	    {"run a --reps 1 --reps 1", "run: flag '--reps' is given twice"},
	    {"run a --reps ten", "run: flag '--reps' must be a whole number, not 'ten'"},
	    {"run a --reps=", "run: flag '--reps' must be a whole number, not ''"},
	    {"run a --reps 1.5", "must be a whole number, not '1.5'"},
	    {"run a --reps 0", "run: flag '--reps' got '0', below its minimum of 1"},
	    {"run a --reps 1001", "run: flag '--reps' got '1001', above its maximum of 1000"},
	    {"run a --twentytwo-columns 6", "got '6', above its maximum of 5"},
	    {"run a --twentytwo-columns -1", "got '-1', below its minimum of 0"},
	    {"run a --twenty-three-columns 1", "got '1', above its maximum of 0"},
	    {"run a --reps 99999999999999999999", "which is too large"},
	    {"run", "run: too few arguments; usage: run SPEC [--out DIR]"},
	    {"run --json", "too few arguments"},
	    {"run a b c", "run: too many arguments, from 'c' on; usage: run SPEC"},
	};
	char store[200];
	struct flags f;
	struct cli_list args;
	struct err e = ERR_INIT;
	bool help;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_int(parse(&f, &args, &help, &e, rows[i].line, store), -EINVAL, "'%s' is refused", rows[i].line);
		contains(e.text, rows[i].why, "'%s': why", rows[i].line);
		is_int(e.status, STATUS_USAGE, "'%s': status", rows[i].line);
		ok(!args.items, "'%s': nothing to free", rows[i].line);
		cli_list_free(&f.set);
	}
}

static void test_unlimited(void)
{
	struct cli_command many = {"state", "DIR…", "", NULL, 0, SIZE_MAX};
	char *argv[] = {(char *)"state", (char *)"1", (char *)"2", (char *)"3", NULL};
	struct cli_list args;
	bool help;

	is_int(cli_parse(&many, NULL, 4, argv, &args, &help, NULL), 0, "no flags, no limit");
	is_int((long long)args.count, 3, "three arguments");
	cli_list_free(&args);
	is_int(cli_parse(&many, NULL, 1, argv, &args, &help, NULL), 0, "and none");
	is_int((long long)args.count, 0, "are fine too");
	cli_list_free(&args);
}

static int columns(const char *s, size_t n)
{
	int c = 0;

	for (size_t i = 0; i < n; i++)
		c += ((unsigned char)s[i] & 0xc0) != 0x80;
	return c;
}

static void test_help_text(void)
{
	struct flags f;
	struct cli_flag flags[FLAG_COUNT];
	char *text = NULL, *p;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int widest = 0;

	make_flags(&f, flags);
	cli_help("kblat", &run, flags, out);
	fclose(out);
	is_str(text,
	       "Usage: kblat run SPEC [--out DIR] [--set KEY=VALUE]… [--only KEY=VALUE]…\n"
	       "                 [--reps N] [--dry-run]\n"
	       "\n"
	       "Measure what a spec says.\n"
	       "\n"
	       "First paragraph, which is long enough to be wrapped, so that it takes more than\n"
	       "one line, and another that is filled to the very last one of its eighty columns.\n"
	       "End.\n"
	       "\n"
	       "  kblat run a.yaml   # kept as it is\n"
	       "\n"
	       "Second.\n"
	       "\n"
	       "  --out DIR               make the run directory inside DIR instead of beside\n"
	       "                          the spec\n"
	       "  --set KEY=VALUE         change a setting in every point\n"
	       "  --reps N                repetitions\n"
	       "  --any N                 any number\n"
	       "  --json                  machine-readable\n"
	       "  --twentytwo-columns AB  its help just fits beside it\n"
	       "  --twenty-three-columns A\n"
	       "                          its help goes below\n"
	       "  --help                  show this help\n",
	       "all of it");
	for (p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		int c = columns(p, strcspn(p, "\n"));

		widest = c > widest ? c : widest;
		if (p[0] && p[0] != '\n' && p[strcspn(p, "\n") - 1] == ' ')
			ok(false, "no blanks at the end of a line");
	}
	ok(widest == 80, "80 columns are filled and not passed (%d)", widest);
	free(text);
}

/* In a child, as stdout is gone afterwards: its exit status is the errno. */
static int close_stdout_on(int fd, bool print)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		signal(SIGPIPE, SIG_IGN);
		if (fd >= 0)
			dup2(fd, 1);
		else
			close(1);
		if (print)
			printf("something");
		_exit(-cli_close_stdout());
	}
	if (fd >= 0)
		close(fd);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_close_stdout(void)
{
	int ends[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	is_int(close_stdout_on(open("/dev/null", O_WRONLY | O_CLOEXEC), true), 0, "all is written");
	if (full < 0)
		skip("no /dev/full");
	else
		is_int(close_stdout_on(full, true), ENOSPC, "a full disk");
	is_int(pipe2(ends, O_CLOEXEC), 0, "a pipe");
	close(ends[0]);
	is_int(close_stdout_on(ends[1], true), EPIPE, "that nobody reads");
	is_int(close_stdout_on(-1, false), 0, "a closed stdout has lost nothing if nothing was written");
	is_int(close_stdout_on(-1, true), EBADF, "but has if something was");
}

int main(void)
{
	test_good();
	test_help_flag();
	test_misuse();
	test_unlimited();
	test_help_text();
	test_close_stdout();
	return done_testing();
}
