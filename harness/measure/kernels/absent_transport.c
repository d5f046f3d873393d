/*
 * A transport whose library was missing when kblat was built (common/features): its settings are known, and no point
 * runs over it. Compiled once for each such TRANSPORT, with TRANSPORT_SETTINGS and FEATURE, the library's name.
 */
#include TRANSPORT_SETTINGS

#include "common/feature.h"
#include "measure/kernels/kernel.h"
#include "measure/kernels/kernel_list.h"

#define JOIN_AS(a, b) a##b
#define JOIN(a, b)    JOIN_AS(a, b)
#define TEXT_AS(a)    #a
#define TEXT(a)	      TEXT_AS(a)
#define OWN(name)     JOIN(TRANSPORT, name)

extern const struct transport_ops OWN(_transport);

static int absent_open(const struct transport_config *config, const void *settings, struct transport **out,
		       json_t **address, struct err *e)
{
	(void)config, (void)settings, (void)out, (void)address;
	return feature_missing(FEATURE, "the transport " TEXT(TRANSPORT), e);
}

const struct transport_ops OWN(_transport) = {
    .name = TEXT(TRANSPORT),
    .summary = "not in this build, as " FEATURE " was missing (see the features)",
    .options = OWN(_options),
    .settings_size = OWN(_settings_bytes),
    .poll_modes = 1 << POLL_BUSY | 1 << POLL_EVENT | 1 << POLL_ADAPTIVE,
    .typical = {.post_ns = 1, .latency_ns = 1, .sleeping_ns = 1},
    .answers_differ = true,
    .open = absent_open,
};

/* Nothing of a kernel runs over it. */
#define NO_LOOPS(k)                                                                                                    \
	extern const struct kernel_loops JOIN(k##_loops_, TRANSPORT);                                                  \
	const struct kernel_loops JOIN(k##_loops_, TRANSPORT) = {.loop = {NULL}};
EVERY_KERNEL(NO_LOOPS)
