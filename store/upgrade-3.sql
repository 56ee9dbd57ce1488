-- From schema 2, which has no curves, to schema 3. views.sql follows.

CREATE TABLE curves (
    run         INTEGER NOT NULL,
    curve       INTEGER NOT NULL,
    limit_kind  VARCHAR NOT NULL,
    counts_by   VARCHAR NOT NULL,
    action      VARCHAR,
    per_us      BIGINT,
    rate_count  BIGINT,
    rate_per_us BIGINT,
    requests    BIGINT  NOT NULL,
    clients     BIGINT  NOT NULL,
    points      BIGINT  NOT NULL,
    kept        BIGINT  NOT NULL
);

CREATE TABLE curve_points (
    run                 INTEGER NOT NULL,
    curve               INTEGER NOT NULL,
    limit_count         BIGINT  NOT NULL,
    refused             BIGINT,
    clients_hit         BIGINT  NOT NULL,
    browser_refused     BIGINT,
    browser_clients_hit BIGINT  NOT NULL,
    crawler_refused     BIGINT,
    crawler_clients_hit BIGINT  NOT NULL,
    tool_refused        BIGINT,
    tool_clients_hit    BIGINT  NOT NULL,
    monitor_refused     BIGINT,
    monitor_clients_hit BIGINT  NOT NULL,
    unknown_refused     BIGINT,
    unknown_clients_hit BIGINT  NOT NULL
);

UPDATE shadow_schema SET version = 3;
