// killat FOLDER N MODE COMMAND… runs a command and kills it at the N-th call with which it changes a file in FOLDER:
// before the call (MODE before), or inside it (MODE inside): of a write half is done, any other call is done whole.
// MODE error does not kill: the call is not done, and fails with EIO.
// It prints the calls to descriptor 3, one a line, and ends as the command does. SIGINT and SIGTERM go to the
// command. Calls of all threads count, whether they come from a C library or not: a seccomp filter stops the command at
// each of them, and ptrace does the rest.
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t command;
static volatile sig_atomic_t asked;

static const struct call {
	long number;
	const char *name;
	int fd, path, length; // which argument is what; -1: none
} calls[] = {
	{SYS_write, "write", 0, -1, 2},
	{SYS_pwrite64, "pwrite", 0, -1, 2},
	{SYS_ftruncate, "ftruncate", 0, -1, -1},
	{SYS_fallocate, "fallocate", 0, -1, -1},
	{SYS_fsync, "fsync", 0, -1, -1},
	{SYS_fdatasync, "fdatasync", 0, -1, -1},
	{SYS_renameat, "rename", -1, 1, -1},
	{SYS_renameat2, "rename", -1, 1, -1},
	{SYS_unlinkat, "unlink", -1, 1, -1},
	{SYS_linkat, "link", -1, 3, -1},
	{SYS_mkdirat, "mkdir", -1, 1, -1},
#ifdef SYS_rename
	{SYS_rename, "rename", -1, 0, -1},
	{SYS_unlink, "unlink", -1, 0, -1},
	{SYS_link, "link", -1, 1, -1},
	{SYS_mkdir, "mkdir", -1, 0, -1},
	{SYS_rmdir, "rmdir", -1, 0, -1},
#endif
};
enum { COUNT = sizeof calls / sizeof *calls };

static void fail(const char *what) {
	perror(what);
	if (command > 0)
		kill(command, SIGKILL);
	exit(99);
}

// filter stops the command at our calls, and at no others.
static void filter(void) {
	struct sock_filter code[COUNT + 3];
	int n = 0;
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < COUNT; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, COUNT - i, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	struct sock_fprog program = {n, code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		fail("seccomp");
}

// shorten changes the third argument of the call at which a thread stands.
static void shorten(pid_t thread, unsigned long length) {
#if defined(__x86_64__)
	struct user_regs_struct regs;
	struct iovec all = {&regs, sizeof regs};
	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &all)) fail("getregs");
	regs.rdx = length;
#elif defined(__aarch64__)
	struct user_regs_struct regs;
	struct iovec all = {&regs, sizeof regs};
	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &all)) fail("getregs");
	regs.regs[2] = length;
#else
#error "this processor is not known here"
#endif
	if (ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &all)) fail("setregs");
}

// refuse makes the call at which a thread stands fail, undone.
static void refuse(pid_t thread) {
#if defined(__x86_64__)
	struct user_regs_struct regs;
	struct iovec all = {&regs, sizeof regs};
	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &all)) fail("getregs");
	regs.orig_rax = -1;
	regs.rax = -EIO;
#elif defined(__aarch64__)
	int none = -1;
	struct iovec number = {&none, sizeof none};
	if (ptrace(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &number)) fail("setcall");
	struct user_regs_struct regs;
	struct iovec all = {&regs, sizeof regs};
	if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &all)) fail("getregs");
	regs.regs[0] = -EIO;
#endif
	if (ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &all)) fail("setregs");
}

// nameOf finds which file a call is about.
static void nameOf(pid_t thread, const struct call *c, const unsigned long long *args, char *name, size_t size) {
	name[0] = 0;
	if (c->fd >= 0) {
		char link[64];
		snprintf(link, sizeof link, "/proc/%d/fd/%lld", thread, (long long)args[c->fd]);
		ssize_t n = readlink(link, name, size - 1);
		name[n < 0 ? 0 : n] = 0;
		return;
	}
	struct iovec here = {name, size - 1}, there = {(void *)args[c->path], size - 1};
	while (there.iov_len > 0 && process_vm_readv(thread, &here, 1, &there, 1, 0) < 0)
		there.iov_len = there.iov_len > 64 ? there.iov_len - 64 : 0; // the name may end before a page that is not there
	name[size - 1] = 0;
}

// die ends the command in the middle of whatever its threads do.
static void die(void) {
	kill(command, SIGKILL);
	int status;
	while (waitpid(-1, &status, __WALL) > 0 || errno == EINTR) {}
	signal(SIGKILL, SIG_DFL);
	exit(137);
}

static void forward(int sig) { asked = sig; kill(command, sig); }

int main(int n, char **args) {
	if (n < 5)
		return 98;
	const char *folder = args[1];
	long at = atol(args[2]), seen = 0;
	int inside = !strcmp(args[3], "inside"), error = !strcmp(args[3], "error");
	FILE *list = fdopen(3, "w");
	int gate[2];
	if (pipe(gate)) fail("pipe");
	command = fork();
	if (command == 0) {
		char go;
		close(3);
		close(gate[1]);
		if (read(gate[0], &go, 1) != 1) _exit(97);
		close(gate[0]);
		filter();
		execvp(args[4], args + 4);
		fail(args[4]);
	}
	close(gate[0]);
	long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
	if (ptrace(PTRACE_SEIZE, command, 0, options)) fail("ptrace");
	signal(SIGINT, forward);
	signal(SIGTERM, forward);
	if (write(gate[1], "g", 1) != 1) fail("write");
	close(gate[1]);
	for (;;) {
		int status;
		pid_t thread = waitpid(-1, &status, __WALL);
		if (thread < 0) {
			if (errno == EINTR) continue;
			fail("wait");
		}
		if (WIFEXITED(status) && thread == command) return WEXITSTATUS(status);
		if (WIFSIGNALED(status) && thread == command) return 128 + WTERMSIG(status);
		if (!WIFSTOPPED(status)) continue;
		int event = status >> 16, sig = WSTOPSIG(status);
		if (event != PTRACE_EVENT_SECCOMP) {
			ptrace(PTRACE_CONT, thread, 0, event == 0 && sig != (SIGTRAP | 0x80) ? sig : 0);
			continue;
		}
		struct __ptrace_syscall_info info;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) < 0) {
			ptrace(PTRACE_CONT, thread, 0, 0);
			continue;
		}
		const struct call *c = NULL;
		for (int i = 0; i < COUNT; i++)
			if (calls[i].number == (long)info.seccomp.nr) c = &calls[i];
		char name[4096];
		nameOf(thread, c, (unsigned long long *)info.seccomp.args, name, sizeof name);
		if (c == NULL || (name[0] == '/' && strncmp(name, folder, strlen(folder))) || strchr(name, ':')) {
			ptrace(PTRACE_CONT, thread, 0, 0);
			continue;
		}
		seen++;
		if (list) {
			fprintf(list, "%ld %s %s", seen, c->name, name);
			if (c->length >= 0) fprintf(list, " %lld", (long long)info.seccomp.args[c->length]);
			fprintf(list, "\n");
			fflush(list);
		}
		if (seen != at) {
			ptrace(PTRACE_CONT, thread, 0, 0);
			continue;
		}
		if (error) {
			refuse(thread);
			ptrace(PTRACE_CONT, thread, 0, 0);
			continue;
		}
		if (!inside) die();
		if (c->length >= 0) { // half of it, and whole pages if there are some
			unsigned long half = info.seccomp.args[c->length] / 2;
			if (half > 4096) half -= half % 4096;
			shorten(thread, half);
		}
		if (ptrace(PTRACE_SYSCALL, thread, 0, 0)) fail("syscall");
		while (waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status) && WSTOPSIG(status) != (SIGTRAP | 0x80))
			ptrace(PTRACE_SYSCALL, thread, 0, 0);
		die();
	}
}
