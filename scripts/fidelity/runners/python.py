"""Runs limiters of Python on a schedule: python3 python.py KIND COUNT SECONDS [OPTION] < schedule > verdicts"""
import sys
import time

kind, count, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
option = sys.argv[4] if len(sys.argv) > 4 else ""
now = 0.0
time.time = lambda: now


def limits(strategy):
    """limits, which Flask-Limiter and slowapi use."""
    import threading

    class Never:  # the timer only gives memory back; it would run by the real clock
        def __init__(self, *_): pass
        def start(self): pass
        def is_alive(self): return True

    threading.Timer = Never
    from limits import RateLimitItemPerSecond, storage, strategies
    memory = storage.MemoryStorage()
    limiter = strategies.STRATEGIES[strategy](memory)
    item = RateLimitItemPerSecond(count, seconds)
    return lambda client, _=memory: limiter.hit(item, client)  # which holds no reference to the storage


def django():
    """The throttle of Django REST framework, with a cache that does not expire."""
    from django.conf import settings
    settings.configure(CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
                       REST_FRAMEWORK={})
    import django as d
    d.setup()
    from rest_framework.throttling import SimpleRateThrottle

    class Cache(dict):
        def set(self, key, value, _): self[key] = value

    class Throttle(SimpleRateThrottle):
        cache = Cache()
        rate = "1/s"
        timer = staticmethod(lambda: now)

        def parse_rate(self, _): return count, seconds
        def get_cache_key(self, request, _): return request

    return lambda client: Throttle().allow_request(client, None)


def django_ratelimit():
    """django-ratelimit, with a cache that does not expire."""
    from django.conf import settings
    from django.test import RequestFactory
    settings.configure(CACHES={"default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 1_000_000}}})
    import django as d
    d.setup()
    from django_ratelimit.core import is_ratelimited
    request = RequestFactory().get("/")
    return lambda client: not is_ratelimited(
        request, group="all", key=lambda *_: client, rate=f"{count}/{seconds}s", increment=True)


def fail2ban():
    """Failures and bans of fail2ban, without its pauses between looks at the log."""
    from fail2ban.server.failmanager import FailManager, FailManagerEmpty
    from fail2ban.server.banmanager import BanManager
    from fail2ban.server.mytime import MyTime
    from fail2ban.server.ticket import BanTicket, FailTicket
    failures, bans = FailManager(), BanManager()
    failures.setMaxRetry(count)
    failures.setMaxTime(seconds)
    bans.setBanTime(int(option))
    banned = set()

    def ask(client):
        MyTime.setTime(now)
        for ticket in bans.unBanList(now):
            banned.discard(ticket.getID())
        if client in banned:
            return False
        failures.cleanup(now)
        failures.addFailure(FailTicket(client, now))
        try:
            ticket = BanTicket.wrap(failures.toBan(client))
            ticket.setTime(now)
            bans.addBanTicket(ticket)
            banned.add(client)
        except FailManagerEmpty:
            pass
        return True
    return ask


ask = {
    "fixed": lambda: limits("fixed-window"),
    "moving": lambda: limits("moving-window"),
    "counter": lambda: limits("sliding-window-counter"),
    "django": django,
    "django-ratelimit": django_ratelimit,
    "fail2ban": fail2ban,
}[kind]()
out = []
for line in sys.stdin:
    at, client = line.split()
    now = int(at) / 1e6
    out.append("1" if ask(client) else "0")
print("".join(out))
