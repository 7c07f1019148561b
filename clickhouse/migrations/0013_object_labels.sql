-- Tags and aliases of object versions: one row per label, the newest event decides whether it is set.

CREATE TABLE IF NOT EXISTS callhouse.object_labels_in
(
    _record String,
    project_id String,
    object_id String,
    label_kind Enum8('tag' = 1, 'alias' = 2),
    label String,
    digest String,
    clock UInt64,
    is_set UInt8
) ENGINE = Null;

-- A tag belongs to a version (`scope` is its digest), an alias to the object (`scope` is empty): setting it moves it.
CREATE TABLE IF NOT EXISTS callhouse.object_labels
(
    project_id String,
    object_id String,
    label_kind Enum8('tag' = 1, 'alias' = 2),
    scope String,
    label String,
    digest String,
    clock UInt64,
    is_set UInt8
)
ENGINE = ReplacingMergeTree(clock)
ORDER BY (project_id, object_id, label_kind, scope, label)
SETTINGS index_granularity = 1024,
    fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;

CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse.object_labels_in_to_labels TO callhouse.object_labels AS
SELECT project_id, object_id, label_kind, if(label_kind = 'tag', digest, '') AS scope, label, digest, clock, is_set
FROM callhouse.object_labels_in;
