-- How the pieces of a run are added up, by table. $clients stands for the rows of all its pieces, each with the name of its
-- file: names sort as pieces were made. Ids are the same in all pieces of a run. Tables that are not here are put one
-- behind the other.

-- runs
SELECT run, any_value(command) AS command, any_value(version) AS version, min(started) AS started, max(finished) AS finished,
       sum(lines)::BIGINT AS lines, sum(bytes)::BIGINT AS bytes, sum(parsed)::BIGINT AS parsed, sum(unreadable)::BIGINT AS unreadable,
       sum(excluded)::BIGINT AS excluded, sum(warm)::BIGINT AS warm, sum(requests)::BIGINT AS requests, sum(late)::BIGINT AS late,
       sum(refusals)::BIGINT AS refusals, min(first_at) AS first_at, max(last_at) AS last_at,
       coalesce(min(nullif(resolution_us, 0)), 0) AS resolution_us, bool_or(has_agents) AS has_agents, bool_or(has_upstream) AS has_upstream,
       any_value(timezone) AS timezone, sum(carried)::BIGINT AS carried, sum(held)::BIGINT AS held, min(held_from) AS held_from,
       any_value(tail) AS tail, sum(not_http)::BIGINT AS not_http, bool_or(not_http_judged) AS not_http_judged,
       sum(moved)::BIGINT AS moved, max(days) AS days, max(clients) AS clients
FROM $runs GROUP BY run

-- not_http
SELECT run, status, sum(lines)::BIGINT AS lines FROM $not_http GROUP BY run, status

-- inputs
SELECT run, input, any_value(name) AS name, arg_max(format, filename) AS format, arg_max(format_text, filename) AS format_text,
       any_value(compression) AS compression, any_value(size) AS size, any_value(head_hash) AS head_hash, any_value(tail_hash) AS tail_hash,
       sum(lines)::BIGINT AS lines, sum(parsed)::BIGINT AS parsed, sum(unreadable)::BIGINT AS unreadable,
       min(first_at) AS first_at, max(last_at) AS last_at, any_value(problem) AS problem
FROM $inputs GROUP BY run, input

-- policies
SELECT run, policy, p.name, p.counts_by, p.requests, p.refused, coalesce(h.clients_hit, 0) AS clients_hit,
       w.worst_minute, coalesce(w.worst_minute_refused, 0)::BIGINT AS worst_minute_refused, p.bytes_saved, p.upstream_saved_us, p.events_kept,
       p.delayed, p.delay_total_us, p.delay_p50_us, p.delay_p99_us, p.refused_low, p.refused_high, p.clients_hit_low, p.clients_hit_high,
       p.degraded, p.degraded_refused, p.combine
FROM (
    SELECT run, policy, any_value(name) AS name, any_value(counts_by) AS counts_by, sum(requests)::BIGINT AS requests, sum(refused)::BIGINT AS refused,
           sum(bytes_saved)::BIGINT AS bytes_saved, sum(upstream_saved_us)::BIGINT AS upstream_saved_us, bool_and(events_kept) AS events_kept,
           any_value(delayed) AS delayed, any_value(delay_total_us) AS delay_total_us, any_value(delay_p50_us) AS delay_p50_us,
           any_value(delay_p99_us) AS delay_p99_us, any_value(refused_low) AS refused_low, any_value(refused_high) AS refused_high,
           any_value(clients_hit_low) AS clients_hit_low, any_value(clients_hit_high) AS clients_hit_high,
           sum(degraded)::BIGINT AS degraded, sum(degraded_refused)::BIGINT AS degraded_refused, any_value(combine) AS combine
    FROM $policies GROUP BY run, policy
) p
LEFT JOIN (SELECT run, policy, count(DISTINCT client) AS clients_hit FROM $client_tallies GROUP BY run, policy) h USING (run, policy)
LEFT JOIN (
    SELECT run, policy, arg_max(minute, (refused, -epoch(minute))) AS worst_minute, max(refused) AS worst_minute_refused
    FROM (
        SELECT r.run, s.policy, date_trunc('minute', r.time) AS minute, sum(r.count)::BIGINT AS refused
        FROM $refusals r JOIN $policy_sets s ON s.run = r.run AND s.policy_set = r.policy_set GROUP BY ALL
    ) GROUP BY run, policy
) w USING (run, policy)

-- clients
SELECT run, client, name, ['browser', 'crawler', 'tool', 'monitor', 'unknown'][list_position([browser, crawler, tool, monitor, unknown],
       greatest(browser, crawler, tool, monitor, unknown))] AS class, agent, requests, browser, crawler, tool, monitor, unknown
FROM (
    SELECT run, client, any_value(name) AS name, arg_max(agent, filename) AS agent, sum(requests)::BIGINT AS requests,
           sum(browser)::BIGINT AS browser, sum(crawler)::BIGINT AS crawler, sum(tool)::BIGINT AS tool, sum(monitor)::BIGINT AS monitor,
           sum(unknown)::BIGINT AS unknown
    FROM $clients GROUP BY run, client
)

-- actions
SELECT run, action, any_value(name) AS name, sum(requests)::BIGINT AS requests FROM $actions GROUP BY run, action

-- client_tallies
SELECT run, policy, client, sum(refused)::BIGINT AS refused, min(first_refused) AS first_refused, max(last_refused) AS last_refused
FROM $client_tallies GROUP BY run, policy, client

-- action_tallies
SELECT run, policy, action, sum(refused)::BIGINT AS refused FROM $action_tallies GROUP BY run, policy, action

-- tails
SELECT run, tail, max(batch) AS batch, any_value(policies) AS policies FROM $tails GROUP BY run, tail
