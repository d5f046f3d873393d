/* Processes that hold something: what they inherit, and that nobody else is ended in their place. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/err.h"
#include "tap.h"
#include "tuning/machine/holder.h"
#include "tuning/machine/machine.h"
#include "tuning/machine/process.h"

#define HIGH 1500 /* a descriptor beyond the usual limit of 1024 */

static char *folder;
static struct machine m;

static void hold(int ready, void *context)
{
	(void)context;
	alarm(60); /* it is nobody's child: it must not outlive this test if that fails */
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool start(void)
{
	struct err e = ERR_INIT;

	return ok(!holder_start(&m, "test", hold, NULL, 10000, &e), "a process holds it %s", e.text);
}

/* A process that only waits to be ended. It has this process's descriptors. */
static pid_t start_bystander(void)
{
	pid_t pid = fork();

	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pid == 0)
		pause();
	return pid;
}

static bool lives(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

static void test_holder(void)
{
	struct err e = ERR_INIT;
	pid_t pid;

	start();
	pid = holder_pid(&m, "test");
	ok(pid > 0 && !kill(pid, 0), "which is known by its ID");
	is_int(holder_stop(&m, "test", 2000, &e), 0, "it is ended %s", e.text);
	is_int(holder_pid(&m, "test"), 0, "nobody holds it then");
}

/* While a holder has a descriptor of somebody else, that one waits in vain for its end. */
static void test_inherits_nothing(int at)
{
	struct pollfd p = {.events = POLLIN};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || dup2(ends[1], at) != at) {
		skip("there is no descriptor %d here", at);
		return;
	}
	p.fd = ends[0];
	close(ends[1]);
	start();
	close(at);
	is_int(poll(&p, 1, 10000), 1, "the pipe whose end was descriptor %d ends", at);
	ok(p.revents & POLLHUP, "because the holder does not have it");
	close(ends[0]);
	holder_stop(&m, "test", 2000, NULL);
}

/* A lock, which belongs to whoever inherits it. */
static int claim(void)
{
	int fd = openat(m.state_fd, "hold-test", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ok(fd >= 0 && !flock(fd, LOCK_EX), "a lock");
	return fd;
}

/* Its owner has ended, a child of it still has the lock, and another process has got its ID. */
static void test_reused(void)
{
	const pid_t other = start_bystander();
	const int lock = claim();

	dprintf(lock, "%d %llu\n", (int)other, process_of(other).start - 1);
	is_int(holder_stop(&m, "test", 20, NULL), -ETIMEDOUT, "it is not known who has it");
	ok(lives(other), "a process with the ID of its former owner is not touched");
	close(lock);
	is_int(holder_stop(&m, "test", 20, NULL), 0, "when it is free, there is nothing to end");
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void test_owner(const char *format)
{
	const int lock = claim();
	const pid_t owner = start_bystander();

	dprintf(lock, format, (int)owner, process_of(owner).start);
	close(lock);
	is_int(holder_stop(&m, "test", 10000, NULL), 0, "the owner is ended");
	waitpid(owner, NULL, 0);
}

/* Nothing is ended that is not a process: 0 and negative numbers are groups. */
static void test_no_process(void)
{
	static const pid_t groups[] = {0, -1};

	for (size_t i = 0; i < 2; i++) {
		const struct process p = {.pid = groups[i]};

		is_int(process_signal(&p, 0), -ESRCH, "%d is no process", (int)groups[i]);
	}
}

static void test_process(const char *kernel)
{
	pid_t other = start_bystander();
	struct process p = process_of(other), another = p;

	another.start++;
	ok(p.start > 0, "%s: a process has a time of its start", kernel);
	is_int(process_signal(&another, SIGKILL), -ESRCH, "%s: one of another time is another one", kernel);
	ok(lives(other), "%s: it does not get the signal", kernel);
	is_int(process_signal(&p, 0), 0, "%s: one can ask whether it lives", kernel);
	is_int(process_signal(&p, SIGKILL), 0, "%s: it can be signalled", kernel);
	waitpid(other, NULL, 0);
	is_int(process_signal(&p, 0), -ESRCH, "%s: and is gone", kernel);
}

/* From here on, this process has a kernel without these calls. */
static bool forget_calls(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 1, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	struct rlimit files;
	struct err e = ERR_INIT;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max < HIGH + 1 ? files.rlim_max : HIGH + 1;
	setrlimit(RLIMIT_NOFILE, &files);
	folder = tap_dir();
	ok(!machine_open(&m, NULL, &e), "this machine, of which nothing is changed %s", e.text);
	m.state_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_holder();
	test_inherits_nothing(100);
	test_inherits_nothing(HIGH);
	test_reused();
	test_owner("%d %llu\n");
	test_owner("%d\n"); /* as earlier versions wrote it */
	test_no_process();
	test_process("this kernel");
	if (forget_calls()) {
		test_process("an older kernel");
		test_inherits_nothing(HIGH);
	} else {
		skip("without seccomp, an older kernel cannot be imitated");
	}
	machine_close(&m);
	tap_dir_remove(folder);
	return done_testing();
}
