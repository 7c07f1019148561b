-- Stored calls with their payloads, and what was joined with them last. `dumps` = 1: only those of spans.
WITH
wanted AS
(
    SELECT row.1 AS project_id, row.2 AS trace_id, row.3 AS id
    FROM (SELECT arrayJoin(arrayZip({projects:Array(String)}, {traces:Array(String)}, {ids:Array(String)})) AS row)
),
keys AS
(
    SELECT project_id, started_at, key AS id FROM callhouse.call_keys
    WHERE kind = 'id' AND (project_id, key) IN (SELECT project_id, id FROM wanted)
)
SELECT
    c.project_id AS project_id, c.id AS id, toString(c.start_ver) AS clock, c.trace_id AS trace_id,
    toString(toUnixTimestamp64Micro(c.started_at)) AS started_us, toString(toUnixTimestamp64Micro(c.ended_at)) AS ended_us,
    c.parent_id AS parent_id, c.thread_id AS thread_id, c.turn_id AS turn_id, c.op_name AS op_name,
    c.exception AS exception, c.user_id AS user_id, c.run_id AS run_id, toString(c.run_step) AS run_step,
    toString(c.run_step_end) AS run_step_end, c.input_refs AS input_refs, c.output_refs AS output_refs,
    c.error_count AS error_count, c.usage_model AS usage_model,
    arrayMap(n -> toString(n), c.usage_requests) AS usage_requests, arrayMap(n -> toString(n), c.usage_input) AS usage_input,
    arrayMap(n -> toString(n), c.usage_output) AS usage_output, arrayMap(n -> toString(n), c.usage_total) AS usage_total,
    arrayMap(n -> toString(n), c.usage_cache_read) AS usage_cache_read,
    arrayMap(n -> toString(n), c.usage_cache_write) AS usage_cache_write,
    p.odd AS odd, p.attributes AS attributes, p.inputs AS inputs, p.output AS output, p.summary AS summary,
    p.otel_dump AS otel_dump, p.mask AS mask, p.mask_hits AS mask_hits,
    toString(tupleElement(joined.newest, 2)) AS base, toString(tupleElement(joined.newest, 1)) AS joined_clock
FROM
(
    SELECT * FROM callhouse.calls FINAL
    WHERE (project_id, started_at, id) IN (SELECT project_id, started_at, id FROM keys)
        AND (project_id, trace_id, id) IN (SELECT project_id, trace_id, id FROM wanted)
        AND moved = 0 AND delete_ver = 0 AND end_ver = start_ver
) AS c
INNER JOIN
(
    SELECT project_id, at, id, clock, odd, attributes, inputs, output, summary, otel_dump, mask, mask_hits FROM callhouse.payloads
    WHERE part = 'both' AND ({dumps:UInt8} = 0 OR otel_dump != '')
        AND (project_id, at, id) IN (SELECT project_id, started_at, id FROM keys)
    LIMIT 1 BY project_id, at, id, clock
) AS p ON p.project_id = c.project_id AND p.at = c.started_at AND p.id = c.id AND p.clock = c.start_ver
LEFT JOIN
(
    SELECT project_id, trace_id, span_id, max((clock, base)) AS newest
    FROM callhouse.log_joined
    WHERE (project_id, trace_id, span_id) IN (SELECT project_id, trace_id, id FROM wanted)
    GROUP BY project_id, trace_id, span_id
) AS joined ON joined.project_id = c.project_id AND joined.trace_id = c.trace_id AND joined.span_id = c.id
