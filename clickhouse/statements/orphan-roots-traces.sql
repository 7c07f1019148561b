-- Traces of some minutes that may have lost or found a root: those with no root in such a minute, and those with topmost calls
-- that stand for one.
WITH
    due AS
    (
        SELECT one.1 AS project_id, toDateTime(one.2, 'UTC') AS minute
        FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {minutes:Array(UInt32)})) AS one)
    ),
    parts AS
    (
        SELECT project_id, bucket, entry.1 AS trace, max(entry.2) AS root_at
        FROM
        (
            SELECT project_id, bucket, arrayJoin(arrayZip(trace, root_at)) AS entry
            FROM callhouse.trace_parts FINAL
            WHERE seconds = 60 AND (project_id, bucket) IN (SELECT project_id, minute FROM due)
        )
        GROUP BY project_id, bucket, trace
    )
SELECT project_id AS project, trace_id AS trace
FROM callhouse.calls
WHERE parent_id != '' AND trace_id != ''
    AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
    AND (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
    AND (project_id, reinterpretAsUInt128(sipHash128(trace_id))) IN (SELECT project_id, trace FROM parts WHERE root_at = 0)
UNION DISTINCT
SELECT project_id AS project, trace_id AS trace
FROM callhouse.orphan_roots FINAL
WHERE is_orphan = 1 AND project_id IN {projects:Array(String)}
    AND
    (
        (project_id, toStartOfMinute(started_at)) IN (SELECT project_id, minute FROM due)
        OR (project_id, reinterpretAsUInt128(sipHash128(trace_id))) IN (SELECT project_id, trace FROM parts)
    )
