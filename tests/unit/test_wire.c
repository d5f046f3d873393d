/* Lines and raw bytes out of one stream, however it is cut. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/wire.h"
#include "tap.h"

static void test_lines(void)
{
	int fd[2];
	struct wire w;
	char *line, raw[8] = "";

	ok(pipe(fd) == 0, "a pipe");
	wire_init(&w, fd[0]);
	ok(write(fd[1], "one\ntw", 6) == 6, "a line and a half");
	is_int(wire_fill(&w), 0, "is read");
	is_int(wire_take_line(&w, &line), 1, "one line is there");
	is_str(line, "one", "without its end");
	free(line);
	is_int(wire_take_line(&w, &line), 0, "half a line is none");
	ok(write(fd[1], "o\n\0\n\nabc", 8) == 8, "the rest, raw bytes with newlines and a NUL");
	is_int(wire_fill(&w), 0, "is read");
	is_int(wire_take_line(&w, &line), 1, "the second line");
	is_str(line, "two", "is put together");
	free(line);
	is_int((long long)wire_take_raw(&w, raw, 3), 3, "raw bytes");
	ok(!memcmp(raw, "\0\n\n", 3), "are as they were");
	close(fd[1]);
	is_int(wire_fill(&w), 0, "the end of file is no error");
	ok(w.eof, "and is known");
	is_int((long long)wire_take_raw(&w, raw, sizeof(raw)), 3, "what is left can still be taken");
	wire_free(&w);
	close(fd[0]);
}

static void test_endless_line(void)
{
	int fd[2];
	struct wire w;
	char piece[4096], *line;
	int rc = 0;

	ok(pipe(fd) == 0, "a pipe");
	memset(piece, 'x', sizeof(piece));
	wire_init(&w, fd[0]);
	for (size_t sent = 0; sent < 2 * WIRE_LINE_MAX && !rc; sent += sizeof(piece)) {
		if (write(fd[1], piece, sizeof(piece)) < 0 || wire_fill(&w))
			break;
		rc = wire_take_line(&w, &line);
	}
	is_int(rc, -EMSGSIZE, "a line without end is refused");
	ok(w.used <= WIRE_LINE_MAX + 65536, "before it has taken much memory");
	wire_free(&w);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	test_lines();
	test_endless_line();
	return done_testing();
}
