-- What people query. Each view carries the run; its twin latest_…, without that column, shows the latest run
-- that has what the view shows.
--
-- What their columns mean, as shadow query --tables says it. A column that is not here means what it does in the table:
-- of policy_totals in policies, of policy_limits in parts, of would_blocks in events, of curve_figures in curve_points.
--   run: runs.run
--   policy: canonical text of its limits, token:6/30s, or its name in the configuration
--   counts_by: a key as --by takes it: client, client+action, site …; or several
--   client: address, prefix, user …
--   class: browser, crawler, tool, monitor or unknown: that of most of the client's requests
--   action: /product/…, static, or its name in the configuration
--   requests: that count, of what the row is about
--   refused: requests
--   refused_percent: of the requests; NULL without any
--   clients: of what the row is about
--   clients_hit: clients with a refused request
--   clients_hit_percent: of the clients
--   first_refused: when the first of them came
--   last_refused: when the last of them came
--   agent: User-Agent of the client's latest request
--   identity: person, office, undecided, program, disguised, attacker, search, crawler, monitor, own or proxy; NULL: not known
--   upstream_seconds_saved: what upstream servers spent on refused requests; NULL: the log tells no upstream times
--   delay_total_seconds: of all delayed requests together; NULL: no limit keeps requests waiting
--   delay_p50_seconds: what half of the delays did not exceed
--   delay_p99_seconds: what 99 % of the delays did not exceed
--   requests_refused_share_of_worst_client: of the refused requests, from 0 to 1; NULL without any
--   limit_kind: window; fixed; window,charge=all; token
--   per_seconds: length of the window; NULL: a token bucket
--   rate_per_second: at which tokens come; NULL: a window
--   events.policy: policies.policy
--   events.degraded: see policies
--   would_blocks.status: the server's answer; NULL: not logged
--   would_blocks.degraded: whether hosts that share the limit might have decided otherwise together
--   curve_figures.action: whose requests it is about; NULL: all
--   curve_figures.refused: requests; NULL, as by class: not counted for this bucket

CREATE OR REPLACE VIEW events AS -- one row for each policy that refuses the requests
SELECT r.run, s.policy, r.time, r.client, r.action, r.status, r.count, s.degraded
FROM refusals r JOIN policy_sets s ON s.run = r.run AND s.policy_set = r.policy_set;

CREATE OR REPLACE VIEW would_blocks AS
SELECT e.run, p.name AS policy, p.counts_by, e.time, c.name AS client, c.class, a.name AS action,
       nullif(e.status, 0) AS status, e.count, e.degraded
FROM events e
JOIN policies p ON p.run = e.run AND p.policy = e.policy
JOIN clients c ON c.run = e.run AND c.client = e.client
JOIN actions a ON a.run = e.run AND a.action = e.action;

CREATE OR REPLACE VIEW policy_totals AS
SELECT p.run, p.name AS policy, p.counts_by, p.requests, p.refused,
       100.0 * p.refused / nullif(p.requests, 0) AS refused_percent,
       n.clients, p.clients_hit,
       100.0 * p.clients_hit / nullif(n.clients, 0) AS clients_hit_percent,
       p.worst_minute, p.worst_minute_refused, p.bytes_saved,
       p.upstream_saved_us / 1e6 AS upstream_seconds_saved, p.events_kept,
       p.delayed, p.delay_total_us / 1e6 AS delay_total_seconds, p.delay_p50_us / 1e6 AS delay_p50_seconds,
       p.delay_p99_us / 1e6 AS delay_p99_seconds,
       p.refused_low, p.refused_high, p.clients_hit_low, p.clients_hit_high, p.degraded, p.degraded_refused,
       p.combine, t.most / nullif(p.refused, 0) AS requests_refused_share_of_worst_client
FROM policies p
LEFT JOIN runs n ON n.run = p.run
LEFT JOIN (SELECT run, policy, max(refused) AS most FROM client_tallies GROUP BY run, policy) t
       ON t.run = p.run AND t.policy = p.policy;

CREATE OR REPLACE VIEW policy_limits AS
SELECT l.run, p.name AS policy, l.part, l.limit_text, l.counts_by, l.matches, l.counts
FROM parts l
JOIN policies p ON p.run = l.run AND p.policy = l.policy;

CREATE OR REPLACE VIEW class_totals AS
SELECT p.run, p.name AS policy, p.counts_by, c.class,
       sum(c.requests)::BIGINT AS requests, coalesce(sum(t.refused), 0)::BIGINT AS refused,
       count(*) AS clients, count(t.client) AS clients_hit
FROM policies p
JOIN clients c ON c.run = p.run
LEFT JOIN client_tallies t ON t.run = p.run AND t.policy = p.policy AND t.client = c.client
GROUP BY p.run, p.policy, p.name, p.counts_by, c.class;

CREATE OR REPLACE VIEW client_totals AS
SELECT t.run, p.name AS policy, p.counts_by, c.name AS client, c.class, c.requests, t.refused,
       100.0 * t.refused / c.requests AS refused_percent, t.first_refused, t.last_refused, g.name AS agent, v.identity
FROM client_tallies t
JOIN policies p ON p.run = t.run AND p.policy = t.policy
JOIN clients c ON c.run = t.run AND c.client = t.client
LEFT JOIN agents g ON g.run = t.run AND g.agent = c.agent
LEFT JOIN client_identities v ON v.run = t.run AND v.client = t.client;

CREATE OR REPLACE VIEW identity_totals AS
SELECT p.run, p.name AS policy, p.counts_by, v.identity,
       sum(c.requests)::BIGINT AS requests, coalesce(sum(t.refused), 0)::BIGINT AS refused,
       count(*) AS clients, count(t.client) AS clients_hit
FROM policies p
JOIN clients c ON c.run = p.run
JOIN client_identities v ON v.run = p.run AND v.client = c.client
LEFT JOIN client_tallies t ON t.run = p.run AND t.policy = p.policy AND t.client = c.client
GROUP BY p.run, p.policy, p.name, p.counts_by, v.identity;

CREATE OR REPLACE VIEW action_totals AS
SELECT p.run, p.name AS policy, p.counts_by, a.name AS action, a.requests, coalesce(t.refused, 0) AS refused,
       100.0 * coalesce(t.refused, 0) / nullif(a.requests, 0) AS refused_percent
FROM policies p
JOIN actions a ON a.run = p.run
LEFT JOIN action_tallies t ON t.run = p.run AND t.policy = p.policy AND t.action = a.action;

CREATE OR REPLACE VIEW curve_figures AS
SELECT c.run, c.limit_kind, c.per_us / 1e6 AS per_seconds, 1e6 * c.rate_count / c.rate_per_us AS rate_per_second,
       c.counts_by, c.action, p.limit_count, p.refused, 100.0 * p.refused / nullif(c.requests, 0) AS refused_percent,
       p.clients_hit, 100.0 * p.clients_hit / nullif(c.clients, 0) AS clients_hit_percent,
       p.browser_refused, p.browser_clients_hit, p.crawler_refused, p.crawler_clients_hit, p.tool_refused, p.tool_clients_hit,
       p.monitor_refused, p.monitor_clients_hit, p.unknown_refused, p.unknown_clients_hit,
       p.doubted_refused, p.doubted_clients_hit
FROM curves c
JOIN curve_points p ON p.run = c.run AND p.curve = c.curve;

-- The latest run is that which has what the view shows: policies, though they refused nothing, curves, identities, kept
-- events. A sweep hides no replay, nor a replay a sweep.
CREATE OR REPLACE VIEW latest_run AS
SELECT * FROM runs WHERE run = (SELECT max(run) FROM runs);

CREATE OR REPLACE VIEW latest_would_blocks AS
SELECT * EXCLUDE (run) FROM would_blocks WHERE run = (SELECT max(run) FROM policies WHERE events_kept);

CREATE OR REPLACE VIEW latest_policy_totals AS
SELECT * EXCLUDE (run) FROM policy_totals WHERE run = (SELECT max(run) FROM policies);

CREATE OR REPLACE VIEW latest_policy_limits AS
SELECT * EXCLUDE (run) FROM policy_limits WHERE run = (SELECT max(run) FROM policies);

CREATE OR REPLACE VIEW latest_class_totals AS
SELECT * EXCLUDE (run) FROM class_totals WHERE run = (SELECT max(run) FROM policies);

CREATE OR REPLACE VIEW latest_identity_totals AS
SELECT * EXCLUDE (run) FROM identity_totals WHERE run = (SELECT max(run) FROM policies WHERE run IN (SELECT run FROM client_identities));

CREATE OR REPLACE VIEW latest_client_totals AS
SELECT * EXCLUDE (run) FROM client_totals WHERE run = (SELECT max(run) FROM policies);

CREATE OR REPLACE VIEW latest_action_totals AS
SELECT * EXCLUDE (run) FROM action_totals WHERE run = (SELECT max(run) FROM policies);

CREATE OR REPLACE VIEW latest_curve_figures AS
SELECT * EXCLUDE (run) FROM curve_figures WHERE run = (SELECT max(run) FROM curves);
