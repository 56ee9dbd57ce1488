-- From schema 8, in which runs did not tell of lines that no limiter sees, nor whether requests were judged when they began, and
-- limits always shared a request together, to schema 9. views.sql follows.

ALTER TABLE runs ADD COLUMN not_http BIGINT;
ALTER TABLE runs ADD COLUMN not_http_judged BOOLEAN;
ALTER TABLE runs ADD COLUMN moved BIGINT;
ALTER TABLE policies ADD COLUMN combine VARCHAR;

CREATE TABLE not_http (
    run    INTEGER NOT NULL,
    status INTEGER NOT NULL,
    lines  BIGINT  NOT NULL
);

UPDATE shadow_schema SET version = 9;
