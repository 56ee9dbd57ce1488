-- From schema 5, in which no replay could be gone on with, to schema 6. views.sql follows.

ALTER TABLE runs ADD COLUMN carried BIGINT;
ALTER TABLE runs ADD COLUMN held BIGINT;
ALTER TABLE runs ADD COLUMN held_from TIMESTAMP;

CREATE TABLE levels (
    run     INTEGER   NOT NULL,
    policy  INTEGER   NOT NULL,
    part    INTEGER   NOT NULL,
    client  INTEGER   NOT NULL,
    time    TIMESTAMP NOT NULL,
    level   DOUBLE    NOT NULL,
    full_at BIGINT    NOT NULL,
    refused BIGINT    NOT NULL
);

CREATE TABLE states (
    run     INTEGER   NOT NULL,
    name    VARCHAR   NOT NULL,
    written TIMESTAMP NOT NULL,
    options VARCHAR   NOT NULL,
    logs    VARCHAR   NOT NULL
);

CREATE TABLE state_pieces (
    run   INTEGER NOT NULL,
    name  VARCHAR NOT NULL,
    piece INTEGER NOT NULL,
    bytes BLOB    NOT NULL
);

UPDATE shadow_schema SET version = 6;
