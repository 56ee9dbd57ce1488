-- Where a batch of a tail stands before append.sql brings it into the run. These tables go with the connection.

CREATE OR REPLACE TEMP TABLE new_clients (
    place INTEGER, name VARCHAR, agent VARCHAR, agent_class VARCHAR,
    browser BIGINT, crawler BIGINT, tool BIGINT, monitor BIGINT, unknown BIGINT
);
CREATE OR REPLACE TEMP TABLE new_actions (place INTEGER, name VARCHAR, requests BIGINT);
CREATE OR REPLACE TEMP TABLE new_policies (policy INTEGER, refused BIGINT, saved BIGINT);
CREATE OR REPLACE TEMP TABLE new_events (policy INTEGER, time TIMESTAMP, client INTEGER, action INTEGER, status INTEGER, count BIGINT);
