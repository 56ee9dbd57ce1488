-- From schema 3, in which a run forgot its warnings and its time zone, to schema 4. views.sql follows.

ALTER TABLE runs ADD COLUMN timezone VARCHAR;

CREATE TABLE warnings (
    run     INTEGER NOT NULL,
    warning INTEGER NOT NULL,
    text    VARCHAR NOT NULL
);

UPDATE shadow_schema SET version = 4;
