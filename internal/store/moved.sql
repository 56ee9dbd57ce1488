-- Which clients each policy hit, before and now. Tables go with the connection. Names are compared once and are numbers from
-- then on; then one pass over which clients each policy hit in which run tells all there is to know of each client: how often now,
-- before and lately, and on which days.

CREATE OR REPLACE TEMP TABLE ids AS
WITH names AS (SELECT name, row_number() OVER () AS who FROM (SELECT DISTINCT name FROM clients WHERE run IN $some))
SELECT c.run, c.client, n.who FROM clients c JOIN names n ON n.name = c.name WHERE c.run IN $some;

CREATE OR REPLACE TEMP TABLE moved AS
SELECT k.k, i.who, sum(t.refused) FILTER (t.run IN $now)::BIGINT AS refused, sum(t.refused) FILTER (t.run IN $base)::BIGINT AS before,
       sum(t.refused) FILTER (t.run IN $recent)::BIGINT AS lately,
       bit_count(bit_or($first_day | $last_day) FILTER (t.run IN $recent))::BIGINT AS days
FROM client_tallies t JOIN kin k ON k.run = t.run AND k.policy = t.policy JOIN ids i ON i.run = t.run AND i.client = t.client
WHERE t.run IN $some GROUP BY k.k, i.who;

CREATE OR REPLACE TEMP TABLE people AS
WITH sums AS (
    SELECT i.who, c.run IN $now AS comes, bool_or(c.run IN $base) AS came, any_value(c.name) AS name, sum(c.requests) AS requests,
           last(d.identity ORDER BY c.requests, c.run) FILTER (d.identity IS NOT NULL) AS identity,
           sum(browser) AS browser, sum(crawler) AS crawler, sum(tool) AS tool, sum(monitor) AS monitor, sum(unknown) AS unknown
    FROM clients c JOIN ids i ON i.run = c.run AND i.client = c.client
    LEFT JOIN client_identities d ON d.run = c.run AND d.client = c.client
    WHERE c.run IN $some AND i.who IN (SELECT who FROM moved WHERE refused IS NULL OR before IS NULL OR days >= $often)
    GROUP BY i.who, comes
)
SELECT who, any_value(name) AS name, arg_max(['browser', 'crawler', 'tool', 'monitor', 'unknown'][$majority], comes) AS class,
       arg_max(identity, comes) AS identity,
       coalesce(sum(requests) FILTER (comes), 0)::BIGINT AS requests, bool_or(came) AS known
FROM sums GROUP BY who
