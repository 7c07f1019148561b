-- Deleted calls: what hides their feedback and queue items. Filled like the other thin copies, and as long kept.
CREATE TABLE IF NOT EXISTS callhouse.calls_deleted
(
    project_id String,
    id String,
    started_at DateTime64(6, 'UTC') CODEC(Delta(8), ZSTD(1)),
    delete_ver UInt64
)
ENGINE = ReplacingMergeTree(delete_ver)
PARTITION BY toYYYYMM(started_at)
ORDER BY (project_id, id, started_at)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.calls_to_deleted TO callhouse.calls_deleted AS
SELECT project_id, id, started_at, delete_ver FROM callhouse.calls WHERE delete_ver > 0;

-- Those that were deleted before.
INSERT INTO callhouse.calls_deleted SELECT project_id, id, started_at, delete_ver FROM callhouse.calls WHERE delete_ver > 0;
