#include "tuning/commands/kbtune_libraries.h"

#include <gnu/libc-version.h>
#include <jansson.h>
#include <yaml.h>

const struct library kbtune_libraries[] = {
    {"glibc", gnu_get_libc_version},	  {"libcpuset.so.1", NULL},	    {"libmnl.so.0", NULL},
    {"libyaml", yaml_get_version_string}, {"Jansson", jansson_version_str}, {.name = NULL},
};
