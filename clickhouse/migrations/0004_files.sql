-- Files: content addressed; small ones inline in chunks of 100,000 bytes, large ones as blobs named by their digest.

CREATE TABLE IF NOT EXISTS callhouse.files_in
(
    _record String,
    project_id String,
    digest String,
    clock UInt64,
    chunk_index UInt32,
    n_chunks UInt32,
    name String,
    size_bytes UInt64,
    blob String,
    content String
) ENGINE = Null;

CREATE TABLE IF NOT EXISTS callhouse.files
(
    project_id String,
    digest String,
    chunk_index UInt32,
    n_chunks UInt32,
    name String,
    size_bytes UInt64,
    blob String,
    content String CODEC(ZSTD(1)),
    clock UInt64
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, digest, chunk_index)
SETTINGS index_granularity = 64,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.files_in_to_files TO callhouse.files AS
SELECT project_id, digest, chunk_index, n_chunks, name, size_bytes, blob, base64Decode(content) AS content, clock
FROM callhouse.files_in;
