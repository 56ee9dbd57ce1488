// Runs Varnish's vsthrottle on a schedule: vsthrottle COUNT SECONDS < schedule > verdicts
//
//	cc -rdynamic -o vsthrottle vsthrottle.c
//
// It loads the module as Debian has it, and is the clock and the digest that the module asks Varnish for.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double now;

double VTIM_mono(void) { return now; }

void VAS_Fail(const char *func, const char *file, int line, const char *cond, int kind)
{
	fprintf(stderr, "%s:%d: %s: %s (%d)\n", file, line, func, cond, kind);
	exit(1);
}

// The digest of a key: the key is all that differs, and short.
static unsigned char digest[32];
static int begun;

void VSHA256_Init(void *ctx)
{
	(void)ctx;
	memset(digest, 0, sizeof digest);
	begun = 0;
}

void VSHA256_Update(void *ctx, const void *data, size_t length)
{
	(void)ctx;
	if (!begun) // of limit, period and block each key has the same
		memcpy(digest, data, length < sizeof digest ? length : sizeof digest);
	begun = 1;
}

void VSHA256_Final(unsigned char *out, void *ctx)
{
	(void)ctx;
	memcpy(out, digest, sizeof digest);
}

struct context { unsigned magic; char rest[4096]; };
struct private { const void *priv; long length; const void *methods; };

int main(int argc, char **argv)
{
	struct context context = {.magic = 0x6bb8f0dbU};
	struct private private = {0};
	void *module = dlopen("/usr/lib/x86_64-linux-gnu/varnish/vmods/libvmod_vsthrottle.so", RTLD_NOW);
	if (argc != 3 || !module) {
		fprintf(stderr, "%s\n", argc != 3 ? "want COUNT SECONDS" : dlerror());
		return 1;
	}
	int (*event)(void *, void *, int) = (int (*)(void *, void *, int))dlsym(module, "vmod_event_function");
	unsigned (*is_denied)(void *, const char *, long, double, double) =
		(unsigned (*)(void *, const char *, long, double, double))dlsym(module, "vmod_is_denied");
	if (!event || !is_denied || event(&context, &private, 0)) {
		fprintf(stderr, "the module cannot be used\n");
		return 1;
	}
	long long at, boot = 0;
	char client[32];
	while (scanf("%lld %31s", &at, client) == 2) {
		if (!boot)
			boot = at - 1000000; // its clock is the machine's time since it was started
		now = (double)(at - boot) / 1e6;
		putchar(is_denied(&context, client, atol(argv[1]), atof(argv[2]), 0) ? '0' : '1');
	}
	putchar('\n');
	return 0;
}
