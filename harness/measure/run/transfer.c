#include "measure/run/transfer.h"

#include <errno.h>

#include "common/err.h"
#include "common/monotonic.h"

#define BYTES_PER_MS (TRANSFER_KIB_PER_S * 1024 / 1000)

void transfer_begin(struct transfer *t, int64_t patience_ms)
{
	const int64_t now_ms = monotonic_ms();

	*t = (struct transfer){.begun_ms = now_ms, .deadline_ms = now_ms + patience_ms};
}

void transfer_expect(struct transfer *t, unsigned long long bytes)
{
	t->deadline_ms += (int64_t)(bytes / BYTES_PER_MS);
}

int64_t transfer_left_ms(const struct transfer *t)
{
	return t->deadline_ms - monotonic_ms();
}

int transfer_complain(const struct transfer *t, const char *peer, struct err *e)
{
	return err_set(e, -ETIMEDOUT, STATUS_FAILED, peer, NULL,
		       "endpoint has sent only %llu bytes of its data in %.1f s, which is slower than %d KiB/s",
		       t->taken, (double)(monotonic_ms() - t->begun_ms) / 1e3, TRANSFER_KIB_PER_S);
}
