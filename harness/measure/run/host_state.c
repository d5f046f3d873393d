#include "measure/run/host_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/monotonic.h"
#include "common/or_abort.h"
#include "common/sysroot.h"
#include "files/state/capture.h"
#include "files/state/diff.h"
#include "files/state/raw_file.h"
#include "measure/run/transfer.h"

/* --- this machine --- */

const char *machine_state_sysroot(void)
{
	const char *asked = getenv("KBLAT_SYSROOT");

	return asked && *asked ? asked : NULL;
}

void machine_identify(char *name, char *boot)
{
	struct sysroot root;

	snprintf(name, MACHINE_NAME_MAX, "localhost");
	gethostname(name, MACHINE_NAME_MAX - 1);
	if (sysroot_open(&root, NULL, NULL))
		return;
	sysroot_line(&root, "/proc/sys/kernel/random/boot_id", boot, MACHINE_BOOT_MAX);
	sysroot_close(&root);
}

void machine_name_folder(char *name)
{
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '_';
}

int machine_state_keep(const char *run_path, const char *host, const char *when, bool mask, struct err *e)
{
	char *path = fs_path("%s/state/%s/%s", run_path, host, when);
	struct sysroot root;
	int rc = sysroot_open(&root, machine_state_sysroot(), e);

	if (!rc) {
		rc = fs_mkdirs(path, e);
		if (!rc)
			rc = state_capture(&root, path, &(struct state_options){.mask = mask}, e);
		sysroot_close(&root);
	}
	free(path);
	return rc;
}

/* Everybody may read the changes if everybody may read both captures. */
static mode_t changes_mode(const char *before, const char *after)
{
	const char *const dirs[] = {before, after};
	mode_t mode = 0666;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char *path = fs_path("%s/state.json", dirs[i]);
		struct stat st;

		if (!stat(path, &st) && !(st.st_mode & S_IROTH))
			mode = 0600;
		free(path);
	}
	return mode;
}

int machine_state_keep_changes(const char *run_path, const char *host, json_t *environments, struct err *e)
{
	char *before = fs_path("%s/state/%s/before", run_path, host);
	char *after = fs_path("%s/state/%s/after", run_path, host);
	char *path = fs_path("%s/state/%s/changes.json", run_path, host);
	json_t *changes = before_after_changes(before, after, e);
	int rc = changes ? 0 : -1;

	if (changes) {
		json_object_set(changes, "environments", environments);
		rc = json_write_mode(path, changes, changes_mode(before, after), e);
	}
	json_decref(changes);
	free(before);
	free(after);
	free(path);
	return rc;
}

#define PATIENCES 2 /* of a channel: the first file arrives when everything has been read */
#define FILES_MAX 100000
#define BYTES_MAX (256LL << 20) /* total of all files */
#define LINE_MOST 256		/* bytes of a file's description, without its path */

/* What has been received, and where it is written. */
struct host_state {
	struct channel *channel;
	struct transfer transfer; /* of everything */
	int dir;
	size_t files;
	json_int_t bytes;
};

/* The destination of bytes that arrive in pieces. */
struct piece_sink {
	char *data;
	size_t at;
};

static int append_piece(void *arg, const void *data, size_t size, struct err *e)
{
	struct piece_sink *p = arg;

	(void)e;
	memcpy(p->data + p->at, data, size);
	p->at += size;
	return 0;
}

/* Read the bytes and the newline after them. */
static int host_state_take_file(struct host_state *s, const char *path, size_t size, bool private, struct err *e)
{
	struct piece_sink sink = {.data = large_alloc(size + 1, 1)};
	int rc = sink.data ? channel_raw(s->channel, &s->transfer, size + 1, append_piece, &sink, e)
			   : err_sys(e, -ENOMEM, path, "receive");

	if (!rc && sink.data[size] != '\n')
		rc = err_set(e, -EPROTO, STATUS_FAILED, s->channel->name, NULL,
			     "endpoint sent a file that does not end where expected");
	if (!rc) {
		rc = raw_file_write(s->dir, path, private ? 0600 : 0666, sink.data, size);
		if (rc)
			err_sys(e, rc, path, "write");
	}
	free(sink.data);
	return rc;
}

static int on_file(struct host_state *s, const json_t *message, struct err *e)
{
	const char *path = json_text(message, "path");
	const json_int_t bytes = json_integer_value(json_object_get(message, "bytes"));

	if (!raw_file_is_path(path) || bytes < 0 || bytes > BYTES_MAX - s->bytes || ++s->files > FILES_MAX)
		return err_set(e, -EPROTO, STATUS_FAILED, s->channel->name, NULL,
			       "endpoint sent something that cannot be a file of a capture");
	s->bytes += bytes;
	transfer_expect(&s->transfer, (unsigned long long)bytes + strlen(path) + LINE_MOST);
	return host_state_take_file(s, path, (size_t)bytes, json_is_true(json_object_get(message, "private")), e);
}

/* 1: this was the last part. */
static int on_part(struct host_state *s, const json_t *message, struct err *e)
{
	const char *type = json_text(message, "type");

	if (!strcmp(type, "file"))
		return on_file(s, message, e);
	if (!strcmp(type, "captured"))
		return 1;
	return err_set(e, -EPROTO, STATUS_FAILED, s->channel->name, NULL, "%s",
		       strcmp(type, "error") ? "endpoint sent something other than its state"
					     : json_text_or(message, "text", "cannot capture its state"));
}

static int host_state_receive(struct host_state *s, bool mask, struct err *e)
{
	int rc = channel_send(s->channel, json_pack("{s:s, s:b}", "type", "capture", "mask", mask), e);

	transfer_begin(&s->transfer, PATIENCES * s->channel->patience_ms);
	while (!rc) {
		json_t *message;

		rc = channel_await(s->channel, transfer_left_ms(&s->transfer), &message, e);
		if (rc == 0)
			return err_set(e, -ETIMEDOUT, STATUS_FAILED, s->channel->name, NULL,
				       "endpoint has not sent all of its host's state in %lld s; there were %zu files",
				       (long long)(monotonic_ms() - s->transfer.begun_ms) / 1000, s->files);
		if (rc < 0)
			return rc;
		rc = on_part(s, message, e);
		json_decref(message);
	}
	return rc < 0 ? rc : 0;
}

int host_state_take(struct channel *c, const char *run_path, const char *host, const char *when, bool mask,
		    struct err *e)
{
	char *path = fs_path("%s/state/%s/%s", run_path, host, when);
	struct host_state s = {.channel = c, .dir = -1};
	int rc = fs_mkdirs(path, e);

	if (!rc) {
		s.dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = s.dir < 0 ? err_sys(e, -errno, path, "open") : host_state_receive(&s, mask, e);
	}
	if (s.dir >= 0)
		close(s.dir);
	free(path);
	return rc;
}
