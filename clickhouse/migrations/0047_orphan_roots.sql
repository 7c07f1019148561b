-- Topmost calls of traces whose root never came (docs/adr/0063): they stand for it in lists of roots. A call that is none any
-- more, as its parent or a root came after all, has `is_orphan` 0.
CREATE TABLE IF NOT EXISTS callhouse.orphan_roots
(
    project_id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id String,
    trace_id String,
    is_orphan UInt8,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, started_at, id)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
