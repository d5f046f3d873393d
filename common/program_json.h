/*
 * A program's tables as JSON. Man pages and completions are generated from it (docs/man/generate), so that they agree
 * with --help.
 */
#ifndef KBLAT_COMMON_PROGRAM_JSON_H
#define KBLAT_COMMON_PROGRAM_JSON_H

#include <jansson.h>

#include "common/program.h"

/* {"schema", "name", "version", "about", "statuses": [{"status", "meaning"}], "commands": [{"name",
 * "synopsis", "summary", "details", "flags": [{"name", "kind", "metavar", "help", "min", "max"}]}]}:
 * a new object. Hidden commands are left out. */
json_t *program_json(const struct program *p);

#endif
