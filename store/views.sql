-- What people query. Each view carries the run; its twin latest_… shows the latest run only, without that column.

CREATE VIEW would_blocks AS
SELECT e.run, p.name AS policy, p.counts_by, e.time, c.name AS client, c.class, a.name AS action,
       nullif(e.status, 0) AS status, e.count
FROM events e
JOIN policies p ON p.run = e.run AND p.policy = e.policy
JOIN clients c ON c.run = e.run AND c.client = e.client
JOIN actions a ON a.run = e.run AND a.action = e.action;

CREATE VIEW policy_totals AS
SELECT p.run, p.name AS policy, p.counts_by, p.requests, p.refused,
       100.0 * p.refused / nullif(p.requests, 0) AS refused_percent,
       n.clients, p.clients_hit,
       100.0 * p.clients_hit / nullif(n.clients, 0) AS clients_hit_percent,
       p.worst_minute, p.worst_minute_refused, p.bytes_saved,
       p.upstream_saved_us / 1e6 AS upstream_seconds_saved, p.events_kept
FROM policies p
LEFT JOIN (SELECT run, count(*) AS clients FROM clients GROUP BY run) n ON n.run = p.run;

CREATE VIEW class_totals AS
SELECT p.run, p.name AS policy, p.counts_by, c.class,
       sum(c.requests)::BIGINT AS requests, coalesce(sum(t.refused), 0)::BIGINT AS refused,
       count(*) AS clients, count(t.client) AS clients_hit
FROM policies p
JOIN clients c ON c.run = p.run
LEFT JOIN client_tallies t ON t.run = p.run AND t.policy = p.policy AND t.client = c.client
GROUP BY p.run, p.policy, p.name, p.counts_by, c.class;

CREATE VIEW client_totals AS
SELECT t.run, p.name AS policy, p.counts_by, c.name AS client, c.class, c.requests, t.refused,
       100.0 * t.refused / c.requests AS refused_percent, t.first_refused, t.last_refused, g.name AS agent
FROM client_tallies t
JOIN policies p ON p.run = t.run AND p.policy = t.policy
JOIN clients c ON c.run = t.run AND c.client = t.client
LEFT JOIN agents g ON g.run = t.run AND g.agent = c.agent;

CREATE VIEW action_totals AS
SELECT p.run, p.name AS policy, p.counts_by, a.name AS action, a.requests, coalesce(t.refused, 0) AS refused,
       100.0 * coalesce(t.refused, 0) / nullif(a.requests, 0) AS refused_percent
FROM policies p
JOIN actions a ON a.run = p.run
LEFT JOIN action_tallies t ON t.run = p.run AND t.policy = p.policy AND t.action = a.action;

CREATE VIEW latest_run AS
SELECT * FROM runs WHERE run = (SELECT max(run) FROM runs);

CREATE VIEW latest_would_blocks AS
SELECT * EXCLUDE (run) FROM would_blocks WHERE run = (SELECT max(run) FROM runs);

CREATE VIEW latest_policy_totals AS
SELECT * EXCLUDE (run) FROM policy_totals WHERE run = (SELECT max(run) FROM runs);

CREATE VIEW latest_class_totals AS
SELECT * EXCLUDE (run) FROM class_totals WHERE run = (SELECT max(run) FROM runs);

CREATE VIEW latest_client_totals AS
SELECT * EXCLUDE (run) FROM client_totals WHERE run = (SELECT max(run) FROM runs);

CREATE VIEW latest_action_totals AS
SELECT * EXCLUDE (run) FROM action_totals WHERE run = (SELECT max(run) FROM runs);
