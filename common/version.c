#include "common/version.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

const char kblat_version[] = KBLAT_VERSION;
const char kblat_commit[] = KBLAT_COMMIT;
const char kblat_compiler[] = COMPILER;
