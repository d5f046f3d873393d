#include "tuning/commands/kbtune_libraries.h"

#include <gnu/libc-version.h>
#include <jansson.h>
#include <yaml.h>

const struct library kbtune_libraries[] = {
    {"glibc", gnu_get_libc_version, NULL},	{"libcpuset.so.1", NULL, "libcpuset"},	{"libmnl.so.0", NULL, "libmnl"},
    {"libyaml", yaml_get_version_string, NULL}, {"Jansson", jansson_version_str, NULL}, {.name = NULL},
};
