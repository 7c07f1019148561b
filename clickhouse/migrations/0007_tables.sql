-- Tables: each row once per content, and a table as the ordered list of its rows' digests, in chunks.

CREATE TABLE IF NOT EXISTS callhouse.tables_in
(
    _record String,
    project_id String,
    kind Enum8('row' = 1, 'list' = 2),
    digest String,
    clock UInt64,
    size_bytes UInt64,
    chunk_index UInt32,
    row_count UInt64,
    row_digests Array(String),
    val String
) ENGINE = Null;

-- The first spelling of a row stays: a smaller clock has the greater age.
CREATE TABLE IF NOT EXISTS callhouse.table_rows
(
    project_id String,
    digest String,
    age UInt64,
    size_bytes UInt64,
    val String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(age)
ORDER BY (project_id, digest)
SETTINGS index_granularity = 64,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

-- Chunks of 1,000 digests, the last one shorter; an empty table is one empty chunk. `row_count` is the whole table's.
CREATE TABLE IF NOT EXISTS callhouse.table_lists
(
    project_id String,
    digest String,
    chunk_index UInt32,
    age UInt64,
    row_count UInt64,
    row_digests Array(String) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(age)
ORDER BY (project_id, digest, chunk_index)
SETTINGS index_granularity = 16,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.tables_in_to_rows TO callhouse.table_rows AS
SELECT project_id, digest, bitNot(clock) AS age, size_bytes, val
FROM callhouse.tables_in
WHERE kind = 'row';

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.tables_in_to_lists TO callhouse.table_lists AS
SELECT project_id, digest, chunk_index, bitNot(clock) AS age, row_count, row_digests
FROM callhouse.tables_in
WHERE kind = 'list';
