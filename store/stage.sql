-- Where batches of a tail stand before append.sql brings them into the run. These tables go with the connection.

CREATE OR REPLACE TEMP TABLE new_sums (
    lines BIGINT, bytes BIGINT, unreadable BIGINT, excluded BIGINT, late BIGINT, requests BIGINT, refusals BIGINT,
    first_at TIMESTAMP, last_at TIMESTAMP, resolution_us BIGINT, not_http BIGINT, not_http_judged BOOLEAN, moved BIGINT
);
CREATE OR REPLACE TEMP TABLE new_not_http (status INTEGER, lines BIGINT);
CREATE OR REPLACE TEMP TABLE new_policies (policy INTEGER, refused BIGINT, saved BIGINT, degraded BIGINT, degraded_refused BIGINT);
CREATE OR REPLACE TEMP TABLE new_agents (place INTEGER, name VARCHAR, class VARCHAR);
CREATE OR REPLACE TEMP TABLE new_clients (
    place INTEGER, name VARCHAR, agent INTEGER, browser BIGINT, crawler BIGINT, tool BIGINT, monitor BIGINT, unknown BIGINT
);
CREATE OR REPLACE TEMP TABLE new_inputs (
    place INTEGER, name VARCHAR, format VARCHAR, format_text VARCHAR, lines BIGINT, parsed BIGINT, unreadable BIGINT
);
CREATE OR REPLACE TEMP TABLE new_faults (place INTEGER, input VARCHAR, col INTEGER, reason VARCHAR, text VARCHAR);
CREATE OR REPLACE TEMP TABLE new_actions (place INTEGER, name VARCHAR, requests BIGINT);
CREATE OR REPLACE TEMP TABLE new_events (policy INTEGER, time TIMESTAMP, client INTEGER, action INTEGER, status INTEGER, count BIGINT, degraded BOOLEAN);
