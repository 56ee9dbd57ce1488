-- From schema 4 to schema 5. views.sql follows.

UPDATE shadow_schema SET version = 5;
