/*
 * A unit test speaks TAP (testanything.org) and is one program: checks, then `return done_testing();`. The plan comes
 * last, so a test that dies in the middle fails. Every check takes a printf format that says what should be true.
 */
#ifndef KBLAT_TESTS_UNIT_TAP_H
#define KBLAT_TESTS_UNIT_TAP_H

#include <fcntl.h>
#include <ftw.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A test is one file and one thread. */
static struct {
	unsigned count, failed;
} tap_state;

/* The condition comes back, so that what depends on it can be left out: if (ok(p, "...")) ... */
#define ok(condition, ...)	   tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, ...)	   tap_is_int((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define is_str(got, want, ...)	   tap_is_str((got), (want), __FILE__, __LINE__, __VA_ARGS__)
#define contains(got, part, ...)   tap_contains((got), (part), __FILE__, __LINE__, __VA_ARGS__)
#define like(got, expression, ...) tap_like((got), (expression), __FILE__, __LINE__, __VA_ARGS__) /* POSIX extended */

static inline void tap_line(bool passed, const char *directive, const char *format, va_list ap)
{
	printf("%s %u - ", passed ? "ok" : "not ok", ++tap_state.count);
	vprintf(format, ap);
	printf("%s\n", directive);
	tap_state.failed += !passed;
	/* What a crash or a fork would lose or repeat. */
	fflush(stdout);
}

static inline void tap_where(const char *file, int line)
{
	printf("#   at %s:%d\n", file, line);
	fflush(stdout);
}

__attribute__((format(printf, 4, 5))) static inline bool tap_ok(bool condition, const char *file, int line,
								const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	tap_line(condition, "", format, ap);
	va_end(ap);
	if (!condition)
		tap_where(file, line);
	return condition;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_int(long long got, long long want, const char *file,
								    int line, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	tap_line(got == want, "", format, ap);
	va_end(ap);
	if (got == want)
		return true;
	printf("#   got %lld, want %lld\n", got, want);
	tap_where(file, line);
	return false;
}

static inline void tap_show(const char *name, const char *text)
{
	printf("#   %s ", name);
	for (; text && *text; text++)
		if (*text == '\n')
			printf("\n#       ");
		else
			putchar(*text);
	printf("%s\n", text ? "" : "(null)");
}

static inline bool tap_text(bool passed, const char *got, const char *want, const char *file, int line,
			    const char *format, va_list ap)
{
	tap_line(passed, "", format, ap);
	if (passed)
		return true;
	tap_show("got ", got);
	tap_show("want", want);
	tap_where(file, line);
	return false;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_is_str(const char *got, const char *want, const char *file,
								    int line, const char *format, ...)
{
	va_list ap;
	bool passed = got && want ? !strcmp(got, want) : got == want;

	va_start(ap, format);
	passed = tap_text(passed, got, want, file, line, format, ap);
	va_end(ap);
	return passed;
}

__attribute__((format(printf, 5, 6))) static inline bool
tap_contains(const char *got, const char *part, const char *file, int line, const char *format, ...)
{
	va_list ap;
	bool passed;

	va_start(ap, format);
	passed = tap_text(got && strstr(got, part), got, part, file, line, format, ap);
	va_end(ap);
	return passed;
}

__attribute__((format(printf, 5, 6))) static inline bool tap_like(const char *got, const char *expression,
								  const char *file, int line, const char *format, ...)
{
	bool passed = false;
	regex_t compiled;
	va_list ap;

	if (got && !regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB)) {
		passed = !regexec(&compiled, got, 0, NULL, 0);
		regfree(&compiled);
	}
	va_start(ap, format);
	passed = tap_text(passed, got, expression, file, line, format, ap);
	va_end(ap);
	return passed;
}

/* A check that cannot be made here, in the place of the checks left out: skip("running as root"). */
__attribute__((format(printf, 1, 2))) static inline void skip(const char *format, ...)
{
	char reason[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, sizeof(reason), format, ap);
	va_end(ap);
	printf("ok %u # SKIP %s\n", ++tap_state.count, reason);
	fflush(stdout);
}

__attribute__((format(printf, 1, 2))) static inline void note(const char *format, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
}

/* The plan, and the exit status of the program. */
static inline int done_testing(void)
{
	printf("1..%u\n", tap_state.count);
	if (tap_state.failed)
		printf("# %u of %u failed\n", tap_state.failed, tap_state.count);
	fflush(stdout);
	return tap_state.failed || !tap_state.count;
}

/* A fresh folder for this test alone; tap_dir_remove takes it away. */
static inline char *tap_dir(void)
{
	const char *parent = getenv("TMPDIR");
	char *path;

	if (asprintf(&path, "%s/kblat-test-XXXXXX", parent && *parent ? parent : "/tmp") < 0 || !mkdtemp(path)) {
		printf("Bail out! no temporary folder\n");
		exit(1);
	}
	return path;
}

static inline int tap_remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

static inline void tap_dir_remove(char *path)
{
	nftw(path, tap_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(path);
}

/* How many descriptors are open: to see that none is left behind. */
static inline int tap_open_files(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Write a file without the help of what is under test. */
static inline void tap_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
		printf("Bail out! cannot write %s\n", path);
		exit(1);
	}
}

#endif
