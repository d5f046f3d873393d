/* Reads and writes what ethtool.h describes, by netlink. */
#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/or_abort.h"
#include "tuning/machine/ethtool.h"

#define MESSAGE_MAX 65536 /* the offloads of a card, by name, take 10 KiB */

#define HEADER ETHTOOL_A_RINGS_HEADER /* it has the same number in all groups */

/* --- requests and answers --- */

struct conversation {
	struct mnl_socket *socket;
	unsigned sequence;
	uint16_t family;
	char *why; /* what the kernel says about an error, or "" */
	size_t why_size;
	char buffer[MESSAGE_MAX];
};

static int open_conversation(struct conversation *c)
{
	int on = 1;

	c->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!c->socket)
		return -errno;
	mnl_socket_setsockopt(c->socket, NETLINK_EXT_ACK, &on, sizeof(on));
	return mnl_socket_bind(c->socket, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
}

static struct nlmsghdr *begin_request(struct conversation *c, uint16_t type, uint8_t command, uint8_t version)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(c->buffer);
	struct genlmsghdr *g;

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	h->nlmsg_seq = ++c->sequence;
	g = mnl_nlmsg_put_extra_header(h, sizeof(*g));
	g->cmd = command;
	g->version = version;
	return h;
}

static int note_kernel_text(const struct nlattr *a, void *context)
{
	struct conversation *c = context;

	if (mnl_attr_get_type(a) == NLMSGERR_ATTR_MSG && !mnl_attr_validate(a, MNL_TYPE_NUL_STRING))
		snprintf(c->why, c->why_size, "%s", mnl_attr_get_str(a));
	return MNL_CB_OK;
}

/* The kernel's last word about a request: 0 or a negative errno. On an error the request comes first, whole. */
static int take_verdict(const struct nlmsghdr *h, struct conversation *c)
{
	const struct nlmsgerr *verdict = mnl_nlmsg_get_payload(h);
	size_t skip = sizeof(*verdict);

	if (mnl_nlmsg_get_payload_len(h) < sizeof(*verdict))
		return -EBADMSG;
	if (verdict->error && !(h->nlmsg_flags & NLM_F_CAPPED) && verdict->msg.nlmsg_len >= sizeof(verdict->msg))
		skip += MNL_ALIGN(verdict->msg.nlmsg_len) - sizeof(verdict->msg);
	if (verdict->error && h->nlmsg_flags & NLM_F_ACK_TLVS && skip <= mnl_nlmsg_get_payload_len(h))
		mnl_attr_parse(h, (unsigned)skip, note_kernel_text, c);
	return verdict->error;
}

typedef int take_answer(const struct nlattr *a, void *context);

/* Send the request; give each attribute of the answer to `take`. */
static int ask_kernel(struct conversation *c, const struct nlmsghdr *request, take_answer *take, void *context)
{
	ssize_t n = mnl_socket_sendto(c->socket, request, request->nlmsg_len);

	while (n >= 0) {
		const struct nlmsghdr *h = (const struct nlmsghdr *)c->buffer;
		int left;

		n = mnl_socket_recvfrom(c->socket, c->buffer, sizeof(c->buffer));
		for (left = (int)n; n >= 0 && mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
			if (h->nlmsg_seq != c->sequence)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR)
				return take_verdict(h, c);
			if (take)
				mnl_attr_parse(h, sizeof(struct genlmsghdr), take, context);
		}
	}
	return -errno;
}

static int take_family(const struct nlattr *a, void *context)
{
	struct conversation *c = context;

	if (mnl_attr_get_type(a) == CTRL_ATTR_FAMILY_ID && !mnl_attr_validate(a, MNL_TYPE_U16))
		c->family = mnl_attr_get_u16(a);
	return MNL_CB_OK;
}

static int find_family(struct conversation *c)
{
	struct nlmsghdr *h = begin_request(c, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	int rc;

	mnl_attr_put_strz(h, CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
	rc = ask_kernel(c, h, take_family, c);
	if (rc != -ENOENT)
		return rc;
	snprintf(c->why, c->why_size, "this kernel has no ethtool by netlink (since Linux 5.6)");
	return -EOPNOTSUPP;
}

/* Without an answer that repeats what was asked for. */
static struct nlmsghdr *begin_for_card(struct conversation *c, uint8_t command, const char *card, uint32_t flags)
{
	struct nlmsghdr *h = begin_request(c, c->family, command, ETHTOOL_GENL_VERSION);
	struct nlattr *header = mnl_attr_nest_start(h, HEADER);

	mnl_attr_put_strz(h, ETHTOOL_A_HEADER_DEV_NAME, card);
	if (flags)
		mnl_attr_put_u32(h, ETHTOOL_A_HEADER_FLAGS, flags);
	mnl_attr_nest_end(h, header);
	return h;
}

/* Open a conversation, have `talk` talk, and close it. */
static int converse(const char *card, char *why, size_t size, int (*talk)(struct conversation *, const char *, void *),
		    void *context)
{
	struct conversation *c = or_abort(calloc(1, sizeof(*c)));
	int rc;

	*why = '\0';
	c->why = why;
	c->why_size = size;
	rc = strlen(card) < IFNAMSIZ ? open_conversation(c) : -ENODEV;
	if (!rc)
		rc = find_family(c);
	if (!rc)
		rc = talk(c, card, context);
	if (c->socket)
		mnl_socket_close(c->socket);
	free(c);
	if (rc && !*why)
		err_cause(rc, why, size);
	return rc;
}

/* --- reading --- */

struct reading {
	const struct ethtool_group *group;
	json_t *values;
};

static void take_field_number(const struct reading *r, const char *name, const char *suffix, bool is_switch,
			      const struct nlattr *a)
{
	char key[64];
	json_t *value = NULL;

	snprintf(key, sizeof(key), "%s%s", name, suffix);
	if (is_switch && !mnl_attr_validate(a, MNL_TYPE_U8))
		value = json_string(mnl_attr_get_u8(a) ? "on" : "off");
	else if (!is_switch && !mnl_attr_validate(a, MNL_TYPE_U32))
		value = json_sprintf("%u", mnl_attr_get_u32(a));
	if (value)
		json_object_set_new(r->values, key, value);
}

static int take_field(const struct nlattr *a, void *context)
{
	const struct reading *r = context;

	for (const struct ethtool_field *f = r->group->fields; f->name; f++) {
		if (mnl_attr_get_type(a) == f->attribute)
			take_field_number(r, f->name, "", f->is_switch, a);
		else if (f->maximum && mnl_attr_get_type(a) == f->maximum)
			take_field_number(r, f->name, "_max", false, a);
	}
	return MNL_CB_OK;
}

struct bit {
	const char *name;
	bool value;
};

static int take_bit(const struct nlattr *a, void *context)
{
	struct bit *bit = context;

	if (mnl_attr_get_type(a) == ETHTOOL_A_BITSET_BIT_NAME && !mnl_attr_validate(a, MNL_TYPE_NUL_STRING))
		bit->name = mnl_attr_get_str(a);
	bit->value |= mnl_attr_get_type(a) == ETHTOOL_A_BITSET_BIT_VALUE;
	return MNL_CB_OK;
}

/* The bits of a set, by name: {name: true or false}. A set without a mask lists those that are set. */
static json_t *read_bits(const struct nlattr *set)
{
	const struct nlattr *list, *one;
	json_t *bits = json_object();
	bool all_set = false;

	mnl_attr_for_each_nested(list, set) all_set |= mnl_attr_get_type(list) == ETHTOOL_A_BITSET_NOMASK;
	mnl_attr_for_each_nested(list, set)
	{
		if (mnl_attr_get_type(list) != ETHTOOL_A_BITSET_BITS)
			continue;
		mnl_attr_for_each_nested(one, list)
		{
			struct bit bit = {NULL, false};

			mnl_attr_parse_nested(one, take_bit, &bit);
			/* The kernel has bits without a name. */
			if (bit.name && *bit.name)
				json_object_set_new(bits, bit.name, json_boolean(bit.value || all_set));
		}
	}
	return bits;
}

struct offload_sets {
	json_t *set[ETHTOOL_A_FEATURES_MAX + 1];
};

static int take_set(const struct nlattr *a, void *context)
{
	struct offload_sets *o = context;
	uint16_t type = mnl_attr_get_type(a);

	if (type >= ETHTOOL_A_FEATURES_HW && type <= ETHTOOL_A_FEATURES_NOCHANGE && !o->set[type] &&
	    !mnl_attr_validate(a, MNL_TYPE_NESTED))
		o->set[type] = read_bits(a);
	return MNL_CB_OK;
}

static bool is_in(const struct offload_sets *o, int set, const char *name)
{
	return json_is_true(json_object_get(o->set[set], name));
}

/* The set of those that the driver lets be changed has all names. */
static void take_offloads(const struct offload_sets *o, json_t *values)
{
	const char *name;
	json_t *changeable;

	json_object_foreach (o->set[ETHTOOL_A_FEATURES_HW], name, changeable) {
		bool fixed = !json_is_true(changeable) || is_in(o, ETHTOOL_A_FEATURES_NOCHANGE, name);

		json_object_set_new(values, name,
				    json_sprintf("%s%s", is_in(o, ETHTOOL_A_FEATURES_ACTIVE, name) ? "on" : "off",
						 fixed ? ETHTOOL_FIXED : ""));
	}
}

static int talk_to_read(struct conversation *c, const char *card, void *context)
{
	struct reading *r = context;
	struct offload_sets offloads = {{NULL}};
	int rc;

	if (r->group->fields)
		return ask_kernel(c, begin_for_card(c, r->group->get, card, 0), take_field, r);
	rc = ask_kernel(c, begin_for_card(c, r->group->get, card, 0), take_set, &offloads);
	take_offloads(&offloads, r->values);
	for (size_t i = 0; i <= ETHTOOL_A_FEATURES_MAX; i++)
		json_decref(offloads.set[i]);
	return rc;
}

int ethtool_read(const char *card, const struct ethtool_group *g, json_t **values, char *why, size_t size)
{
	struct reading r = {g, json_object()};
	int rc = converse(card, why, size, talk_to_read, &r);

	if (rc)
		json_decref(r.values);
	*values = rc ? NULL : r.values;
	return rc;
}

/* --- writing --- */

struct writing {
	const struct ethtool_group *group;
	const json_t *values;
};

static bool is_text_on(const json_t *value)
{
	return json_is_string(value) && !strcmp(json_string_value(value), "on");
}

static void put_fields(struct nlmsghdr *h, const struct writing *w)
{
	for (const struct ethtool_field *f = w->group->fields; f->name; f++) {
		const json_t *value = json_object_get(w->values, f->name);

		if (value && f->is_switch)
			mnl_attr_put_u8(h, f->attribute, is_text_on(value));
		else if (json_is_string(value))
			mnl_attr_put_u32(h, f->attribute, (uint32_t)strtoul(json_string_value(value), NULL, 10));
	}
}

static void put_offloads(struct nlmsghdr *h, const struct writing *w)
{
	struct nlattr *set = mnl_attr_nest_start(h, ETHTOOL_A_FEATURES_WANTED);
	struct nlattr *bits = mnl_attr_nest_start(h, ETHTOOL_A_BITSET_BITS);
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)w->values, name, value) {
		struct nlattr *bit = mnl_attr_nest_start(h, ETHTOOL_A_BITSET_BITS_BIT);

		mnl_attr_put_strz(h, ETHTOOL_A_BITSET_BIT_NAME, name);
		if (is_text_on(value))
			mnl_attr_put(h, ETHTOOL_A_BITSET_BIT_VALUE, 0, NULL);
		mnl_attr_nest_end(h, bit);
	}
	mnl_attr_nest_end(h, bits);
	mnl_attr_nest_end(h, set);
}

static int talk_to_write(struct conversation *c, const char *card, void *context)
{
	const struct writing *w = context;
	struct nlmsghdr *h = begin_for_card(c, w->group->set, card, ETHTOOL_FLAG_OMIT_REPLY);

	if (w->group->fields)
		put_fields(h, w);
	else
		put_offloads(h, w);
	return ask_kernel(c, h, NULL, NULL);
}

int ethtool_write(const char *card, const struct ethtool_group *g, const json_t *values, char *why, size_t size)
{
	struct writing w = {g, values};

	return converse(card, why, size, talk_to_write, &w);
}
