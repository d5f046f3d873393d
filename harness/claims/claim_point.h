/*
 * A point of summary.json, as claims read it. Pure.
 */
#ifndef KBLAT_CLAIMS_CLAIM_POINT_H
#define KBLAT_CLAIMS_CLAIM_POINT_H

#include <jansson.h>
#include <stdbool.h>

#include "claims/claim.h"
#include "claims/claim_interval.h"

json_int_t claim_point_id(const json_t *point);

/* A setting, by its key in params; NULL if the point has none of that name. */
const json_t *claim_point_param(const json_t *point, const char *key);

/* The measured values of a number, in the form needed for intervals; free with claim_sample_free(). On failure false,
 * and `why` says what is wrong with the point (to be freed). */
bool claim_point_sample(const json_t *point, const struct claim_metric *metric, struct sample *s, char **why);
void claim_sample_free(struct sample *s);

#endif
