#include "measure/instrument/discipline.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <math.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "common/spawn.h"
#include "common/text.h"

#define ANSWER_MS    5000
#define ANSWER_BYTES 16384
#define LINE_SHOWN   160
#define MOST_NS	     1e15

/* Limits what a program prints: an error of days is not plausible. */
static int64_t bounded_ns(double ns)
{
	return ns < MOST_NS ? (int64_t)ceil(ns) : (int64_t)MOST_NS;
}

/* --- chrony --- */

/* The columns of `chronyc -c tracking` (4.x). */
enum {
	ID,
	NAME,
	STRATUM,
	REF_TIME,
	SYSTEM_OFFSET,
	LAST,
	RMS,
	FREQUENCY,
	RESIDUAL,
	SKEW,
	ROOT_DELAY,
	ROOT_DISPERSION,
	INTERVAL,
	LEAP,
	COLUMNS
};

#define LOCAL_REFERENCE "7F7F0101" /* 127.127.1.1: `local` in chrony.conf */

static int refuse_answer(const char *program, const char *text, struct err *e)
{
	char shown[LINE_SHOWN];

	text_clean(text, strcspn(text, "\n"), shown, sizeof(shown));
	return err_set(e, -ENODATA, STATUS_IMPOSSIBLE, program, NULL, "%s", *shown ? shown : "does not answer");
}

/* Split at commas. Returns the number of columns. */
static size_t cut_columns(char *line, char *column[COLUMNS])
{
	size_t count = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && count < COLUMNS)
		column[count++] = strsep(&line, ",");
	return line ? COLUMNS + 1 : count;
}

/* chrony.conf(5), "tracking": the clock is wrong by at most |system time| + root dispersion + root delay / 2. */
int discipline_parse_chrony(const char *text, struct discipline *out, struct err *e)
{
	char *copy = or_abort(strdup(text)), *column[COLUMNS];
	const char *reference;
	double bound;
	int rc = 0;

	if (cut_columns(copy, column) != COLUMNS) {
		free(copy);
		return refuse_answer("chronyc", text, e);
	}
	bound = fabs(strtod(column[SYSTEM_OFFSET], NULL)) + strtod(column[ROOT_DISPERSION], NULL) +
		strtod(column[ROOT_DELAY], NULL) / 2;
	*out = (struct discipline){.by = "chrony",
				   .is_source = !strcmp(column[ID], LOCAL_REFERENCE),
				   .error_ns = bounded_ns(bound * 1e9),
				   .path_ns = -1};
	reference = *column[NAME] ? column[NAME] : column[ID];
	text_clean(reference, strlen(reference), out->reference, sizeof(out->reference));
	if (!strcmp(column[LEAP], "Not synchronised"))
		rc = err_set(e, -ENODATA, STATUS_IMPOSSIBLE, "chrony", NULL,
			     "the clock is not synchronised (chronyc tracking)");
	free(copy);
	return rc;
}

/* --- linuxptp --- */

/* The value in pmc's next line "\t\tKEY VALUE" from `text` on; NULL: there is none. */
static const char *next_value(const char *text, const char *key, char *value, size_t size)
{
	const size_t length = strlen(key);

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += strspn(line, "\n");
		const char *at = line + strspn(line, "\t ");

		if (strncmp(at, key, length) || (at[length] != ' ' && at[length] != '\t'))
			continue;
		at += length;
		at += strspn(at, " \t");
		return text_clean(at, strcspn(at, " \t\n"), value, size), at;
	}
	return NULL;
}

/* Find a port in this state, its interface, and its kind of stamps. At most one of a clock's ports
 * is a slave. */
static bool find_ptp_port(const char *text, const char *wanted, char *interface, char *stamping, size_t size)
{
	char state[32];

	for (const char *at = text; (at = next_value(at, "portState", state, sizeof(state)));)
		if (!strcmp(state, wanted) && next_value(at, "timestamping", stamping, size) &&
		    next_value(at, "interface", interface, size))
			return true;
	return false;
}

int discipline_parse_ptp(const char *text, struct discipline *out, struct err *e)
{
	char offset[32], path[32], master[64], steps[16], stamping[32] = "", interface[32] = "";
	bool is_master;

	if (!next_value(text, "offsetFromMaster", offset, sizeof(offset)) ||
	    !next_value(text, "meanPathDelay", path, sizeof(path)) ||
	    !next_value(text, "stepsRemoved", steps, sizeof(steps)) ||
	    !next_value(text, "gmIdentity", master, sizeof(master)))
		return err_set(e, -ENODATA, STATUS_IMPOSSIBLE, "ptp4l", NULL,
			       "does not answer (pmc -u -b 0); it must run, and only root may ask it");
	is_master = !strcmp(steps, "0");
	if (!find_ptp_port(text, is_master ? "MASTER" : "SLAVE", interface, stamping, sizeof(interface)) &&
	    !(is_master && find_ptp_port(text, "GRAND_MASTER", interface, stamping, sizeof(interface))))
		return err_set(e, -ENODATA, STATUS_IMPOSSIBLE, "ptp4l", NULL,
			       "none of its ports follows a master or is one (pmc -u -b 0 'GET PORT_DATA_SET')");
	*out = (struct discipline){.by = "linuxptp",
				   .is_source = is_master,
				   .error_ns = bounded_ns(fabs(strtod(offset, NULL))),
				   .path_ns = bounded_ns(fabs(strtod(path, NULL)))};
	snprintf(out->reference, sizeof(out->reference), "%s", master);
	if (strcmp(stamping, "SOFTWARE"))
		snprintf(out->interface, sizeof(out->interface), "%s", interface);
	return 0;
}

/* --- queries --- */

static int discipline_ask(const char *const *words, int (*parse)(const char *, struct discipline *, struct err *),
			  struct discipline *out, struct err *e)
{
	char text[ANSWER_BYTES];
	const int rc =
	    spawn_output(&(struct spawn){.words = words, .end_signal = SIGKILL}, ANSWER_MS, text, sizeof(text));

	if (rc == -ENOENT)
		return err_set(e, rc, STATUS_IMPOSSIBLE, words[0], NULL, "there is no such program in PATH");
	if (rc == -ETIMEDOUT)
		return err_set(e, rc, STATUS_FAILED, words[0], NULL, "has not ended within %d ms", ANSWER_MS);
	if (rc < 0)
		return err_sys(e, rc, words[0], "start");
	return rc ? refuse_answer(words[0], text, e) : parse(text, out, e);
}

int discipline_ask_chrony(struct discipline *out, struct err *e)
{
	static const char *const words[] = {"chronyc", "-c", "-n", "tracking", NULL};

	return discipline_ask(words, discipline_parse_chrony, out, e);
}

int discipline_ask_ptp(struct discipline *out, struct err *e)
{
	static const char *const words[] = {
	    "pmc", "-u", "-b", "0", "GET CURRENT_DATA_SET", "GET TIME_STATUS_NP", "GET PORT_PROPERTIES_NP", NULL};

	return discipline_ask(words, discipline_parse_ptp, out, e);
}

json_t *discipline_json(const struct discipline *d)
{
	return json_pack("{s:s, s:s, s:b, s:I, s:o, s:s}", "by", d->by, "reference", d->reference, "is_source",
			 d->is_source, "error_ns", (json_int_t)d->error_ns, "path_ns",
			 d->path_ns < 0 ? json_null() : json_integer((json_int_t)d->path_ns), "interface",
			 d->interface);
}

/* --- the disciplined clock --- */

/* The number N of /dev/ptpN; -1: the interface has no clock. */
static int clock_number(const char *interface)
{
	struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO, .phc_index = -1};
	struct ifreq request = {.ifr_data = (char *)&info};
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%.15s", interface);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request))
		info.phc_index = -1;
	if (fd >= 0)
		close(fd);
	return info.phc_index;
}

int discipline_clock(const struct discipline *d, clockid_t *clock, int *fd, struct err *e)
{
	char path[32];
	int number;

	*clock = CLOCK_REALTIME;
	*fd = -1;
	if (!*d->interface)
		return 0;
	number = clock_number(d->interface);
	if (number < 0)
		return err_set(e, -ENODEV, STATUS_IMPOSSIBLE, d->interface, NULL,
			       "ptp4l uses its stamps, but it has no clock (ethtool -T)");
	snprintf(path, sizeof(path), "/dev/ptp%d", number);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return err_sys(e, -errno, path, "read the clock");
	*clock = (clockid_t)(~(unsigned)*fd << 3 | 3); /* man 2 clock_gettime, "Dynamic clocks" */
	return 0;
}
