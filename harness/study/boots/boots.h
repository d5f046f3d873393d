/*
 * Two kernels on this machine, compared unattended: a kind of study that boots them in turn (study/kinds.h has it).
 */
#ifndef KBLAT_BOOTS_BOOTS_H
#define KBLAT_BOOTS_BOOTS_H

#include "study/study.h"

/* After a boot: goes on with the study that `r` resumes; one that has ended only puts the machine back. */
enum status boots_go(const struct study_request *r, struct err *e);

/* What has been done, what the answer would be, and what the rest will take. */
enum status boots_status(const struct study_request *r, struct err *e);

/* Ends what is going on, and puts the machine back; the study can be continued. */
enum status boots_stop(const struct study_request *r, struct err *e);

#endif
