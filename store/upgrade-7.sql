-- From schema 6, in which a run forgot the evidence about clients, to schema 7. views.sql follows.

CREATE TABLE client_evidence (
    run     INTEGER NOT NULL,
    client  INTEGER NOT NULL,
    verdict VARCHAR NOT NULL,
    shared  BOOLEAN NOT NULL,
    reasons VARCHAR
);

ALTER TABLE curves ADD COLUMN disguised_clients BIGINT;
ALTER TABLE curve_points ADD COLUMN disguised_refused BIGINT;
ALTER TABLE curve_points ADD COLUMN disguised_clients_hit BIGINT;

UPDATE shadow_schema SET version = 7;
