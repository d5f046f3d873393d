#include "transports/zeromq_zap.h"

#include <errno.h>
#include <string.h>

#define ENDPOINT "inproc://zeromq.zap.01" /* where libzmq asks */
#define USER	 "kblat"
#define VERSION	 "1.0"

/* The parts of a question. */
enum {
	ZAP_VERSION,
	ZAP_REQUEST,
	ZAP_DOMAIN,
	ZAP_ADDRESS,
	ZAP_IDENTITY,
	ZAP_MECHANISM,
	ZAP_USER,
	ZAP_PASSWORD,
	ZAP_PARTS
};

struct part {
	char bytes[64];
	size_t size; /* SIZE_MAX: it is longer */
};

int zeromq_zap_open(struct zeromq *t)
{
	const int now = 0, yes = 1;

	t->zap = zmq.socket(t->context, ZMQ_REP);
	if (!t->zap || zmq.setsockopt(t->zap, ZMQ_LINGER, &now, sizeof(now)) || zmq.bind(t->zap, ENDPOINT) ||
	    zmq.setsockopt(t->out, ZMQ_PLAIN_SERVER, &yes, sizeof(yes)))
		return -errno;
	return 0;
}

void zeromq_zap_close(struct zeromq *t)
{
	if (!t->zap)
		return;
	zmq.unbind(t->zap, ENDPOINT); /* at once; closing takes its time */
	zmq.close(t->zap);
	t->zap = NULL;
}

int zeromq_zap_present(struct zeromq *t, const struct token *token)
{
	char password[TOKEN_TEXT];

	token_text(token, password);
	if (zmq.setsockopt(t->in, ZMQ_PLAIN_USERNAME, USER, strlen(USER)) ||
	    zmq.setsockopt(t->in, ZMQ_PLAIN_PASSWORD, password, strlen(password)))
		return -errno;
	return 0;
}

/* --- verdicts --- */

/* All parts of a message are there, or none. Returns their number, 0 if there is no message. */
static size_t take_question(void *socket, struct part parts[ZAP_PARTS])
{
	size_t count = 0;
	int more = 1;

	while (more) {
		struct part spare, *p = count < ZAP_PARTS ? &parts[count] : &spare;
		size_t size = sizeof(more);
		int n = zmq.recv(socket, p->bytes, sizeof(p->bytes), ZMQ_DONTWAIT);

		if (n < 0 || zmq.getsockopt(socket, ZMQ_RCVMORE, &more, &size))
			return 0;
		p->size = (size_t)n <= sizeof(p->bytes) ? (size_t)n : SIZE_MAX;
		count++;
	}
	return count;
}

static bool part_is(const struct part *p, const char *text)
{
	return p->size == strlen(text) && !memcmp(p->bytes, text, p->size);
}

static bool is_peer(const struct zeromq *t, const struct part parts[ZAP_PARTS])
{
	const struct part *password = &parts[ZAP_PASSWORD];
	char text[TOKEN_TEXT] = "";
	struct token said;

	if (!part_is(&parts[ZAP_VERSION], VERSION) || !part_is(&parts[ZAP_MECHANISM], "PLAIN") ||
	    password->size != sizeof(text) - 1)
		return false;
	memcpy(text, password->bytes, password->size);
	return token_read(text, &said) && token_is(&t->messaging.token, said.bytes);
}

static void send_verdict(void *socket, const struct part *request, bool admitted)
{
	const char *const texts[] = {admitted ? "200" : "400", admitted ? "" : "not the peer", "" /* user */};

	zmq.send(socket, VERSION, strlen(VERSION), ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq.send(socket, request->bytes, request->size, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		zmq.send(socket, texts[i], strlen(texts[i]), ZMQ_DONTWAIT | ZMQ_SNDMORE);
	zmq.send(socket, "", 0, ZMQ_DONTWAIT); /* no properties of the connection */
}

void zeromq_zap_answer(struct zeromq *t)
{
	struct part parts[ZAP_PARTS];
	size_t count;

	while (t->zap && (count = take_question(t->zap, parts)) > 0) {
		const bool whole = count == ZAP_PARTS && parts[ZAP_REQUEST].size <= sizeof(parts[0].bytes);

		if (!whole)
			parts[ZAP_REQUEST] = (struct part){.size = 0};
		send_verdict(t->zap, &parts[ZAP_REQUEST], whole && is_peer(t, parts));
	}
}
