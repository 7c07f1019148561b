-- Takes what a table of the field index has of payloads at some times out of the files of a partition.
ALTER TABLE callhouse.${table}
    DELETE IN PARTITION ID '${month}' WHERE ${ofProjects} AND arrayAll(us -> us IN {times:Array(Int64)}, at),
    UPDATE ${assignments} IN PARTITION ID '${month}' WHERE ${ofProjects} AND arrayExists(us -> us IN {times:Array(Int64)}, at)
SETTINGS mutations_sync = 2
