-- What keys take of projects, minute by minute: each process writes the whole of its counts of a minute, again when they grow.

CREATE TABLE IF NOT EXISTS callhouse.usage_in
(
    _record String,
    project_id String,
    minute_s Int64,
    key_id String,
    process String,
    clock UInt64,
    requests UInt64,
    refused UInt64,
    calls UInt64,
    bytes_in UInt64,
    bytes_stored UInt64,
    reads UInt64,
    read_ms UInt64,
    read_bytes UInt64,
    sampled_out UInt64,
    masked UInt64
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.usage_minutes
(
    project_id String,
    minute DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
    key_id String CODEC(ZSTD(1)),
    process String CODEC(ZSTD(1)),
    clock UInt64 CODEC(Delta(8), ZSTD(1)),
    requests UInt64 CODEC(T64, ZSTD(1)),
    refused UInt64 CODEC(T64, ZSTD(1)),
    calls UInt64 CODEC(T64, ZSTD(1)),
    bytes_in UInt64 CODEC(T64, ZSTD(1)),
    bytes_stored UInt64 CODEC(T64, ZSTD(1)),
    reads UInt64 CODEC(T64, ZSTD(1)),
    read_ms UInt64 CODEC(T64, ZSTD(1)),
    read_bytes UInt64 CODEC(T64, ZSTD(1)),
    sampled_out UInt64 CODEC(T64, ZSTD(1)),
    masked UInt64 CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(clock)
PARTITION BY toYYYYMM(minute)
ORDER BY (project_id, minute, key_id, process)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.usage_in_to_minutes TO callhouse.usage_minutes AS
SELECT
    project_id, toDateTime(minute_s, 'UTC') AS minute, key_id, process, clock,
    requests, refused, calls, bytes_in, bytes_stored, reads, read_ms, read_bytes, sampled_out, masked
FROM callhouse.usage_in;
