-- From schema 1, in which a policy was one limit, to schema 2. views.sql follows.

CREATE TABLE parts (
    run         INTEGER NOT NULL,
    policy      INTEGER NOT NULL,
    part        INTEGER NOT NULL,
    counts_by   VARCHAR NOT NULL,
    algorithm   VARCHAR NOT NULL,
    limit_count BIGINT  NOT NULL,
    period_us   BIGINT  NOT NULL,
    options     VARCHAR NOT NULL,
    limit_text  VARCHAR NOT NULL,
    matches     VARCHAR,
    counts      VARCHAR
);
INSERT INTO parts
SELECT run, policy, 0, counts_by, algorithm, limit_count, period_us, options, name, NULL, NULL FROM policies;

ALTER TABLE policies DROP COLUMN algorithm;
ALTER TABLE policies DROP COLUMN limit_count;
ALTER TABLE policies DROP COLUMN period_us;
ALTER TABLE policies DROP COLUMN options;
ALTER TABLE policies ADD COLUMN delayed BIGINT;
ALTER TABLE policies ADD COLUMN delay_total_us BIGINT;
ALTER TABLE policies ADD COLUMN delay_p50_us BIGINT;
ALTER TABLE policies ADD COLUMN delay_p99_us BIGINT;
ALTER TABLE policies ADD COLUMN refused_low BIGINT;
ALTER TABLE policies ADD COLUMN refused_high BIGINT;
ALTER TABLE policies ADD COLUMN clients_hit_low BIGINT;
ALTER TABLE policies ADD COLUMN clients_hit_high BIGINT;

UPDATE shadow_schema SET version = 2;
