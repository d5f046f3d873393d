/* What another program prints. */
#include "common/child_output.h"

#include <errno.h>

#include "common/err.h"
#include "tap.h"

static char text[16];

static int shell(const char *script, int limit_ms, struct err *e)
{
	const char *const words[] = {"sh", "-c", script, NULL};

	*e = (struct err)ERR_INIT;
	return child_output(words, limit_ms, text, sizeof(text), e);
}

int main(void)
{
	static const char *const missing[] = {"kblat-no-such-program", NULL};
	struct err e = ERR_INIT;

	is_int(shell("echo one; echo two >&2; exit 3", 20000, &e), 3, "the exit status");
	is_str(text, "one\ntwo\n", "all that it prints");
	is_int(shell("yes | head -n 100000", 20000, &e), 0, "more than there is room for");
	is_int((long long)strlen(text), 15, "is cut, and it ends all the same");
	is_int(shell("kill -9 $$", 20000, &e), 128 + 9, "a signal ended it");
	is_int(shell("read x; echo $?", 20000, &e), 0, "it has no input");
	is_str(text, "1\n", "and sees the end of it");
	is_int(shell("echo begun; exec sleep 1000", 300, &e), -ETIMEDOUT, "one that does not end is killed");
	contains(e.text, "sh: has not ended within 300 ms", "and that is said");
	e = (struct err)ERR_INIT;
	is_int(child_output(missing, 20000, text, sizeof(text), &e), -ENOENT, "no such program");
	contains(e.text, "kblat-no-such-program: there is no such program", "it is named");
	return done_testing();
}
