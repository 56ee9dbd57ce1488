// A clock for a program that calls gettimeofday: it stands still until fidelity_set is called.
//
//	cc -shared -fPIC -o clock.so clock.c
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

static long long micros = 946684800000000LL; // 2000

void fidelity_set(double to) { micros = (long long)to; }

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	(void)zone;
	if (tv) {
		tv->tv_sec = micros / 1000000;
		tv->tv_usec = micros % 1000000;
	}
	return 0;
}
