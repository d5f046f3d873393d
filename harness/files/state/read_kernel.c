#include "files/state/readers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/timex.h>
#include <unistd.h>
#include <zlib.h>

#include "common/fs.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "files/state/capture.h"
#include "files/state/readable.h"

enum {
	CONFIG_MAX = 4 << 20,
	LOG_MAX = 4 << 20,
	LINE_MAX_BYTES = 512,
	LOG_READ_ALL = 3, /* man 2 syslog */
	LOG_SIZE = 10,
	MSR_SMI_COUNT = 0x34, /* Intel SDM volume 4 */
};

/* A gzip file's content, or NULL. The caller frees. */
static char *unpack(const char *packed, size_t size, size_t *length)
{
	z_stream z = {.next_in = (unsigned char *)packed, .avail_in = (unsigned)size};
	char *text = or_abort(malloc(CONFIG_MAX));
	int rc = Z_MEM_ERROR;

	if (inflateInit2(&z, 15 + 16) == Z_OK) {
		z.next_out = (unsigned char *)text;
		z.avail_out = CONFIG_MAX;
		rc = inflate(&z, Z_FINISH);
		*length = CONFIG_MAX - z.avail_out;
		inflateEnd(&z);
	}
	if (rc == Z_STREAM_END)
		return text;
	free(text);
	return NULL;
}

/* "CONFIG_HZ=250". Options that are not set have no key. */
static void add_options(struct capture *c, const char *key, const char *text, size_t length)
{
	for (const char *line = text, *end = text + length, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line)), *equal;
		char name[256];

		stop = stop ? stop : end;
		next = stop + 1;
		equal = memchr(line, '=', (size_t)(stop - line));
		if (!equal || stop - line < 8 || memcmp(line, "CONFIG_", 7))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(equal - line - 7), line + 7);
		capture_text(c, key, name, equal + 1, (size_t)(stop - equal - 1));
	}
}

/* The compressed configuration of the running kernel, or the file installed with it. */
void read_config(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	char release[128], *file, *unpacked;
	const char *text;
	size_t length, size;
	int rc = capture_file(c, path, &text, &length);

	(void)s;
	if (!rc) {
		unpacked = unpack(text, length, &size);
		if (unpacked)
			add_options(c, key, unpacked, size);
		else
			capture_errno(c, key, -EINVAL);
		free(unpacked);
		return;
	}
	if (sysroot_line(capture_root(c), "/proc/sys/kernel/osrelease", release, sizeof(release))) {
		capture_errno(c, key, rc);
		return;
	}
	file = fs_path("/boot/config-%s", release);
	rc = capture_file(c, file, &text, &length);
	if (rc)
		capture_errno(c, key, rc);
	else
		add_options(c, key, text, length);
	free(file);
}

/* A line without its level and time stamp: "<6>[    0.000000] tsc: …". */
static const char *bare_line(const char *line)
{
	if (*line == '<' && strchr(line, '>'))
		line = strchr(line, '>') + 1;
	if (*line == '[' && strchr(line, ']'))
		line = strchr(line, ']') + 1;
	return line + strspn(line, " ");
}

/* Find lines about the clock, and count warnings (levels 0 to 4). */
static void look_through(struct capture *c, char *log)
{
	char tsc[2048] = "", *rest = log, *line;
	size_t used = 0;
	int64_t lines = 0, warnings = 0;

	while ((line = strsep(&rest, "\n"))) {
		const char *bare = bare_line(line);

		lines += *line != '\0';
		warnings += line[0] == '<' && line[1] >= '0' && line[1] <= '4' && line[2] == '>';
		if ((!strncasecmp(bare, "tsc", 3) || strstr(bare, "clocksource: ")) && used < sizeof(tsc))
			used += (size_t)snprintf(tsc + used, sizeof(tsc) - used, "%s%.200s", used ? " | " : "", bare);
	}
	capture_text(c, "clock.log", NULL, tsc, strlen(tsc));
	capture_int(c, "event.log_lines", NULL, lines);
	capture_int(c, "event.log_warnings", NULL, warnings);
}

/* The live kernel's ring buffer, read by its system call, because /dev/kmsg only returns one line per call. */
void read_kernel_log(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	int size = capture_root(c)->live ? klogctl(LOG_SIZE, NULL, 0) : -1, n;
	char *log;

	(void)s;
	(void)path;
	if (!capture_root(c)->live)
		return;
	if (size < 0) {
		capture_errno(c, key, -errno);
		return;
	}
	size = size < LOG_MAX ? size : LOG_MAX;
	log = or_abort(malloc((size_t)size + 1));
	n = klogctl(LOG_READ_ALL, log, size);
	if (n < 0) {
		capture_errno(c, key, -errno);
	} else {
		log[n] = '\0';
		capture_made(c, "kernel.log", readable_kernel_log(capture_root(c)), log, (size_t)n);
		look_through(c, log);
	}
	free(log);
}

/* man 2 adjtimex; modes = 0 only reads. */
void read_ntp(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	struct timex t = {.modes = 0};
	int state;

	(void)s;
	(void)path;
	if (!capture_root(c)->live)
		return;
	state = adjtimex(&t);
	if (state < 0) {
		capture_errno(c, key, -errno);
		return;
	}
	capture_text(c, key, "synchronized", state == TIME_ERROR || t.status & STA_UNSYNC ? "no" : "yes",
		     state == TIME_ERROR || t.status & STA_UNSYNC ? 2 : 3);
	capture_int(c, key, "status", t.status);
	capture_int(c, key, "tai_offset_s", t.tai);
	capture_int(c, key, "frequency_2_16_ppm", t.freq);
	capture_int(c, key, t.status & STA_NANO ? "offset_ns" : "offset_us", t.offset);
}

/* Model-specific registers are read at an offset: Documentation and man 4 msr. */
void read_smis(struct capture *c, const struct state_source *s, const char *path, const char *key)
{
	const struct sysroot *root = capture_root(c);
	uint64_t count = 0;
	ssize_t n;
	int fd;

	(void)s;
	if (!root->live)
		return;
	fd = openat(root->fd, path + 1, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, &count, sizeof(count), MSR_SMI_COUNT);
	if (n == sizeof(count)) {
		capture_be_private(c);
		capture_int(c, key, NULL, (int64_t)(uint32_t)count);
	} else {
		capture_errno(c, key, n < 0 ? -errno : -ENODATA);
	}
	if (fd >= 0)
		close(fd);
}
