#include "measure/endpoint/endpoint_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "files/state/capture.h"

#define CALIBRATION_MS 100
#define FILE_MAX       (64 << 20)
#define WALL_LOOKS     32

int endpoint_calibrate(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	struct clock_report clock;

	(void)ep, (void)order, (void)e;
	clock_calibrate(CALIBRATION_MS, &clock);
	*reply = json_pack("{s:s, s:o}", "type", "calibrated", "clock", clock_json(&clock));
	return 0;
}

int endpoint_ticks(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	(void)ep, (void)order, (void)e;
	*reply = json_pack("{s:s, s:I}", "type", "ticks", "ticks", (json_int_t)clock_ticks_begin());
	return 0;
}

/* --- a clock shared by hosts --- */

void endpoint_wall_close(struct endpoint *ep)
{
	if (ep->is_disciplined && ep->wall_fd >= 0)
		close(ep->wall_fd);
	ep->is_disciplined = false;
}

int endpoint_discipline(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	const bool is_ptp = !strcmp(json_text(order, "method"), "ptp");
	struct discipline d;
	int rc = is_ptp ? discipline_ask_ptp(&d, e) : discipline_ask_chrony(&d, e);

	/* It has run a program: a fork makes the next write to each page a page fault, unless all are locked once more. */
	ep->is_locked = false;
	endpoint_wall_close(ep);
	if (!rc)
		rc = discipline_clock(&d, &ep->wall, &ep->wall_fd, e);
	if (rc)
		return rc;
	ep->is_disciplined = true;
	*reply = json_pack("{s:s, s:o}", "type", "disciplined", "discipline", discipline_json(&d));
	return 0;
}

/* Of several readings, use the one that took the least time. */
int endpoint_wall(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	int64_t least = INT64_MAX, at_ns = 0, wall_ns = 0;

	(void)order;
	if (!ep->is_disciplined)
		return err_set(e, -EPROTO, STATUS_FAILED, "wall", NULL, "came before discipline");
	for (int i = 0; i < WALL_LOOKS; i++) {
		struct timespec now;
		const int64_t begun = clock_ticks_begin();
		const int rc = clock_gettime(ep->wall, &now) ? -errno : 0;
		const int64_t from = clock_to_ns(&ep->conversion, begun),
			      to = clock_to_ns(&ep->conversion, clock_ticks_end());

		if (rc)
			return err_sys(e, rc, "the clock that is kept", "read");
		if (to - from >= least)
			continue;
		least = to - from;
		at_ns = from + least / 2;
		wall_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	}
	*reply = json_pack("{s:s, s:I, s:I, s:I}", "type", "wall", "at_ns", (json_int_t)at_ns, "wall_ns",
			   (json_int_t)wall_ns, "width_ns", (json_int_t)least);
	return 0;
}

/* --- can it measure? --- */

int endpoint_room(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	unsigned long long bytes;
	struct rlimit threads;
	int rc = fs_free_bytes("/dev/shm", &bytes, e);

	(void)ep, (void)order;
	if (rc)
		return rc;
	if (getrlimit(RLIMIT_NPROC, &threads))
		threads.rlim_cur = RLIM_INFINITY;
	*reply =
	    json_pack("{s:s, s:I, s:o}", "type", "room", "shm_bytes", (json_int_t)bytes, "threads",
		      threads.rlim_cur == RLIM_INFINITY ? json_null() : json_integer((json_int_t)threads.rlim_cur));
	return 0;
}

int endpoint_doctor(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	json_t *findings;
	int rc = ep->examine ? ep->examine(&findings, e)
			     : err_set(e, -EPROTO, STATUS_FAILED, "doctor", NULL, "there is none");

	(void)order;
	if (!rc)
		*reply = json_pack("{s:s, s:o}", "type", "findings", "checks", findings);
	return rc;
}

/* --- state --- */

/* A line that describes the file, its bytes, and a newline. A file whose name is not valid UTF-8 is
 * left out. */
static void pack_bytes(FILE *out, const char *name, bool private, const char *data, size_t size)
{
	json_t *head = json_pack("{s:s, s:o, s:I, s:b}", "type", "file", "path", json_sprintf("/%s", name), "bytes",
				 (json_int_t)size, "private", private);

	if (head) {
		json_dumpf(head, out, JSON_COMPACT);
		fputc('\n', out);
		fwrite(data, 1, size, out);
		fputc('\n', out);
	}
	json_decref(head);
}

static int pack_file(FILE *out, const char *dir, const char *name, struct err *e)
{
	char *path = fs_path("%s/%s", dir, name), *data = NULL;
	size_t size = 0;
	struct stat st = {.st_mode = 0};
	int rc = stat(path, &st) ? err_sys(e, -errno, path, "read") : fs_read(path, FILE_MAX, &data, &size, e);

	if (!rc)
		pack_bytes(out, name, !(st.st_mode & S_IROTH), data, size);
	free(data);
	free(path);
	return rc;
}

static int pack_files(FILE *out, const char *dir, struct err *e)
{
	char **files = NULL;
	size_t count = 0;
	int rc = fs_files(dir, &files, &count, e);

	for (size_t i = 0; !rc && i < count; i++)
		rc = pack_file(out, dir, files[i], e);
	fs_files_free(files);
	return rc;
}

static int capture_into(const char *dir, bool mask, struct err *e)
{
	struct sysroot root;
	int rc = sysroot_open(&root, NULL, e);

	if (rc)
		return rc;
	rc = state_capture(&root, dir, &(struct state_options){.mask = mask}, e);
	sysroot_close(&root);
	return rc;
}

/* The whole capture in the form in which it is sent. It is made in memory before anything is sent,
 * so that no files are left behind if the receiver does not read and ends this process. */
static int pack_capture(bool mask, char **text, size_t *size, struct err *e)
{
	char dir[64];
	FILE *out;
	int rc;

	snprintf(dir, sizeof(dir), "/dev/shm/kblat-%u-%d-stateXXXXXX", (unsigned)getuid(), (int)getpid());
	if (!mkdtemp(dir))
		return err_sys(e, -errno, dir, "create");
	out = or_abort(open_memstream(text, size));
	rc = capture_into(dir, mask, e);
	if (!rc)
		rc = pack_files(out, dir, e);
	if (fclose(out) && !rc)
		rc = err_sys(e, -ENOMEM, dir, "read");
	/* If the process has run out of descriptors, the directory is empty, and only rmdir() can remove it. */
	if (fs_remove_tree(dir, NULL))
		rmdir(dir);
	return rc;
}

int endpoint_capture(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	char *text = NULL;
	size_t size = 0;
	int rc;

	if (ep->running)
		return err_set(e, -EPROTO, STATUS_FAILED, "capture", NULL, "came out of order");
	rc = pack_capture(json_is_true(json_object_get(order, "mask")), &text, &size, e);
	if (!rc)
		rc = fs_write_fd(ep->out, text, size);
	free(text);
	if (!rc)
		*reply = json_pack("{s:s}", "type", "captured");
	return rc;
}
