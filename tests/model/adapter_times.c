/*
 * The time that a device takes: effects of its script (README.md) that are added up for each message.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/instrument/clock.h"
#include "tests/model/adapter.h"

#define ANY	  -1
#define PATH_SIZE 512

static const char *const quantities[] = {[MODEL_LATENCY] = "latency", [MODEL_ACK] = "ack", [MODEL_POST] = "post",
					 [MODEL_EVENT] = "event",     [MODEL_GAP] = "gap", [MODEL_LOSS] = "loss"};
static const char *const operations[] = {"send", "write", "read", "cas", "add"};
static const char *const types[] = {"rc", "uc", "ud"};

/* --- the script --- */

static int index_of(const char *word, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], word))
			return (int)i;
	return ANY;
}

#define INDEX_OF(word, names) index_of(word, names, sizeof(names) / sizeof((names)[0]))

/* Does the file of this machine, or of the recorded one in $KBTUNE_SYSROOT, begin with the text? */
static bool begins_with(const char *file, const char *text)
{
	const char *root = getenv("KBTUNE_SYSROOT");
	char path[PATH_SIZE], line[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root ? root : "", file);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof(line), f))
		line[0] = 0;
	if (f)
		fclose(f);
	return !strncmp(line, text, strlen(text));
}

/* "A", "A..B", "A..", "..B". Sets `end` to what follows. */
static bool read_ends(struct model_range *r, const char *value, char **end)
{
	r->least = strtoul(value, end, 0);
	r->most = r->least;
	if (strncmp(*end, "..", 2))
		return *end != value;
	value = *end + 2;
	r->most = strtoul(value, end, 0);
	if (*end == value)
		r->most = UINT32_MAX;
	return true;
}

static bool read_range(struct model_range *r, const char *value)
{
	char *end;

	return read_ends(r, value, &end) && !*end;
}

/* "A..B/N" */
static bool read_turn(struct model_effect *e, const char *value)
{
	char *end;

	if (!read_ends(&e->turn, value, &end) || *end != '/')
		return false;
	e->cycle = strtoul(end + 1, &end, 0);
	return !*end && e->cycle;
}

static bool read_number(double *to, const char *value)
{
	char *end;

	*to = strtod(value, &end);
	return end != value && !*end;
}

static bool read_choice(int *to, const char *value, const char *const *names, size_t count)
{
	*to = index_of(value, names, count);
	return *to != ANY;
}

static bool read_yes(int *to, const char *value)
{
	static const char *const answers[] = {"no", "yes"};

	return read_choice(to, value, answers, 2);
}

#define CHOICE(to, value, names) read_choice(to, value, names, sizeof(names) / sizeof((names)[0]))

static bool read_condition(struct model_effect *e, const char *key, const char *value)
{
	const struct {
		const char *key;
		double *to;
	} numbers[] = {{"per_byte", &e->per_byte}, {"spread", &e->spread},    {"tail", &e->tail},  {"every", &e->every},
		       {"lasting", &e->lasting},   {"pause", &e->after_idle}, {"first", &e->first}};
	const struct {
		const char *key;
		int *to;
	} answers[] = {{"imm", &e->imm},   {"inline", &e->inlined}, {"signalled", &e->signalled},
		       {"cold", &e->cold}, {"shared", &e->shared},  {"managed", &e->managed}};
	const struct {
		const char *key;
		struct model_range *to;
	} ranges[] = {{"size", &e->size}, {"mtu", &e->mtu}, {"depth", &e->depth}, {"sge", &e->sge}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(numbers[i].key, key))
			return read_number(numbers[i].to, value);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (!strcmp(answers[i].key, key))
			return read_yes(answers[i].to, value);
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (!strcmp(ranges[i].key, key))
			return read_range(ranges[i].to, value);
	if (!strcmp(key, "op"))
		return CHOICE(&e->op, value, operations);
	if (!strcmp(key, "qp"))
		return CHOICE(&e->type, value, types);
	return !strcmp(key, "turn") && read_turn(e, value);
}

bool model_read_effect(struct model_device *d, const char *line)
{
	const struct model_range all = {0, UINT32_MAX};
	struct model_effect e = {.op = ANY,
				 .type = ANY,
				 .imm = ANY,
				 .inlined = ANY,
				 .signalled = ANY,
				 .cold = ANY,
				 .shared = ANY,
				 .managed = ANY,
				 .size = all,
				 .mtu = all,
				 .depth = all,
				 .sge = all};
	char text[256], *rest = text, *word[3];
	bool meant = true;

	snprintf(text, sizeof(text), "%s", line);
	strtok_r(rest, " \t\n", &rest); /* "effect" */
	word[0] = strtok_r(NULL, " \t\n", &rest);
	word[1] = strtok_r(NULL, " \t\n", &rest);
	e.quantity = word[0] ? INDEX_OF(word[0], quantities) : ANY;
	if (e.quantity == ANY || !word[1] || !read_number(&e.ns, word[1]) || d->effects == MODEL_EFFECTS)
		return false;
	while ((word[0] = strtok_r(NULL, " \t\n", &rest))) {
		word[1] = strtok_r(NULL, " \t\n", &rest);
		if (word[1] && (!strcmp(word[0], "file") || !strcmp(word[0], "unless"))) {
			word[2] = strtok_r(NULL, " \t\n", &rest);
			if (!word[2])
				return false;
			meant = meant && begins_with(word[1], word[2]) == !strcmp(word[0], "file");
		} else if (!word[1] || !read_condition(&e, word[0], word[1])) {
			return false;
		}
	}
	if (meant)
		d->effect[d->effects++] = e;
	return true;
}

/* --- chance: the same for the same seed and the same messages --- */

static double chance(void)
{
	uint64_t x = model->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	model->random = x;
	return (double)(x >> 11) / 9007199254740992.0;
}

/* About normal, with deviation 1 and median 0. */
static double normal(void)
{
	return (chance() + chance() + chance() + chance() - 2) * 1.7320508;
}

/* Exponential, with mean 1. */
static double exponential(void)
{
	return -log(1 - chance());
}

/* --- what a message takes --- */

static bool is(int wanted, int answer)
{
	return wanted == ANY || wanted == answer;
}

static bool is_in(const struct model_range *r, unsigned long n)
{
	return n >= r->least && n <= r->most;
}

static bool applies(const struct model_effect *e, const struct model_message *m)
{
	return is(e->op, m->op) && is(e->type, m->type) && is(e->imm, m->imm) && is(e->inlined, m->inlined) &&
	       is(e->signalled, m->signalled) && is(e->cold, m->cold) && is(e->shared, m->shared) &&
	       is(e->managed, m->managed) && is_in(&e->size, m->size) && is_in(&e->mtu, m->mtu) &&
	       is_in(&e->depth, m->depth) && is_in(&e->sge, m->sge) &&
	       (e->after_idle == 0 || m->idle_ns >= e->after_idle) && (e->first == 0 || m->nth < e->first) &&
	       (e->cycle == 0 || is_in(&e->turn, m->nth % e->cycle + 1));
}

/* Is it one of the rare ones, or in a series that one of those has begun? */
static bool strikes(struct model_effect *e)
{
	if (e->left > 0) {
		e->left--;
		return true;
	}
	if (chance() * e->every >= 1)
		return false;
	e->left = e->lasting > 1 ? (uint32_t)e->lasting - 1 : 0;
	return true;
}

double model_time(struct model_device *d, enum model_quantity quantity, const struct model_message *m)
{
	double ns = 0;

	for (int i = 0; i < d->effects; i++) {
		struct model_effect *e = &d->effect[i];

		if (e->quantity != (int)quantity || !applies(e, m) || (e->every > 0 && !strikes(e)))
			continue;
		ns += e->ns + e->per_byte * m->size;
		if (e->spread > 0)
			ns += e->spread * normal();
		if (e->tail > 0)
			ns += e->tail * exponential();
	}
	return ns;
}

struct model_message model_message_of(struct model_qp *qp, const struct model_request *r, const struct model_qp *dest,
				      const struct model_rq *to)
{
	static const struct {
		int op;
		bool imm;
	} of[] = {[IBV_WR_RDMA_WRITE] = {1, false},
		  [IBV_WR_RDMA_WRITE_WITH_IMM] = {1, true},
		  [IBV_WR_SEND] = {0, false},
		  [IBV_WR_SEND_WITH_IMM] = {0, true},
		  [IBV_WR_RDMA_READ] = {2, false},
		  [IBV_WR_ATOMIC_CMP_AND_SWP] = {3, false},
		  [IBV_WR_ATOMIC_FETCH_AND_ADD] = {4, false}};
	const uint32_t page = (uint32_t)(r->addr >> 12) % (64 * MODEL_SEEN);
	uint64_t *seen = &qp->seen[page / 64];
	struct model_message m = {
	    .op = of[r->opcode].op,
	    .imm = of[r->opcode].imm,
	    .type = qp->type == IBV_QPT_UD   ? 2
		    : qp->type == IBV_QPT_UC ? 1
					     : 0,
	    .size = r->length,
	    .inlined = (r->flags & IBV_SEND_INLINE) != 0,
	    .signalled = (r->flags & IBV_SEND_SIGNALED) != 0,
	    .cold = !(*seen >> (page % 64) & 1),
	    .managed = qp->managed,
	    .shared = dest && dest->srq >= 0,
	    .depth = to ? to->size : 0,
	    .sge = to ? to->sge : 0,
	    .mtu = qp->mtu,
	    .nth = qp->posted_ever++,
	    .idle_ns = qp->posted_last ? (double)(r->posted - qp->posted_last) / model->ticks_per_ns : 1e18};

	*seen |= 1ULL << (page % 64);
	qp->posted_last = r->posted;
	return m;
}
