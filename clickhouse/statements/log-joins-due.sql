-- Spans with log records that are not counted in their calls yet, among those that arrived lately or whose spans did.
WITH due AS
(
    SELECT DISTINCT project_id, trace_id, span_id FROM callhouse.log_joins
    WHERE arrived >= now() - {seconds:UInt32} AND span_id != '' AND event_name IN {events:Array(String)}
        AND (empty({slots:Array(UInt8)}) OR has({slots:Array(UInt8)}, CRC32(project_id) % 64))
)
SELECT
    stored.project_id AS project_id, stored.trace_id AS trace_id, stored.id AS id,
    toString(stored.start_ver) AS clock,
    toString(joined.base) AS base, toString(joined.clock) AS joined_clock, toUInt32(joined.events) AS joined_events,
    toUInt32(sent.events) AS events, stored.bytes AS bytes
FROM
(
    SELECT project_id, trace_id, started_at, id, start_ver, toUInt32(least(start_bytes + end_bytes, 4000000000)) AS bytes
    FROM callhouse.calls FINAL
    WHERE (project_id, started_at, id) IN
        (
            SELECT project_id, started_at, key FROM callhouse.call_keys
            WHERE kind = 'id' AND (project_id, key) IN (SELECT project_id, span_id FROM due)
        )
        AND (project_id, trace_id, id) IN (SELECT project_id, trace_id, span_id FROM due)
        AND moved = 0 AND delete_ver = 0 AND end_ver = start_ver
) AS stored
INNER JOIN
(
    SELECT project_id, trace_id, span_id, uniqExact(id) AS events
    FROM callhouse.logs_by_span
    WHERE (project_id, trace_id, span_id) IN (SELECT project_id, trace_id, span_id FROM due)
        AND event_name IN {events:Array(String)}
    GROUP BY project_id, trace_id, span_id
) AS sent ON sent.project_id = stored.project_id AND sent.trace_id = stored.trace_id AND sent.span_id = stored.id
LEFT JOIN
(
    SELECT project_id, trace_id, span_id, tupleElement(newest, 3) AS base, tupleElement(newest, 1) AS clock,
        tupleElement(newest, 2) AS events
    FROM
    (
        SELECT project_id, trace_id, span_id, max((clock, events, base)) AS newest
        FROM callhouse.log_joined
        WHERE (project_id, trace_id, span_id) IN (SELECT project_id, trace_id, span_id FROM due)
        GROUP BY project_id, trace_id, span_id
    )
) AS joined ON joined.project_id = stored.project_id AND joined.trace_id = stored.trace_id AND joined.span_id = stored.id
WHERE NOT ((stored.start_ver = joined.base OR stored.start_ver = joined.clock) AND sent.events <= joined.events)
LIMIT {limit:UInt32}
