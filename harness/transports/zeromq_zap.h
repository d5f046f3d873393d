/*
 * Who may connect to a socket on which a side listens: its peer only. libzmq asks for each
 * connection, before any message is taken from it or sent to it (PLAIN by ZAP, ZeroMQ's RFC 24 and
 * 27). The peer gives the token of the side that listens as password. Once both sides have met,
 * nobody is admitted any more.
 */
#ifndef KBLAT_TRANSPORTS_ZEROMQ_ZAP_H
#define KBLAT_TRANSPORTS_ZEROMQ_ZAP_H

#include "transports/zeromq.h"

/* Have libzmq ask about connections to the socket `out`, which does not listen yet. 0 or a negative errno. */
int zeromq_zap_open(struct zeromq *t);

/* Answer what libzmq has asked so far. */
void zeromq_zap_answer(struct zeromq *t);

/* From now on, whoever connects is refused. Also if it is not open. */
void zeromq_zap_close(struct zeromq *t);

/* The password with which the socket `in`, which has not dialled yet, will connect. 0 or a negative errno. */
int zeromq_zap_present(struct zeromq *t, const struct token *token);

#endif
