-- What spans count for themselves that report the sum of those below them (docs/adr/0059): of such spans the usage stands
-- here, of all other calls in `calls`. A span that is none any more, as what was below it is gone, has `nested` 0.
CREATE TABLE IF NOT EXISTS callhouse.usage_shares
(
    project_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    nested UInt8,
    input Int64,
    output Int64,
    total Int64,
    cache_read Int64,
    cache_write Int64,
    -- as in `billed_usage`
    inside Int64,
    billed_read Int64,
    billed_write Int64,
    billed_write_1h Int64,
    more_output Int64,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, started_at, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
