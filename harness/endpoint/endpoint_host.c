#include "endpoint/endpoint_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/sysroot.h"
#include "state/state.h"

#define CALIBRATION_MS 100
#define FILE_MAX       (64 << 20)

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

/* --- state --- */

/* A line that says what comes, the bytes, and the end of a line. A name that is not UTF-8 cannot be said: it is left out. */
static int send_bytes(int out, const char *name, bool private, const char *data, size_t size)
{
	json_t *head = json_pack("{s:s, s:o, s:I, s:b}", "type", "file", "path", json_sprintf("/%s", name), "bytes",
				 (json_int_t)size, "private", private);
	int rc = head ? wire_send(out, head) : 0;

	if (head && !rc)
		rc = fs_write_fd(out, data, size);
	if (head && !rc)
		rc = fs_write_fd(out, "\n", 1);
	json_decref(head);
	return rc;
}

static int send_file(const struct endpoint *ep, const char *dir, const char *name, struct err *e)
{
	char *path = fs_path("%s/%s", dir, name), *data = NULL;
	size_t size = 0;
	struct stat st = {.st_mode = 0};
	int rc = stat(path, &st) ? err_sys(e, -errno, path, "read") : fs_read(path, FILE_MAX, &data, &size, e);

	if (!rc)
		rc = send_bytes(ep->out, name, !(st.st_mode & S_IROTH), data, size);
	free(data);
	free(path);
	return rc;
}

static int send_files(const struct endpoint *ep, const char *dir, struct err *e)
{
	char **files = NULL;
	size_t count = 0;
	int rc = fs_files(dir, &files, &count, e);

	for (size_t i = 0; !rc && i < count; i++)
		rc = send_file(ep, dir, files[i], e);
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

int endpoint_capture(struct endpoint *ep, const json_t *order, json_t **reply, struct err *e)
{
	char dir[64];
	int rc;

	if (ep->running)
		return err_set(e, -EPROTO, STATUS_FAILED, "capture", NULL, "came out of turn");
	snprintf(dir, sizeof(dir), "/dev/shm/kblat-%u-%d-stateXXXXXX", (unsigned)getuid(), (int)getpid());
	if (!mkdtemp(dir))
		return err_sys(e, -errno, dir, "create");
	rc = capture_into(dir, json_is_true(json_object_get(order, "mask")), e);
	if (!rc)
		rc = send_files(ep, dir, e);
	fs_remove_tree(dir, NULL);
	if (!rc)
		*reply = json_pack("{s:s}", "type", "captured");
	return rc;
}
