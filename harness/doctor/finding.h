/*
 * What a check of the doctor found: ok, warn or bad, the numbers, and what to do. A warning means a larger error; bad
 * means that numbers would be invalid or a run impossible.
 */
#ifndef KBLAT_DOCTOR_FINDING_H
#define KBLAT_DOCTOR_FINDING_H

#include <jansson.h>

enum level { LEVEL_OK, LEVEL_WARN, LEVEL_BAD, LEVEL_COUNT };

struct finding {
	enum level level;
	char text[1024];
	char advice[512]; /* "" if there is nothing to do */
	json_t *data;	  /* the numbers; an object */
};

/* Raise the level (it is never lowered); the first advice is kept. */
void finding_raise(struct finding *f, enum level level, const char *advice);

/* Add to the text. */
void finding_add(struct finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *finding_level_name(enum level level);

/* {"name", "level", "finding", "advice", "data"}: a new reference. */
json_t *finding_json(const char *name, const struct finding *f);

/* The level of such an object; bad if it has no known level. */
enum level finding_level(const json_t *finding);

#endif
