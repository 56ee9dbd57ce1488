-- The strictest limit of each curve of two runs that spares enough clients of a class.

WITH sides AS (
    SELECT c.run, c.limit_kind, coalesce(c.per_us, 0) AS per_us, coalesce(c.rate_count, 0) AS rate_count, coalesce(c.rate_per_us, 0) AS rate_per_us,
           c.counts_by, coalesce(c.action, '') AS action, any_value(c.curve) AS curve,
           coalesce(min(p.limit_count) FILTER ($hit * 1000000 <= n.clients * $hits_per_million), CASE WHEN any_value(c.points) = 0 THEN 1 END) AS safe
    FROM curves c
    JOIN (
        SELECT run, curve, coalesce($clients, CASE WHEN action IS NULL THEN (SELECT count(*) FROM clients k WHERE k.run = curves.run AND k.class = '$class') END) AS clients
        FROM curves WHERE run IN ($before, $now)
    ) n ON n.run = c.run AND n.curve = c.curve
    LEFT JOIN curve_points p ON p.run = c.run AND p.curve = c.curve
    WHERE c.run IN ($before, $now) GROUP BY ALL
)
SELECT b.per_us, b.rate_count, b.rate_per_us, a.safe, b.safe, b.limit_kind, b.counts_by, b.action
FROM sides a JOIN sides b USING (limit_kind, per_us, rate_count, rate_per_us, counts_by, action)
WHERE a.run = $before AND b.run = $now AND a.safe IS NOT NULL AND b.safe IS NOT NULL ORDER BY b.curve
