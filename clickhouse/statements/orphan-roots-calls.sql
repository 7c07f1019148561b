-- What changes of some traces: topmost calls of those that have no root, and got nothing new since a time (`quiet`), were over
-- before a time (`ended`, 0 = whenever they were) or have such calls already; and calls that stand for a root and are none of
-- these.
WITH
    named AS (SELECT arrayJoin(arrayZip({projects:Array(String)}, {traces:Array(String)})) AS pair, pair.1 AS project_id, pair.2 AS trace_id),
    visible AS
    (
        SELECT
            project_id, trace_id, started_at, id, parent_id, greatest(start_ver, end_ver) AS newest,
            toUnixTimestamp64Micro(if(end_ver > 0, greatest(ended_at, started_at), started_at)) AS last
        FROM callhouse.calls FINAL
        WHERE (project_id, started_at) IN
            (
                SELECT project_id, started_at FROM callhouse.call_keys
                WHERE kind = 'trace_id' AND (project_id, key) IN (SELECT project_id, trace_id FROM named)
            )
            AND (project_id, trace_id) IN (SELECT project_id, trace_id FROM named)
            AND delete_ver = 0 AND moved = 0
    ),
    stored AS
    (
        SELECT project_id, trace_id, started_at, id FROM callhouse.orphan_roots FINAL
        WHERE is_orphan = 1 AND (project_id, trace_id) IN (SELECT project_id, trace_id FROM named)
    ),
    rootless AS
    (
        SELECT project_id, trace_id, groupArray((started_at, id, parent_id)) AS calls, groupArray(id) AS ids
        FROM visible
        GROUP BY project_id, trace_id
        -- an accept timestamp has microseconds in its upper bits
        HAVING countIf(parent_id = '') = 0
            AND (bitShiftRight(max(newest), 10) <= {quiet:UInt64} OR max(last) <= {ended:Int64} OR (project_id, trace_id) IN (SELECT project_id, trace_id FROM stored))
    ),
    found AS
    (
        SELECT project_id, trace_id, topmost.1 AS started_at, topmost.2 AS id
        FROM (SELECT project_id, trace_id, ids, arrayJoin(calls) AS topmost FROM rootless)
        WHERE NOT has(ids, topmost.3)
    )
SELECT
    project_id AS project, trace_id AS trace, toFloat64(toUnixTimestamp64Micro(started_at)) AS started_us, id,
    max(of.is_found) AS is_orphan, max(of.is_stored) AS was_orphan
FROM
(
    SELECT project_id, trace_id, started_at, id, 1 AS is_found, 0 AS is_stored FROM found
    UNION ALL
    SELECT project_id, trace_id, started_at, id, 0, 1 FROM stored
) AS of
GROUP BY project_id, trace_id, started_at, id
HAVING is_orphan != was_orphan
