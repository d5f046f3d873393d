#include "study/bundle/bundle_sign.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/spawn.h"
#include "common/text.h"
#include "study/bundle/bundle.h"

#define NAMESPACE "kblat-bundle"
#define SAID_MAX  4096

/* Run ssh-keygen with bundle.json as its input. Its exit status, and the first line of what it says in `said`; or a
 * negative errno and `e`. */
static int keygen(const char *folder, const char *const *words, char *said, size_t size, struct err *e)
{
	char *index = fs_path("%s/" BUNDLE_INDEX, folder), *log = fs_path("%s/.ssh-keygen", folder), *text = NULL;
	int in = open(index, O_RDONLY | O_CLOEXEC),
	    out = open(log, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct spawn s = {.words = words, .in = in, .out = out, .err = out, .end_signal = SIGTERM};
	pid_t pid = in < 0 || out < 0 ? -errno : spawn_program(&s);
	int rc = pid > 0 ? spawn_await(pid) : (int)pid;
	size_t length;

	*said = '\0';
	if (pid == -ENOENT)
		err_set(e, rc, STATUS_IMPOSSIBLE, "ssh-keygen", NULL, "it is not installed; install openssh-client");
	else if (pid < 0)
		err_sys(e, rc, "ssh-keygen", "start");
	else if (!fs_read(log, SAID_MAX, &text, &length, NULL))
		text_clean(text, strcspn(text, "\n"), said, size);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	unlink(log);
	free(text);
	free(log);
	free(index);
	return rc;
}

int bundle_sign(const char *folder, const char *key, struct err *e)
{
	char *index = fs_path("%s/" BUNDLE_INDEX, folder), said[256];
	const char *const words[] = {"ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", NAMESPACE, index, NULL};
	int rc = keygen(folder, words, said, sizeof(said), e);

	free(index);
	return rc > 0 ? err_set(e, -EINVAL, STATUS_FAILED, key, "sign with it", "%s", said) : rc;
}

/* The name of the signer in the list; false: there is none. */
static int find_signer(const char *folder, const char *signature, const char *signers, char *who, size_t size,
		       struct err *e)
{
	const char *const words[] = {"ssh-keygen", "-Y", "find-principals", "-s", signature, "-f", signers, NULL};

	return keygen(folder, words, who, size, e);
}

int bundle_check_signature(const char *folder, const char *signers, struct bundle_signature *out, struct err *e)
{
	char *signature = fs_path("%s/" BUNDLE_SIGNATURE, folder), said[256];
	const char *const check[] = {"ssh-keygen", "-Y", "check-novalidate", "-n", NAMESPACE, "-s", signature, NULL};
	int rc = 0;

	*out = (struct bundle_signature){.there = !fs_is_missing(signature)};
	if (out->there) {
		rc = keygen(folder, check, out->who, sizeof(out->who), e);
		out->good = rc == 0;
	}
	if (out->good && signers) {
		rc = find_signer(folder, signature, signers, said, sizeof(said), e);
		if (!rc) {
			const char *const verify[] = {"ssh-keygen", "-Y", "verify",  "-f", signers,   "-I",
						      said,	    "-n", NAMESPACE, "-s", signature, NULL};
			char words[256];

			rc = keygen(folder, verify, words, sizeof(words), e);
			out->trusted = rc == 0;
			memcpy(out->who, rc ? words : said, sizeof(said));
		}
	}
	free(signature);
	return rc < 0 ? rc : 0;
}
