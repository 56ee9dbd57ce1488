-- From schema 3, in which a run forgot its warnings, its time zone, and the classes of a curve's clients, to schema 4. views.sql follows.

ALTER TABLE runs ADD COLUMN timezone VARCHAR;

CREATE TABLE warnings (
    run     INTEGER NOT NULL,
    warning INTEGER NOT NULL,
    text    VARCHAR NOT NULL
);

ALTER TABLE curves ADD COLUMN browser_clients BIGINT;
ALTER TABLE curves ADD COLUMN crawler_clients BIGINT;
ALTER TABLE curves ADD COLUMN tool_clients BIGINT;
ALTER TABLE curves ADD COLUMN monitor_clients BIGINT;
ALTER TABLE curves ADD COLUMN unknown_clients BIGINT;

UPDATE shadow_schema SET version = 4;
