#include "common/version.h"

const char kblat_version[] = KBLAT_VERSION;
const char kblat_commit[] = KBLAT_COMMIT;
