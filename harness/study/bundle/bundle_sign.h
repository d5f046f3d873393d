/*
 * Signatures of bundles, by ssh-keygen: people have SSH keys. What is signed is bundle.json, which has the hash of
 * everything else.
 */
#ifndef KBLAT_STUDY_BUNDLE_SIGN_H
#define KBLAT_STUDY_BUNDLE_SIGN_H

#include <stdbool.h>

struct err;

/* Sign bundle.json in a folder; `key`: a private key's file, or a public one's whose private key an agent has. */
int bundle_sign(const char *folder, const char *key, struct err *e);

struct bundle_signature {
	bool there;
	bool good;     /* bundle.json is what was signed */
	bool trusted;  /* by somebody in the list of signers */
	char who[256]; /* the name in that list; otherwise ssh-keygen's words about the key; or why it is not good */
};

/* Check the signature in a folder. `signers`: a file as ssh-keygen(1) describes it under ALLOWED SIGNERS; NULL: nobody is
 * trusted. STATUS_IMPOSSIBLE and `e` without ssh-keygen. */
int bundle_check_signature(const char *folder, const char *signers, struct bundle_signature *out, struct err *e);

#endif
