-- From schema 5, in which no replay could be gone on with, to schema 6. views.sql follows.

ALTER TABLE runs ADD COLUMN carried BIGINT;
ALTER TABLE runs ADD COLUMN held BIGINT;
ALTER TABLE runs ADD COLUMN held_from TIMESTAMP;

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
