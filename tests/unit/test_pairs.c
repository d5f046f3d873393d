/* All pairs of hosts: their names, the rounds, and which of them stand out. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "study/pairs/pairs_answer.h"
#include "study/pairs/pairs_plan.h"
#include "study/study.h"
#include "tap.h"

/* --- hosts --- */

static void lists_of_hosts(void)
{
	static const struct {
		const char *text, *names, *complaint;
	} rows[] = {
	    {"n1,n2", "n1 n2", NULL},
	    {"n[1-3],m7", "n1 n2 n3 m7", NULL},
	    {"n[08-10,12]x b", "n08x n09x n10x n12x b", NULL},
	    {"root@10.0.0.1,fe80::1%eth0", "root@10.0.0.1 fe80::1%eth0", NULL},
	    {"n1", NULL, "there is only one host"},
	    {"", NULL, "there is no host"},
	    {"n1,n2,n1", NULL, "this host is listed twice: 'n1'"},
	    {"n[1-3],n2", NULL, "this host is listed twice: 'n2'"},
	    {"n1,-oProxyCommand=x", NULL, "a host's name consists of"},
	    {"n1,n;2", NULL, "a host's name consists of"},
	    {"n[3-1],x", NULL, "expected a range of numbers"},
	    {"n[a],x", NULL, "expected a range of numbers"},
	    {"n[1-2][3-4]", NULL, "expected one pair of brackets"},
	    {"n[1-2", NULL, "expected one pair of brackets"},
	    {"n[1-5000]", NULL, "more than 4096 hosts"},
	    {"n[1-99999999999999999999]", NULL, "expected a range of numbers"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct study_hosts h;
		struct err e = ERR_INIT;
		char names[200] = "";
		int rc = study_hosts_read(&h, rows[i].text, &e);

		for (size_t k = 0; k < h.count && k < 8; k++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", k ? " " : "",
				 h.item[k].name);
		if (rows[i].complaint) {
			ok(rc && e.status == STATUS_USAGE, "'%s' is refused", rows[i].text);
			contains(e.text, rows[i].complaint, "'%s': its words", rows[i].text);
		} else {
			is_str(names, rows[i].names, "'%s' %s", rows[i].text, e.text);
		}
		study_hosts_free(&h);
	}
}

static void files_of_hosts(void)
{
	char path[] = "/tmp/kblat-test-hosts-XXXXXX";
	struct study_hosts h;
	struct err e = ERR_INIT;
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs("# the rack\nn1 10.0.0.1  # first\n\nn[2-3]\n", f);
	fclose(f);
	is_int(study_hosts_read(&h, path, &e), 0, "a file is read %s", e.text);
	is_int((long long)h.count, 3, "a host a line, or several");
	is_str(h.item[0].address, "10.0.0.1", "with its address");
	is_str(h.item[2].address, "n3", "or its name in its place");
	study_hosts_free(&h);
	unlink(path);
	if (symlink("/nowhere", path))
		note("cannot make a link");
	ok(study_hosts_read(&h, path, &e) && e.status != STATUS_USAGE, "a link to nothing is no name of a host: %s",
	   e.text);
	study_hosts_free(&h);
	unlink(path);
}

/* --- rounds --- */

static bool rounds_are_right(size_t hosts)
{
	unsigned char *met = calloc(hosts * hosts + 1, 1);
	size_t *as_source = calloc(hosts + 1, sizeof(*as_source)), pairs = 0;
	bool right = true;

	for (size_t round = 0; round < pairs_plan_rounds(hosts); round++) {
		unsigned char *busy = calloc(hosts + 1, 1);

		for (size_t place = 0; place < pairs_plan_places(hosts); place++) {
			struct pairs_two two;

			if (!pairs_plan_at(hosts, round, place, &two))
				continue;
			right = right && two.source != two.sink && two.source < hosts && two.sink < hosts &&
				!busy[two.source]++ && !busy[two.sink]++ && !met[two.source * hosts + two.sink]++ &&
				!met[two.sink * hosts + two.source]++;
			as_source[two.source]++;
			pairs++;
		}
		free(busy);
	}
	for (size_t i = 0; hosts > 3 && i < hosts; i++)
		right = right && as_source[i] * 4 >= hosts - 3 && as_source[i] * 4 <= 3 * hosts + 3;
	free(met);
	free(as_source);
	return right && pairs == hosts * (hosts - 1) / 2;
}

static void rounds(void)
{
	static const size_t counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 16, 63, 64, 255, 256, 999, 1000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		ok(rounds_are_right(counts[i]),
		   "%zu hosts: each pair once, no host twice in a round, both sides its turn", counts[i]);
	is_int((long long)pairs_plan_rounds(64), 63, "64 hosts: 63 rounds");
	is_int((long long)pairs_plan_places(64), 32, "of 32 pairs");
	is_int((long long)pairs_plan_rounds(1000), 999, "in 999 rounds");
}

/* --- who stands out --- */

static uint64_t state = 88172645463325252ULL;

/* About normally distributed: a sum of uniform numbers. */
static double noise(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		sum += (double)(state >> 11) / (double)(1ULL << 53);
	}
	return sum - 6;
}

static void fill(struct pairs_matrix *m, size_t hosts, double deviation)
{
	pairs_matrix_make(m, hosts);
	for (size_t a = 0; a < hosts; a++)
		for (size_t b = a + 1; b < hosts; b++)
			pairs_matrix_set(m, a, b, 2000 * exp(deviation * noise()));
}

static void slow_ones_are_named(void)
{
	struct pairs_matrix m;
	struct pairs_verdict v;

	fill(&m, 64, .1);
	pairs_matrix_set(&m, 3, 17, 10000);
	pairs_judge(&m, &v);
	ok(v.slow_pairs == 1 && !v.slow_hosts && v.pair[3 * 64 + 17] > 4 && v.pair[17 * 64 + 3] > 4,
	   "of 2016 pairs the one that is 5 times as slow");
	is_int((long long)v.pairs, 2016, "of all of them");
	ok(v.median > 1900 && v.median < 2100, "beside their median");
	pairs_verdict_free(&v);
	for (size_t i = 0; i < 64; i++)
		if (i != 9)
			pairs_matrix_set(&m, 9, i, 3 * m.value[9 * 64 + i]);
	pairs_judge(&m, &v);
	ok(v.slow_hosts == 1 && v.host[9] > 2.5 && v.slow_pairs == 1 && v.pair[3 * 64 + 17] > 0,
	   "a slow host is named, and not its 63 pairs (%zu, %zu)", v.slow_hosts, v.slow_pairs);
	pairs_verdict_free(&v);
	pairs_matrix_free(&m);
}

static void nothing_is_named_for_nothing(void)
{
	static const struct {
		size_t hosts;
		double deviation;
	} rows[] = {{2, .1}, {3, .1}, {4, .05}, {8, .1}, {16, 0}, {64, .05}, {64, .3}};
	size_t named = 0;

	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct pairs_matrix m;
			struct pairs_verdict v;

			fill(&m, rows[i].hosts, rows[i].deviation);
			pairs_judge(&m, &v);
			named += v.slow_hosts + v.slow_pairs;
			pairs_verdict_free(&v);
			pairs_matrix_free(&m);
		}
	ok(named <= 1, "equal hosts, whatever their noise: %zu named in 140 clusters", named);
}

static void little_is_known(void)
{
	struct pairs_matrix m;
	struct pairs_verdict v;

	pairs_matrix_make(&m, 5);
	pairs_judge(&m, &v);
	ok(isnan(v.median) && !v.pairs && !v.slow_hosts && !v.slow_pairs, "nothing was measured: nothing stands out");
	pairs_verdict_free(&v);
	pairs_matrix_set(&m, 0, 1, 5);
	pairs_judge(&m, &v);
	ok(v.pairs == 1 && !v.slow_pairs && fabs(v.median - 5) < 1e-9, "nor of one pair");
	pairs_verdict_free(&v);
	pairs_matrix_free(&m);
}

int main(void)
{
	lists_of_hosts();
	files_of_hosts();
	rounds();
	slow_ones_are_named();
	nothing_is_named_for_nothing();
	little_is_known();
	return done_testing();
}
