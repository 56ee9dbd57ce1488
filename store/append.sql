-- From the tables of stage.sql into the run $run. A name that the run knows already keeps its id.

INSERT INTO inputs
SELECT $run, (SELECT coalesce(max(input), -1) FROM inputs WHERE run = $run) + row_number() OVER (ORDER BY place),
       name, '', '', NULL, NULL, NULL, NULL, 0, 0, 0, NULL, NULL, NULL
FROM (SELECT name, min(place) AS place FROM new_inputs GROUP BY name)
WHERE name NOT IN (SELECT name FROM inputs WHERE run = $run);

UPDATE inputs SET
    format = n.format, format_text = n.format_text,
    lines = inputs.lines + n.lines, parsed = inputs.parsed + n.parsed, unreadable = inputs.unreadable + n.unreadable
FROM (
    SELECT name, arg_max(format, place) AS format, arg_max(format_text, place) AS format_text,
           sum(lines)::BIGINT AS lines, sum(parsed)::BIGINT AS parsed, sum(unreadable)::BIGINT AS unreadable
    FROM new_inputs GROUP BY name
) n
WHERE inputs.run = $run AND inputs.name = n.name;

INSERT INTO unreadable_lines
SELECT $run, input, NULL, col, reason, text FROM new_faults ORDER BY place
LIMIT (SELECT greatest(0, 10 - count(*)) FROM unreadable_lines WHERE run = $run);

INSERT INTO agents
SELECT $run, (SELECT coalesce(max(agent), -1) FROM agents WHERE run = $run) + row_number() OVER (ORDER BY place), name, class
FROM (SELECT name, any_value(class) AS class, min(place) AS place FROM new_agents GROUP BY name)
WHERE name NOT IN (SELECT name FROM agents WHERE run = $run);

CREATE OR REPLACE TEMP TABLE client_sums AS
SELECT n.name, min(n.place) AS place, arg_max(g.agent, n.place) AS agent, sum(n.browser)::BIGINT AS browser, sum(n.crawler)::BIGINT AS crawler,
       sum(n.tool)::BIGINT AS tool, sum(n.monitor)::BIGINT AS monitor, sum(n.unknown)::BIGINT AS unknown
FROM new_clients n
JOIN new_agents m ON m.place = n.agent
JOIN agents g ON g.run = $run AND g.name = m.name
GROUP BY n.name;

INSERT INTO clients
SELECT $run, (SELECT coalesce(max(client), -1) FROM clients WHERE run = $run) + row_number() OVER (ORDER BY place),
       name, '', agent, 0, 0, 0, 0, 0, 0
FROM client_sums
WHERE name NOT IN (SELECT name FROM clients WHERE run = $run);

UPDATE clients SET
    agent = n.agent, browser = clients.browser + n.browser, crawler = clients.crawler + n.crawler, tool = clients.tool + n.tool,
    monitor = clients.monitor + n.monitor, unknown = clients.unknown + n.unknown
FROM client_sums n WHERE clients.run = $run AND clients.name = n.name;

UPDATE clients SET
    requests = browser + crawler + tool + monitor + unknown,
    class = ['browser', 'crawler', 'tool', 'monitor', 'unknown'][$majority]
WHERE run = $run AND name IN (SELECT name FROM client_sums);

INSERT INTO actions
SELECT $run, (SELECT coalesce(max(action), -1) FROM actions WHERE run = $run) + row_number() OVER (ORDER BY place), name, 0
FROM (SELECT name, min(place) AS place FROM new_actions GROUP BY name)
WHERE name NOT IN (SELECT name FROM actions WHERE run = $run);

UPDATE actions SET requests = actions.requests + n.requests
FROM (SELECT name, sum(requests)::BIGINT AS requests FROM new_actions GROUP BY name) n
WHERE actions.run = $run AND actions.name = n.name;

CREATE OR REPLACE TEMP TABLE fresh AS
SELECT e.policy, e.time, c.client, a.action, e.status, e.count, e.degraded
FROM new_events e
JOIN new_clients n ON n.place = e.client JOIN clients c ON c.run = $run AND c.name = n.name
JOIN new_actions m ON m.place = e.action JOIN actions a ON a.run = $run AND a.name = m.name;

INSERT INTO events
SELECT $run, policy, time, client, action, status, sum(count), degraded FROM fresh GROUP BY ALL ORDER BY time, policy, client, action, status;

CREATE OR REPLACE TEMP TABLE client_hits AS
SELECT policy, client, sum(count)::BIGINT AS refused, min(time) AS first_refused, max(time) AS last_refused FROM fresh GROUP BY ALL;

INSERT INTO client_tallies
SELECT $run, policy, client, 0, first_refused, last_refused FROM client_hits n
WHERE NOT EXISTS (FROM client_tallies t WHERE t.run = $run AND t.policy = n.policy AND t.client = n.client);

UPDATE client_tallies t SET
    refused = t.refused + n.refused, first_refused = least(t.first_refused, n.first_refused), last_refused = greatest(t.last_refused, n.last_refused)
FROM client_hits n WHERE t.run = $run AND t.policy = n.policy AND t.client = n.client;

CREATE OR REPLACE TEMP TABLE action_hits AS
SELECT policy, action, sum(count)::BIGINT AS refused FROM fresh GROUP BY ALL;

INSERT INTO action_tallies
SELECT $run, policy, action, 0 FROM action_hits n
WHERE NOT EXISTS (FROM action_tallies t WHERE t.run = $run AND t.policy = n.policy AND t.action = n.action);

UPDATE action_tallies t SET refused = t.refused + n.refused
FROM action_hits n WHERE t.run = $run AND t.policy = n.policy AND t.action = n.action;

UPDATE policies p SET
    requests = p.requests + (SELECT sum(requests)::BIGINT FROM new_sums), refused = p.refused + n.refused, bytes_saved = p.bytes_saved + n.saved,
    degraded = p.degraded + n.degraded, degraded_refused = p.degraded_refused + n.degraded_refused,
    clients_hit = (SELECT count(*) FROM client_tallies t WHERE t.run = $run AND t.policy = p.policy)
FROM (
    SELECT policy, sum(refused)::BIGINT AS refused, sum(saved)::BIGINT AS saved, sum(degraded)::BIGINT AS degraded,
           sum(degraded_refused)::BIGINT AS degraded_refused
    FROM new_policies GROUP BY policy
) n
WHERE p.run = $run AND p.policy = n.policy;

-- A minute may have begun in an earlier batch, so those of this batch are counted in the run.
UPDATE policies p SET worst_minute = n.minute, worst_minute_refused = n.refused
FROM (
    SELECT policy, arg_max(minute, (refused, -epoch(minute))) AS minute, max(refused) AS refused
    FROM (
        SELECT policy, date_trunc('minute', time) AS minute, sum(count)::BIGINT AS refused FROM events
        WHERE run = $run AND time >= (SELECT date_trunc('minute', min(time)) FROM fresh) GROUP BY ALL
    ) GROUP BY policy
) n
WHERE p.run = $run AND p.policy = n.policy
  AND (n.refused > p.worst_minute_refused OR n.refused = p.worst_minute_refused AND n.minute < p.worst_minute);

UPDATE runs SET
    tail = $tail, finished = greatest(runs.finished, $made), lines = runs.lines + n.lines, bytes = runs.bytes + n.bytes, parsed = runs.parsed + n.excluded + n.requests + n.skipped,
    unreadable = runs.unreadable + n.unreadable, excluded = runs.excluded + n.excluded, requests = runs.requests + n.requests,
    not_http = runs.not_http + n.not_http, not_http_judged = runs.not_http_judged OR n.not_http_judged,
    moved = runs.moved + n.moved,
    late = runs.late + n.late, refusals = runs.refusals + n.refusals,
    first_at = least(runs.first_at, n.first_at), last_at = greatest(runs.last_at, n.last_at),
    resolution_us = coalesce(least(nullif(runs.resolution_us, 0), n.resolution_us), 0),
    has_agents = EXISTS (FROM agents WHERE run = $run AND name NOT IN ('', '-'))
FROM (
    SELECT sum(lines)::BIGINT AS lines, sum(bytes)::BIGINT AS bytes, sum(unreadable)::BIGINT AS unreadable, sum(excluded)::BIGINT AS excluded,
           sum(late)::BIGINT AS late, sum(requests)::BIGINT AS requests, sum(refusals)::BIGINT AS refusals,
           sum(not_http)::BIGINT AS not_http, bool_or(not_http_judged) AS not_http_judged, sum(moved)::BIGINT AS moved,
           coalesce(sum(not_http) FILTER (NOT not_http_judged), 0)::BIGINT AS skipped,
           min(first_at) AS first_at, max(last_at) AS last_at, min(resolution_us) AS resolution_us
    FROM new_sums
) n
WHERE runs.run = $run;

CREATE OR REPLACE TEMP TABLE not_http_sums AS
SELECT status, sum(lines)::BIGINT AS lines FROM (
    SELECT status, lines FROM new_not_http UNION ALL SELECT status, lines FROM not_http WHERE run = $run
) GROUP BY status;
DELETE FROM not_http WHERE run = $run;
INSERT INTO not_http SELECT $run, status, lines FROM not_http_sums ORDER BY status;

DELETE FROM tails WHERE tail = $tail;
INSERT INTO tails SELECT $tail, $batch, run, started, $policies FROM runs WHERE run = $run;
