-- Clean-up that follows from what changed since (docs/adr/0037).

-- Nothing is merged for its age alone: one renamed call would have its whole month written again. The worker merges old
-- months of `calls` when enough of them has changed; payloads are found by their keys, without FINAL.
ALTER TABLE callhouse.calls MODIFY SETTING min_age_to_force_merge_seconds = 0, min_age_to_force_merge_on_partition_only = 0;

ALTER TABLE callhouse.payloads MODIFY SETTING min_age_to_force_merge_seconds = 0, min_age_to_force_merge_on_partition_only = 0;

-- Minutes of batches whose finished calls were not looked for under other start times: the sweep looks at them.
CREATE TABLE IF NOT EXISTS callhouse.call_unswept
(
    project_id String,
    partition UInt32,
    position UInt64,
    minute DateTime('UTC')
)
ENGINE = ReplacingMergeTree
PARTITION BY intDiv(position, 1000000)
ORDER BY (project_id, position, minute, partition)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 120;
