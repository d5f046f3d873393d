#include "common/err.h"

#include <errno.h>

#include "tap.h"

static void test_forms(void)
{
	struct err e = ERR_INIT;

	is_int(err_set(&e, -ENOENT, STATUS_USAGE, "spec.yaml", "read", "no such %s", "file"), -ENOENT, "rc comes back");
	is_str(e.text, "spec.yaml: cannot read: no such file", "object, operation, cause");
	is_int(e.status, STATUS_USAGE, "status");

	is_int(err_set(&e, -EIO, STATUS_FAILED, "other", NULL, "later"), -EIO, "a second failure returns its own rc");
	is_str(e.text, "spec.yaml: cannot read: no such file", "the first failure is the one that is told");
	is_int(e.status, STATUS_USAGE, "and its status stays");

	err_clear(&e);
	is_int(e.status, STATUS_OK, "cleared");
	is_str(e.text, "", "no text");
	err_set(&e, -EINVAL, STATUS_USAGE, "run", NULL, "unknown flag");
	is_str(e.text, "run: unknown flag", "without an operation");
	err_clear(&e);
	err_set(&e, -EINVAL, STATUS_USAGE, NULL, "start", "no time");
	is_str(e.text, "cannot start: no time", "without an object");
	err_clear(&e);
	err_set(&e, -EINVAL, STATUS_USAGE, NULL, NULL, "nothing");
	is_str(e.text, "nothing", "with neither");
}

static void test_nowhere_to_write(void)
{
	is_int(err_set(NULL, -EPERM, STATUS_FAILED, "a", "b", "c"), -EPERM, "err_set without an err");
	is_int(err_sys(NULL, -EPERM, "a", "b"), -EPERM, "err_sys without an err");
	err_clear(NULL);
}

static void test_sys(void)
{
	struct err e = ERR_INIT;

	is_int(err_sys(&e, -ENOENT, "a.npy", "open"), -ENOENT, "err_sys returns rc");
	is_str(e.text, "a.npy: cannot open: no such file or directory", "the cause starts with a small letter");
	is_int(e.status, STATUS_FAILED, "status of a system failure");
	err_clear(&e);
	err_sys(&e, -ENOSPC, "a.npy", "write");
	like(e.text, "^a.npy: cannot write: no space left.*; .+", "what to do about a full disk");
	err_clear(&e);
	err_sys(&e, -99999, "a", "b");
	is_str(e.text, "a: cannot b: error 99999", "an errno that does not exist");
}

static void test_clean(void)
{
	struct err e = ERR_INIT;
	char longer[5000];

	err_set(&e, -EINVAL, STATUS_USAGE, "a\033[31mb", NULL, "one\ntwo\t\xff\xfe\n");
	is_str(e.text, "a?[31mb: one two ??", "one line, no escapes, no stray bytes");

	err_clear(&e);
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_set(&e, -EINVAL, STATUS_USAGE, longer, "read", "%s", longer);
	is_int(strlen(e.text), sizeof(e.text) - 1, "a text too long is cut to fit");

	err_clear(&e);
	err_set(&e, -EINVAL, STATUS_USAGE, longer, "read", "no such file");
	like(e.text, "^\\.\\.\\.x+: cannot read: no such file$", "a long object leaves room for the cause");

	is_int(err_status(&e), STATUS_USAGE, "its status");
	err_clear(&e);
	is_int(err_status(&e), STATUS_FAILED, "a failure of which nothing is known is a failure");

	errno = EXDEV;
	err_set(&e, -EINVAL, STATUS_USAGE, NULL, NULL, "%s", "x");
	is_int(errno, EXDEV, "errno is left alone");
}

int main(void)
{
	test_forms();
	test_nowhere_to_write();
	test_sys();
	test_clean();
	return done_testing();
}
