/*
 * What a file belongs to, if that has a name or number which something else may get later: a network card or interface, a
 * block or RDMA device, an interrupt. What stays is where it is plugged in, its driver, the address that it was made with;
 * of an interface without a device its index, which the kernel gives to no other; of an interrupt its chip and line.
 */
#ifndef KBLAT_TUNING_IDENTITY_H
#define KBLAT_TUNING_IDENTITY_H

struct machine;

/* As text, for the journal: "pci0000:00/0000:00:03.0 e1000e 52:54:00:12:34:57 0". NULL if the path belongs to no such
 * thing, or nothing of it stays. The caller frees. */
char *identity_of(const struct machine *m, const char *path);

/* The path of the same file now, which has another name if the thing has: a new text in `now`. -ENODEV if the thing is
 * gone, although another one may have its name. */
int identity_follow(const struct machine *m, const char *path, const char *identity, char **now);

#endif
