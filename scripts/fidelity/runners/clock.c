// A clock for a server: it stands still until it is set, by fidelity_set or by the eight bytes of the file that
// FIDELITY_CLOCK names. They are microseconds since 1970.
//
//	cc -shared -fPIC -o clock.so clock.c
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long own = 946684800000000LL; // 2000
static volatile long long *micros = &own;

__attribute__((constructor)) static void open_clock(void)
{
	const char *name = getenv("FIDELITY_CLOCK");
	int file = name ? open(name, O_RDONLY) : -1;
	void *at = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *micros, PROT_READ, MAP_SHARED, file, 0);
	if (at != MAP_FAILED)
		micros = at;
}

void fidelity_set(double to) { own = (long long)to; }

time_t time(time_t *to)
{
	time_t now = *micros / 1000000;
	if (to)
		*to = now;
	return now;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	(void)zone;
	if (tv) {
		tv->tv_sec = *micros / 1000000;
		tv->tv_usec = *micros % 1000000;
	}
	return 0;
}

int clock_gettime(clockid_t id, struct timespec *to)
{
	if (id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID || id < 0)
		return (int)syscall(SYS_clock_gettime, id, to);
	to->tv_sec = *micros / 1000000;
	to->tv_nsec = *micros % 1000000 * 1000;
	return 0;
}

// While the clock stands still no time passes, so no code may wait for some to pass: HAProxy would correct the clock.
int epoll_wait(int file, struct epoll_event *events, int most, int timeout)
{
	return (int)syscall(SYS_epoll_wait, file, events, most, timeout > 0 ? -1 : timeout);
}
