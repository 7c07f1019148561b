-- Notes records that are neither in the tables nor in the log.
INSERT INTO callhouse.missing_records (topic, log_id, partition, first, last, accepted_before, is_known)
SELECT row.1, row.2, row.3, row.4, row.5, fromUnixTimestamp64Milli(row.6, 'UTC'), 0
FROM
(
    SELECT arrayJoin(arrayZip({topics:Array(String)}, {ids:Array(String)}, {partitions:Array(UInt32)},
        {firsts:Array(UInt64)}, {lasts:Array(UInt64)}, {befores:Array(Int64)})) AS row
)
