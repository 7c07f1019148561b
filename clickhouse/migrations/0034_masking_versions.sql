-- By which rules of masking a payload was masked: `mask` counts the changes of the rules that reach its project, 0 = none
-- did; `mask_hits` counts the values that they hit. The views of the landing tables pass both on.
ALTER TABLE callhouse.payloads ADD COLUMN IF NOT EXISTS mask UInt32, ADD COLUMN IF NOT EXISTS mask_hits UInt16;
ALTER TABLE callhouse.calls_in ADD COLUMN IF NOT EXISTS mask UInt32, ADD COLUMN IF NOT EXISTS mask_hits UInt16;
ALTER TABLE callhouse.finished_calls_in ADD COLUMN IF NOT EXISTS mask UInt32, ADD COLUMN IF NOT EXISTS mask_hits UInt16;
ALTER TABLE callhouse.begun_calls_in ADD COLUMN IF NOT EXISTS mask UInt32, ADD COLUMN IF NOT EXISTS mask_hits UInt16;
ALTER TABLE callhouse.unbilled_calls_in ADD COLUMN IF NOT EXISTS mask UInt32, ADD COLUMN IF NOT EXISTS mask_hits UInt16;
ALTER TABLE callhouse.unbilled_begun_calls_in ADD COLUMN IF NOT EXISTS mask UInt32, ADD COLUMN IF NOT EXISTS mask_hits UInt16;

ALTER TABLE callhouse.calls_in_to_payloads MODIFY QUERY
SELECT
    project_id, fromUnixTimestamp64Micro(if(kind = 'end', payload_us, started_us), 'UTC') AS at, id,
    CAST(multiIf(kind = 'complete', 0, kind = 'start', 1, 2), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump, mask, mask_hits
FROM callhouse.calls_in
WHERE kind IN ('complete', 'start', 'end');

ALTER TABLE callhouse.finished_calls_in_to_payloads MODIFY QUERY
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(0, 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump, mask, mask_hits
FROM callhouse.finished_calls_in;

ALTER TABLE callhouse.begun_calls_in_to_payloads MODIFY QUERY
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(if(kind = 'complete', 0, 1), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump, mask, mask_hits
FROM callhouse.begun_calls_in;

ALTER TABLE callhouse.unbilled_calls_in_to_payloads MODIFY QUERY
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(0, 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump, mask, mask_hits,
    CAST([], 'Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))') AS billed_usage,
    toUInt8(0) AS counts_cached
FROM callhouse.unbilled_calls_in;

ALTER TABLE callhouse.unbilled_begun_calls_in_to_payloads MODIFY QUERY
SELECT
    project_id, fromUnixTimestamp64Micro(started_us, 'UTC') AS at, id,
    CAST(if(kind = 'complete', 0, 1), 'Enum8(\'both\' = 0, \'start\' = 1, \'end\' = 2)') AS part,
    clock, odd, attributes, inputs, output, summary, otel_dump, mask, mask_hits,
    CAST([], 'Array(Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64))') AS billed_usage,
    kind = 'start' AND (otel_dump != ''
        OR (position(attributes, 'python-sdk') > 0 AND JSONExtractString(attributes, 'weave', 'source') = 'python-sdk'
            AND arrayMap(n -> toUInt32OrZero(n), splitByChar('.', JSONExtractString(attributes, 'weave', 'client_version'))) >= [0, 54])) AS counts_cached
FROM callhouse.unbilled_begun_calls_in;
