-- Rewrites the files of a partition without its removed rows.
ALTER TABLE callhouse.${table} APPLY DELETED MASK IN PARTITION ID '${month}'
