#include "common/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define OBJECT_MAX 1024

/* Causes for which strerror()'s text is unclear to users, or with a hint what to do. */
static const struct {
	int number;
	const char *cause;
} causes[] = {
    {EACCES, "permission denied"},
    {EISDIR, "it is a directory"},
    {ELOOP, "it is a symbolic link, or below one; links are not followed here"},
    {EFBIG, "the file is too large"},
    {ENOSPC, "no space left on the file system; free some or choose another folder"},
    {EDQUOT, "the disk quota is used up; free some space or choose another folder"},
    {EROFS, "the file system is read-only; choose another folder"},
    {EMFILE, "too many open files; raise the limit with 'ulimit -n'"},
    {ENOMEM, "out of memory"},
    {EXDEV, "it is on another file system, or leads out of its folder"},
};

/* "OBJECT: cannot OPERATION: ", or the parts of it that are given. The beginning of a very long
 * path is left out, because its end is more informative, and the cause must fit, too. */
static void put_prefix(char *buf, size_t size, const char *object, const char *operation)
{
	size_t n = object ? strlen(object) : 0;
	int used = 0;

	if (n > OBJECT_MAX)
		used = snprintf(buf, size, "...%s: ", object + n - OBJECT_MAX);
	else if (object)
		used = snprintf(buf, size, "%s: ", object);
	if (operation)
		snprintf(buf + used, size - (size_t)used, "cannot %s: ", operation);
	else
		buf[used] = '\0';
}

/* A message is one line of plain text, whatever its parts contain. */
static void clean(struct err *e, const char *raw)
{
	char line[sizeof(e->text)];
	size_t n = strlen(raw);

	while (n && (raw[n - 1] == '\n' || raw[n - 1] == ' '))
		n--;
	for (size_t i = 0; i < n; i++)
		line[i] = raw[i] == '\n' || raw[i] == '\t' ? ' ' : raw[i];
	text_clean(line, n, e->text, sizeof(e->text));
}

int err_set(struct err *e, int rc, enum status status, const char *object, const char *operation, const char *format,
	    ...)
{
	int saved = errno;
	char raw[ERR_TEXT_MAX];
	size_t used;
	va_list ap;

	if (!e || e->status != STATUS_OK)
		return rc;
	put_prefix(raw, sizeof(raw), object, operation);
	used = strlen(raw);
	va_start(ap, format);
	vsnprintf(raw + used, sizeof(raw) - used, format, ap);
	va_end(ap);
	e->status = status;
	clean(e, raw);
	errno = saved;
	return rc;
}

char *err_cause(int rc, char *buf, size_t size)
{
	const char *text = strerrordesc_np(-rc);

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].number == -rc)
			text = causes[i].cause;
	if (text)
		snprintf(buf, size, "%s", text);
	else
		snprintf(buf, size, "error %d", -rc);
	/* Inside a sentence, "No such file" begins with a small letter, but "RPC version wrong" does not. */
	if (size > 1 && buf[0] >= 'A' && buf[0] <= 'Z' && buf[1] >= 'a' && buf[1] <= 'z')
		buf[0] = (char)(buf[0] - 'A' + 'a');
	return buf;
}

int err_sys(struct err *e, int rc, const char *object, const char *operation)
{
	char text[128];

	return err_set(e, rc, STATUS_FAILED, object, operation, "%s", err_cause(rc, text, sizeof(text)));
}

void err_clear(struct err *e)
{
	if (!e)
		return;
	e->status = STATUS_OK;
	e->text[0] = '\0';
}

enum status err_status(const struct err *e)
{
	return e->status ? e->status : STATUS_FAILED;
}
