-- From schema 7, in which verdicts that hosts might have reached otherwise together looked like all others, and runs of a
-- tail did not tell what it read, to schema 8. views.sql follows.

ALTER TABLE events ADD COLUMN degraded BOOLEAN;
ALTER TABLE policies ADD COLUMN degraded BIGINT;
ALTER TABLE policies ADD COLUMN degraded_refused BIGINT;
ALTER TABLE runs ADD COLUMN tail VARCHAR;

UPDATE shadow_schema SET version = 8;
