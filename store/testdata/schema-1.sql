-- The tables and views of schema 1, to test that shadow brings them up to date.
CREATE TABLE shadow_schema (version INTEGER NOT NULL);
INSERT INTO shadow_schema VALUES (1);

CREATE TABLE runs (
    run           INTEGER   NOT NULL, -- from 1, growing
    command       VARCHAR   NOT NULL, -- as typed
    version       VARCHAR   NOT NULL, -- of shadow
    started       TIMESTAMP NOT NULL,
    finished      TIMESTAMP NOT NULL,
    lines         BIGINT    NOT NULL, -- = parsed + unreadable
    bytes         BIGINT    NOT NULL, -- read, after decompression
    parsed        BIGINT    NOT NULL, -- = excluded + warm + requests
    unreadable    BIGINT    NOT NULL,
    excluded      BIGINT    NOT NULL,
    warm          BIGINT    NOT NULL, -- judged before --since, counted nowhere
    requests      BIGINT    NOT NULL, -- judged
    late          BIGINT    NOT NULL, -- more than --lateness behind
    refusals      BIGINT    NOT NULL, -- the server itself had answered 429 or 503
    first_at      TIMESTAMP,          -- of the requests; NULL when there were none
    last_at       TIMESTAMP,
    resolution_us BIGINT    NOT NULL, -- of the stamps, in microseconds
    has_agents    BOOLEAN   NOT NULL, -- the log tells user agents
    has_upstream  BOOLEAN   NOT NULL  -- the log tells upstream times
);

CREATE TABLE inputs (
    run         INTEGER NOT NULL,
    input       INTEGER NOT NULL, -- from 0
    name        VARCHAR NOT NULL,
    format      VARCHAR NOT NULL, -- combined, nginx json …
    format_text VARCHAR NOT NULL, -- as the server's configuration would write it
    compression VARCHAR,          -- NULL: plain
    size        BIGINT,           -- bytes on disk; NULL: unknown (standard input)
    head_hash   UBIGINT,          -- of the first and the last block on disk; NULL: unknown
    tail_hash   UBIGINT,
    lines       BIGINT  NOT NULL,
    parsed      BIGINT  NOT NULL,
    unreadable  BIGINT  NOT NULL,
    first_at    TIMESTAMP,
    last_at     TIMESTAMP,
    problem     VARCHAR           -- what ended the input early; NULL: nothing
);

CREATE TABLE unreadable_lines ( -- the first few
    run    INTEGER NOT NULL,
    input  VARCHAR NOT NULL, -- inputs.name
    line   BIGINT,           -- from 1; NULL: reading began in the middle of the file
    col    INTEGER NOT NULL, -- byte of the line where reading stopped, from 1
    reason VARCHAR NOT NULL,
    text   VARCHAR NOT NULL  -- the line's beginning
);

CREATE TABLE policies (
    run                  INTEGER NOT NULL,
    policy               INTEGER NOT NULL, -- from 0, in the order of the command line
    name                 VARCHAR NOT NULL, -- the limit's canonical text: token:6/30s
    counts_by            VARCHAR NOT NULL, -- client, client+action, action, host or site
    algorithm            VARCHAR NOT NULL,
    limit_count          BIGINT  NOT NULL, -- requests …
    period_us            BIGINT  NOT NULL, -- … per this many microseconds
    options              VARCHAR NOT NULL,
    requests             BIGINT  NOT NULL, -- judged
    refused              BIGINT  NOT NULL,
    clients_hit          BIGINT  NOT NULL,
    worst_minute         TIMESTAMP,        -- its start; NULL: nothing was refused
    worst_minute_refused BIGINT  NOT NULL,
    bytes_saved          BIGINT  NOT NULL,
    upstream_saved_us    BIGINT,           -- NULL: the log tells no upstream times
    events_kept          BOOLEAN NOT NULL  -- whether table events holds this policy's would-blocks
);

CREATE TABLE clients (
    run      INTEGER NOT NULL,
    client   INTEGER NOT NULL,
    name     VARCHAR NOT NULL, -- address, prefix, user …
    class    VARCHAR NOT NULL, -- browser, crawler, tool, monitor or unknown: that of most of its requests
    agent    INTEGER NOT NULL, -- of its latest request: agents.agent
    requests BIGINT  NOT NULL,
    browser  BIGINT  NOT NULL, -- requests by the class of their agent
    crawler  BIGINT  NOT NULL,
    tool     BIGINT  NOT NULL,
    monitor  BIGINT  NOT NULL,
    unknown  BIGINT  NOT NULL
);

CREATE TABLE agents (
    run   INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    name  VARCHAR NOT NULL, -- the User-Agent
    class VARCHAR NOT NULL
);

CREATE TABLE actions (
    run      INTEGER NOT NULL,
    action   INTEGER NOT NULL,
    name     VARCHAR NOT NULL,
    requests BIGINT  NOT NULL
);

CREATE TABLE client_tallies ( -- clients with a refused request
    run           INTEGER   NOT NULL,
    policy        INTEGER   NOT NULL,
    client        INTEGER   NOT NULL,
    refused       BIGINT    NOT NULL,
    first_refused TIMESTAMP NOT NULL,
    last_refused  TIMESTAMP NOT NULL
);

CREATE TABLE action_tallies ( -- actions with a refused request
    run     INTEGER NOT NULL,
    policy  INTEGER NOT NULL,
    action  INTEGER NOT NULL,
    refused BIGINT  NOT NULL
);

CREATE TABLE events ( -- would-blocks; equal ones of one moment may share a row: sum the counts
    run    INTEGER   NOT NULL,
    policy INTEGER   NOT NULL,
    time   TIMESTAMP NOT NULL,
    client INTEGER   NOT NULL,
    action INTEGER   NOT NULL,
    status USMALLINT NOT NULL, -- 0: not logged
    count  UINTEGER  NOT NULL
);
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

-- A run of two policies.
INSERT INTO runs VALUES (1, 'shadow replay access.log --limit 6/30s', '0.1', '2026-01-01', '2026-01-01 00:00:01',
    3, 300, 3, 0, 0, 0, 3, 0, 0, '2026-01-01', '2026-01-01 00:00:02', 1000000, true, false);
INSERT INTO policies VALUES
    (1, 0, 'token:6/30s,burst=9', 'client', 'token', 6, 30000000, 'burst=9', 3, 2, 1, '2026-01-01', 2, 200, NULL, true),
    (1, 1, 'window:6/1m', 'site', 'window', 6, 60000000, '', 3, 0, 0, NULL, 0, 0, NULL, false);
INSERT INTO clients VALUES (1, 0, '192.0.2.1', 'tool', 0, 3, 0, 0, 3, 0, 0);
INSERT INTO agents VALUES (1, 0, 'curl/8', 'tool');
INSERT INTO actions VALUES (1, 0, '/', 3);
INSERT INTO client_tallies VALUES (1, 0, 0, 2, '2026-01-01 00:00:01', '2026-01-01 00:00:02');
INSERT INTO action_tallies VALUES (1, 0, 0, 2);
INSERT INTO events VALUES (1, 0, '2026-01-01 00:00:01', 0, 0, 200, 2);
