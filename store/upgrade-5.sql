-- From schema 4, in which a run is stored at once, to schema 5, in which that of a tail grows. views.sql follows.

CREATE TABLE tails (
    tail     VARCHAR   NOT NULL,
    batch    BIGINT    NOT NULL,
    run      INTEGER   NOT NULL,
    started  TIMESTAMP NOT NULL,
    policies VARCHAR   NOT NULL
);

UPDATE shadow_schema SET version = 5;
