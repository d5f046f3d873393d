#include "pairs/pairs_table.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/param.h"
#include "common/fs.h"
#include "common/json.h"
#include "common/units.h"
#include "pairs/pairs_answer.h"

#define SHOWN_MAX 20

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static char *value_text(const json_t *object, const char *key, char *text, size_t size)
{
	return unit_human_ns(llround(json_number_value(json_object_get(object, key))), text, size);
}

static void print_slow_hosts(const json_t *of, FILE *out)
{
	const json_t *host;
	size_t i;

	json_array_foreach (json_object_get(of, "slow_hosts"), i, host)
		if (i < SHOWN_MAX)
			fprintf(out, "    host %s stands out: its pairs take %.1f times as long as the others\n",
				json_text(host, "host"), json_number_value(json_object_get(host, "times")));
}

static void print_slow_pairs(const json_t *of, FILE *out)
{
	const json_t *list = json_object_get(of, "slow_pairs"), *pair;
	char text[64];
	size_t i;

	json_array_foreach (list, i, pair)
		if (i < SHOWN_MAX)
			fprintf(out, "    %s - %s stands out: %s, %.1f times what is usual there\n",
				json_text(pair, "source"), json_text(pair, "sink"),
				value_text(pair, "value", text, sizeof(text)),
				json_number_value(json_object_get(pair, "times")));
	if (json_array_size(list) > SHOWN_MAX)
		fprintf(out, "    and %zu more pairs\n", json_array_size(list) - SHOWN_MAX);
}

static void print_quantile(const json_t *point, const char *statistic, FILE *out)
{
	const json_t *of = json_object_get(point, statistic);
	char name[64], text[64];

	param_name_unit(json_text(point, "metric"), name, sizeof(name));
	fprintf(out, "  point %lld, %s %s: ", (long long)number(point, "id"), name, statistic);
	if (!json_is_object(of)) {
		fprintf(out, "no pair has it (a quantile needs 20 messages beyond it)\n");
		return;
	}
	fprintf(out, "median %s over %lld pairs\n", value_text(of, "median", text, sizeof(text)),
		(long long)number(of, "pairs"));
	print_slow_hosts(of, out);
	print_slow_pairs(of, out);
}

void pairs_table(const json_t *pairs, FILE *out)
{
	const json_t *answer = json_object_get(pairs, "answer"), *point;
	size_t i;

	fprintf(out,
		"%s: %zu hosts, %lld pairs in %lld rounds: %lld measured, %lld failed, %lld left, %lld not valid\n",
		json_text(pairs, "name"), json_array_size(json_object_get(pairs, "hosts")),
		(long long)number(pairs, "pairs"), (long long)number(pairs, "rounds"),
		(long long)number(answer, "measured"), (long long)number(answer, "failed"),
		(long long)number(answer, "left"), (long long)number(answer, "not_valid"));
	json_array_foreach (json_object_get(answer, "points"), i, point) {
		print_quantile(point, "p50", out);
		print_quantile(point, "p99", out);
	}
	if (pairs_answer_is_slow(answer))
		fprintf(
		    out,
		    "A pair or a host stands out if it takes %g times as long as the median and is %d robust standard\n"
		    "deviations above it; what a host explains is not counted against its pairs (docs/cluster.md).\n",
		    PAIRS_LEAST, PAIRS_DEVIATIONS);
}

char *pairs_table_sentence(const json_t *answer)
{
	const json_t *point;
	size_t i, hosts = 0, pairs = 0;

	json_array_foreach (json_object_get(answer, "points"), i, point) {
		const json_t *p50 = json_object_get(point, "p50"), *p99 = json_object_get(point, "p99");

		hosts += json_array_size(json_object_get(p50, "slow_hosts")) +
			 json_array_size(json_object_get(p99, "slow_hosts"));
		pairs += json_array_size(json_object_get(p50, "slow_pairs")) +
			 json_array_size(json_object_get(p99, "slow_pairs"));
	}
	if (!number(answer, "measured"))
		return fs_path("no pair was measured");
	return hosts || pairs ? fs_path("%zu medians of hosts and %zu of pairs stand out from the others", hosts, pairs)
			      : fs_path("no pair and no host stands out");
}
