-- Statistics per minute and hour: what time series of calls and their usage are put together from (docs/adr/0012).

-- A bucket is one row for its roots and one for its other calls, replaced as a whole when it is recomputed. Usage is a
-- list: one entry per model and, within the other calls, one for those that came as spans (`usage_top`, as all roots).
CREATE TABLE IF NOT EXISTS callhouse.call_stats
(
    project_id String,
    seconds UInt16,
    bucket DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    root UInt8,
    revision UInt64,
    calls UInt64,
    errors UInt64,
    -- Calls with a latency; `latencies` are the values themselves, of minutes only.
    timed UInt64,
    latency_sum Float64,
    latency_min UInt64,
    latency_max UInt64,
    latency_ones UInt64,
    latency_zeros UInt64,
    latencies Array(UInt64) CODEC(T64, ZSTD(1)),
    usage_model Array(LowCardinality(String)),
    usage_top Array(UInt8),
    usage_points Array(UInt64),
    usage_input_sum Array(Float64),
    usage_input_min Array(Int64),
    usage_input_max Array(Int64),
    usage_output_sum Array(Float64),
    usage_output_min Array(Int64),
    usage_output_max Array(Int64),
    usage_total_sum Array(Float64),
    usage_cache_read_sum Array(Float64),
    usage_cache_read_min Array(Int64),
    usage_cache_read_max Array(Int64),
    usage_cache_write_sum Array(Float64),
    usage_cache_write_min Array(Int64),
    usage_cache_write_max Array(Int64)
)
ENGINE = ReplacingMergeTree(revision)
PARTITION BY toYYYYMM(bucket)
ORDER BY (project_id, seconds, bucket, root)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
