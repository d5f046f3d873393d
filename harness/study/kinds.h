/*
 * The kinds of studies. To add one: a row in kinds.c, and a struct study_kind with the functions `plan` and `judge`.
 */
#ifndef KBLAT_STUDY_KINDS_H
#define KBLAT_STUDY_KINDS_H

struct err;
struct study_kind;

/* study/campaign/campaign.c, study/pairs/pairs.c, study/knobs/knobs_study.c, study/boots/boots.c */
extern const struct study_kind campaign_kind, pairs_kind, knobs_kind, boots_kind;

/* The kind of the study in a directory; NULL: it is no study's. */
const struct study_kind *study_kind_at(const char *dir);

/* Write the page of the study in a directory again, from its runs so far. `html` (free it): its path, or NULL. 0 or a
 * negative errno and `e`. */
int study_page(const char *dir, char **html, struct err *e);

#endif
