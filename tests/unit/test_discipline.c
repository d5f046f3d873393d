/* What chronyc and pmc say (answers of chrony 4.3 and linuxptp 3.1.1, some of them changed), and what two hosts' clocks come to by it. */
#include "measure/instrument/discipline.h"

#include "common/err.h"
#include "measure/run/clock_link.h"
#include "tap.h"

static const char local[] = "7F7F0101,,8,1795364949.914006254,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,"
			    "0.000000000,0.000000000,0.0,Normal\n";

/* 1.5 us + 2 us + 10 us / 2 */
static const char follows[] = "C0000201,192.0.2.1,9,1795364949.914006254,-0.000001500,0.000000100,0.000000200,-12.345,"
			      "0.001,0.050,0.000010000,0.000002000,1.0,Normal\n";

static const char slave[] = "sending: GET CURRENT_DATA_SET\n"
			    "sending: GET TIME_STATUS_NP\n"
			    "\t9ae079.fffe.53f7f4-0 seq 0 RESPONSE MANAGEMENT CURRENT_DATA_SET \n"
			    "\t\tstepsRemoved     1\n"
			    "\t\toffsetFromMaster -240.0\n"
			    "\t\tmeanPathDelay    2754.0\n"
			    "\t9ae079.fffe.53f7f4-0 seq 1 RESPONSE MANAGEMENT TIME_STATUS_NP \n"
			    "\t\tmaster_offset              -240\n"
			    "\t\tgmPresent                  true\n"
			    "\t\tgmIdentity                 3ad706.fffe.e3deb0\n"
			    "sending: GET PORT_PROPERTIES_NP\n"
			    "\t9ae079.fffe.53f7f4-1 seq 3 RESPONSE MANAGEMENT PORT_PROPERTIES_NP \n"
			    "\t\tportIdentity            9ae079.fffe.53f7f4-1\n"
			    "\t\tportState               SLAVE\n"
			    "\t\ttimestamping            SOFTWARE\n"
			    "\t\tinterface               v1\n";

/* With `from` replaced by `to`. */
static const char *changed(const char *text, const char *from, const char *to)
{
	static char out[4096];
	const char *at = strstr(text, from);

	snprintf(out, sizeof(out), "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	return out;
}

static int chrony(const char *text, struct discipline *d, struct err *e)
{
	*e = (struct err)ERR_INIT;
	return discipline_parse_chrony(text, d, e);
}

static int ptp(const char *text, struct discipline *d, struct err *e)
{
	*e = (struct err)ERR_INIT;
	return discipline_parse_ptp(text, d, e);
}

static void test_chrony(void)
{
	struct discipline d;
	struct err e;

	ok(!chrony(follows, &d, &e), "a clock that follows a server");
	is_int(d.error_ns, 8500, "its error is chrony's bound: |offset| + root dispersion + root delay / 2");
	is_str(d.reference, "192.0.2.1", "whom it follows");
	ok(!d.is_source, "it follows somebody");
	ok(!chrony(local, &d, &e) && d.is_source && !d.error_ns, "a local reference follows nobody");
	ok(chrony(changed(follows, "Normal", "Not synchronised"), &d, &e) < 0, "one that is not synchronised is none");
	contains(e.text, "not synchronised", "and says so");
	ok(chrony("506 Cannot talk to daemon\n", &d, &e) < 0, "no daemon");
	contains(e.text, "506 Cannot talk to daemon", "in chronyc's words");
	ok(chrony("", &d, &e) < 0 && chrony(changed(follows, ",9,", ",9,9,"), &d, &e) < 0,
	   "no answer, or another form");
}

static void test_ptp(void)
{
	struct discipline d;
	struct err e;

	ok(!ptp(slave, &d, &e), "a clock that follows a master: %s", e.text);
	is_int(d.error_ns, 240, "its error is its offset from the master");
	is_int(d.path_ns, 2754, "the delay of the path is kept, too");
	is_str(d.reference, "3ad706.fffe.e3deb0", "whom it follows");
	is_str(d.interface, "", "stamps in software: the system clock");
	ok(!ptp(changed(slave, "SOFTWARE", "HARDWARE"), &d, &e), "stamps of the adapter");
	is_str(d.interface, "v1", "are of this interface's clock");
	ok(ptp(changed(slave, "SLAVE", "UNCALIBRATED"), &d, &e) < 0, "a port that does not follow yet is none");
	ok(ptp(changed(slave, "stepsRemoved     1", "stepsRemoved     0"), &d, &e) < 0,
	   "neither is a grandmaster whose port is a slave");
	ok(ptp("sending: GET CURRENT_DATA_SET\n", &d, &e) < 0, "no answer");
	contains(e.text, "ptp4l: does not answer", "is said");
}

/* --- two hosts --- */

static const char *check(const char *source, const char *sink)
{
	static struct err e;
	struct discipline a, b;
	json_t *j[2];

	e = (struct err)ERR_INIT;
	if (source[0] == 's')
		discipline_parse_ptp(source, &a, &e), discipline_parse_ptp(sink, &b, &e);
	else
		discipline_parse_chrony(source, &a, &e), discipline_parse_chrony(sink, &b, &e);
	j[0] = discipline_json(&a), j[1] = discipline_json(&b);
	clock_wall_check(j[0], j[1], &e);
	json_decref(j[0]), json_decref(j[1]);
	return e.text;
}

static void test_same_time(void)
{
	is_str(check(follows, follows), "", "two that follow servers");
	is_str(check(local, follows), "", "one that follows the other");
	contains(check(local, local), "follows no source", "two that follow nobody have no common time");
	is_str(check(slave, slave), "", "two of one grandmaster");
	contains(check(slave, changed(slave, "3ad706", "3ad707")), "different grandmasters", "two of two");
	contains(check(slave, changed(slave, "SOFTWARE", "HARDWARE")), "leap seconds",
		 "an adapter's clock and a system clock");
}

/* Source and kept clock tick alike, the sink's clock shows 5000 more, and 1 us passes from look to look. */
static void test_between(void)
{
	const struct wall_look near[2] = {{1000, 101000, 40}, {3000, 103000, 60}};
	const struct wall_look long_ones[2] = {{0, 0, 1LL << 52}, {1LL << 40, 1, 1LL << 52}};
	struct wall_look set[2] = {{1000, 101000, 40}, {3000, 203000, 60}}, far = {7000, 102000, 20};
	struct clock_comparison c;

	ok(clock_wall_between(near, &far, 500, &c), "looks before, there, and after");
	is_int(c.at_ns, 2000, "when the kept clock showed it");
	is_int(c.offset_ns, 5000, "the sink's clock is ahead");
	ok(c.error_ns >= 500 + 60 && c.error_ns < 500 + 60 + 10,
	   "within what its keepers and the looks leave open: %lld", (long long)c.error_ns);
	ok(!clock_wall_between(set, &far, 500, &c), "the source's kept clock was set meanwhile");
	far.wall_ns = 1LL << 60;
	ok(!clock_wall_between(near, &far, 500, &c), "clocks that are years apart");
	ok(!clock_wall_between(long_ones, &far, 500, &c), "looks so long that no time comes of them");
	far.wall_ns = 1103000;
	ok(clock_wall_between(near, &far, 500, &c) && c.error_ns >= 1000,
	   "what lies outside of the looks costs 500 ppm of its distance: %lld", (long long)c.error_ns);
}

int main(void)
{
	test_chrony();
	test_ptp();
	test_same_time();
	test_between();
	return done_testing();
}
