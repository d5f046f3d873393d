#include "commands/kblat_libraries.h"

#include <gnu/libc-version.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <sqlite3.h>
#include <yaml.h>
#include <zlib.h>

static const char *version_of_openssl(void)
{
	return OpenSSL_version(OPENSSL_VERSION_STRING);
}

const struct library kblat_libraries[] = {
    {"glibc", gnu_get_libc_version},
    {"libibverbs.so.1", NULL},
    {"librdmacm.so.1", NULL},
    {"libnuma.so.1", NULL},
    {"libzmq.so.5", NULL},
    {"libnanomsg.so.5", NULL},
    {"libtracefs.so.1", NULL},
    {"libtraceevent.so.1", NULL},
    {"libyaml", yaml_get_version_string},
    {"Jansson", jansson_version_str},
    {"OpenSSL", version_of_openssl},
    {"zlib", zlibVersion},
    {"SQLite", sqlite3_libversion},
    {.name = NULL},
};
