-- Rows that the store refused, where workers keep nothing on their own disks: one row per place in the log.

-- A letter that is found again keeps its first time, and one that was sent again outweighs it: see its version.
CREATE TABLE IF NOT EXISTS callhouse.dead_letters
(
    topic LowCardinality(String),
    partition UInt32,
    offset UInt64,
    row_index UInt32,
    id String,
    at DateTime64(3, 'UTC'),
    replayed_at DateTime64(3, 'UTC'),
    reason String CODEC(ZSTD(1)),
    row String CODEC(ZSTD(1)),
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (topic, partition, offset, row_index, id)
SETTINGS index_granularity = 128,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
