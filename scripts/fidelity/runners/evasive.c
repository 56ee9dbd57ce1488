// Runs Apache's mod_evasive on a schedule: evasive COUNT SECONDS BLOCK < schedule > verdicts
//
//	cc -rdynamic -I/usr/include/apache2 $(apr-1-config --includes --cppflags) -o evasive evasive.c
//
// It loads the module as Debian has it, hands it requests of one page each, and is the clock and what the module asks
// Apache for. The count is that of the site; the page's is out of reach.
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "httpd.h"
#include "http_config.h"
#include "http_core.h"

static time_t now;
static int (*check)(request_rec *);

time_t time(time_t *to)
{
	if (to)
		*to = now;
	return now;
}

// The module keeps a file for each client that it blocks. There is none here.
FILE *fopen(const char *path, const char *mode)
{
	(void)path, (void)mode;
	errno = EACCES;
	return NULL;
}

void syslog(int priority, const char *format, ...) { (void)priority, (void)format; }
void __syslog_chk(int priority, int flag, const char *format, ...) { (void)priority, (void)flag, (void)format; }

void ap_hook_access_checker(int (*f)(request_rec *), const char *const *before, const char *const *after, int order)
{
	(void)before, (void)after, (void)order;
	check = f;
}

void ap_log_rerror_(const char *file, int line, int module, int level, apr_status_t status, const request_rec *r,
	const char *format, ...)
{
	(void)file, (void)line, (void)module, (void)level, (void)status, (void)r, (void)format;
}

int ap_satisfies(request_rec *r) { (void)r; return SATISFY_ALL; }
int ap_some_auth_required(request_rec *r) { (void)r; return 0; }
apr_status_t apr_pool_cleanup_null(void *data) { (void)data; return 0; }
void apr_pool_cleanup_register(apr_pool_t *pool, const void *data, apr_status_t (*plain)(void *), apr_status_t (*child)(void *))
{
	(void)pool, (void)data, (void)plain, (void)child;
}

static void set(module *m, void *config, const char *name, const char *value)
{
	for (const command_rec *c = m->cmds; c->name; c++)
		if (!strcasecmp(c->name, name)) {
			c->func.take1(NULL, config, value);
			return;
		}
	fprintf(stderr, "there is no %s\n", name);
	exit(1);
}

int main(int argc, char **argv)
{
	void *file = dlopen("/usr/lib/apache2/modules/mod_evasive20.so", RTLD_NOW);
	module *m = file ? dlsym(file, "evasive20_module") : NULL;
	if (argc != 4 || !m) {
		fprintf(stderr, "%s\n", argc != 4 ? "want COUNT SECONDS BLOCK" : dlerror());
		return 1;
	}
	server_rec server = {0};
	void *config = NULL;
	if (m->create_dir_config)
		config = m->create_dir_config(NULL, NULL);
	if (m->create_server_config)
		config = m->create_server_config(NULL, &server);
	m->register_hooks(NULL);
	set(m, config, "DOSSiteCount", argv[1]);
	set(m, config, "DOSSiteInterval", argv[2]);
	set(m, config, "DOSBlockingPeriod", argv[3]);
	set(m, config, "DOSPageCount", "1000000000");
	long long at;
	char client[32];
	conn_rec connection = {.client_ip = client};
	request_rec r = {.connection = &connection, .useragent_ip = client, .uri = "/", .server = &server, .filename = "/"};
	while (scanf("%lld %31s", &at, client) == 2) {
		now = at / 1000000;
		putchar(check(&r) == HTTP_FORBIDDEN ? '0' : '1');
	}
	putchar('\n');
	return 0;
}
