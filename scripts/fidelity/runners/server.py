"""Runs nginx, HAProxy or Apache with mod_qos on a schedule, on a clock that it moves (clock.c):

    server.py nginx rate=10r/s burst=20 nodelay + rate=60r/m burst=30 nodelay < schedule > verdicts
    server.py haproxy 'http_req_rate(10s)' 20 < schedule > verdicts
    server.py apache QS_ClientEventLimitCount 20 10 < schedule > verdicts

Each request goes to the server with the number of its client. Where nginx would delay requests it runs in its dry-run
mode, which says what it would do.
"""

import mmap
import os
import socket
import subprocess
import sys
import tempfile
import time

NGINX = """daemon off; master_process off; pid {work}/pid; error_log {work}/error.log;
events {{}}
http {{
	access_log off; keepalive_requests 1000000; keepalive_timeout 1d; client_header_timeout 1d; send_timeout 1d;
	{zones}
	limit_req_dry_run {dry};
	server {{
		listen unix:{work}/socket;
		location / {{ {limits} add_header Verdict $limit_req_status always; empty_gif; }}
	}}
}}
"""

HAPROXY = """global
	nbthread 1
defaults
	mode http
	timeout client 1d
	timeout http-request 1d
	timeout http-keep-alive 1d
frontend all
	bind unix@{work}/socket
	stick-table type string size 100k store {store}
	http-request track-sc0 url_param(client)
	{rules}
	http-request return status 200
"""

MODULES = "/usr/lib/apache2/modules/"
APACHE = """ServerRoot {work}
PidFile {work}/pid
ErrorLog {work}/error.log
LogLevel crit
DefaultRuntimeDir {work}
ServerName a
Listen 127.0.0.1:{port}
User nobody
Group nogroup
LoadModule mpm_prefork_module {modules}mod_mpm_prefork.so
LoadModule authz_core_module {modules}mod_authz_core.so
LoadModule setenvif_module {modules}mod_setenvif.so
LoadFile libpcre.so.3
LoadModule qos_module {modules}mod_qos.so
DocumentRoot {work}/pages
MaxKeepAliveRequests 0
KeepAliveTimeout 86400
Timeout 86400
QS_ClientIpFromHeader Client
QS_ErrorResponseCode 429
SetEnvIf Request_URI . QS_Limit
{rule}
"""


def configure(work, name, arguments):
    """The command that starts a server, whose configuration it writes, and the server's address."""
    address = work + "/socket"
    if name == "nginx":
        zones = limits = ""
        dry = "off"
        for i, words in enumerate(" ".join(arguments).split(" + ")):
            rate, _, options = words.partition(" ")
            zones += f"limit_req_zone $arg_client zone=z{i}:10m {rate}; "
            limits += f"limit_req zone=z{i} {options}; "
            if "burst" in options and "nodelay" not in options:
                dry = "on"
        text = NGINX.format(work=work, zones=zones, limits=limits, dry=dry)
        command = ["nginx", "-p", work, "-c", work + "/conf"]
    elif name == "apache":
        os.mkdir(work + "/pages")
        open(work + "/pages/a", "w").close()
        os.chmod(work, 0o755)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        text = APACHE.format(work=work, port=port, modules=MODULES, rule=" ".join(arguments))
        command = ["apache2", "-X", "-f", work + "/conf"]
        address = ("127.0.0.1", port)
    else:
        store, count = arguments
        rules = f"http-request deny deny_status 429 if {{ sc0_http_req_rate gt {count} }}"
        if store.startswith("gpc0"):
            rules = (f"http-request deny deny_status 429 if {{ sc0_gpc0_rate ge {count} }}\n"
                     "\thttp-request sc-inc-gpc0(0)")
        text = HAPROXY.format(work=work, store=store, rules=rules)
        command = ["haproxy", "-db", "-f", work + "/conf"]
    with open(work + "/conf", "w") as file:
        file.write(text)
    return command, address


def connect(address, server):
    for _ in range(100):
        try:
            connection = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
            connection.connect(address)
            return connection
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.1)
    sys.exit("the server does not answer")


def ask(connection, answers, client):
    """Whether the server admits a request."""
    number = divmod(int(client), 256)
    connection.sendall(b"GET /a?client=%s HTTP/1.1\r\nHost: a\r\nClient: 10.0.%d.%d\r\n\r\n" % (client, *number))
    status = answers.readline().split()[1]
    length, verdict = 0, b""
    while (line := answers.readline().strip()):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        elif name == b"Verdict":
            verdict = value
    answers.read(length)
    if status not in (b"200", b"429", b"503"):
        sys.exit("status " + status.decode())
    return status == b"200" and b"REJECTED" not in verdict


def main():
    schedule = [line.split() for line in sys.stdin.buffer]
    with tempfile.TemporaryDirectory() as work:
        runners = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", work + "/clock.so", runners + "/clock.c"], check=True)
        with open(work + "/clock", "w+b") as file:
            file.truncate(8)
            clock = memoryview(mmap.mmap(file.fileno(), 8)).cast("q")
        clock[0] = int(schedule[0][0])
        command, address = configure(work, sys.argv[1], sys.argv[2:])
        server = subprocess.Popen(
            command, stdout=sys.stderr,
            env={**os.environ, "LD_PRELOAD": work + "/clock.so", "FIDELITY_CLOCK": work + "/clock"})
        try:
            connection = connect(address, server)
            answers = connection.makefile("rb")
            verdicts = []
            for at, client in schedule:
                clock[0] = int(at)
                verdicts.append("1" if ask(connection, answers, client) else "0")
            connection.shutdown(socket.SHUT_RDWR)  # Apache would wait for more
        finally:
            server.terminate()
            server.wait()
    print("".join(verdicts))


main()
