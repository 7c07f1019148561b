-- What traces have in each minute: spans, errors, times and tokens. What a list of traces is ordered and filtered by
-- (docs/adr/0062).

-- A bucket is one row, a minute (`seconds` 60) or a second of a minute with many calls (1), replaced as a whole when it is
-- recomputed: what is gone of a trace leaves nothing behind. A trace is known by the hash of its id.
CREATE TABLE IF NOT EXISTS callhouse.trace_parts
(
    project_id String,
    seconds UInt16,
    bucket DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    revision UInt64,
    calls UInt64,
    -- One entry per trace. Times are microseconds from the start of the bucket; `root_at` is that of its first root and one
    -- more, 0 = it has none here.
    trace Array(UInt128),
    spans Array(UInt32),
    errors Array(UInt32),
    running Array(UInt32),
    begun Array(UInt32),
    ended Array(Int64),
    root_at Array(UInt32),
    -- Tokens of roots and of calls that came as spans, and those of other calls, which the first include where there are any.
    has_top Array(UInt8),
    top_input Array(Float64),
    top_output Array(Float64),
    top_total Array(Float64),
    other_input Array(Float64),
    other_output Array(Float64),
    other_total Array(Float64),
    -- One entry per trace, model and which of these it is (`usage_top`): what costs are made of.
    usage_trace Array(UInt128),
    usage_model Array(LowCardinality(String)),
    usage_top Array(UInt8),
    usage_input Array(Float64),
    usage_output Array(Float64),
    usage_inside Array(Float64),
    usage_apart Array(Float64),
    usage_billed_read Array(Float64),
    usage_billed_write Array(Float64),
    usage_billed_write_1h Array(Float64),
    usage_more_output Array(Float64)
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(bucket)
ORDER BY (project_id, seconds, bucket)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
