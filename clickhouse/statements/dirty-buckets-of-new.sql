-- Marks the minutes of calls as dirty that went in without a merge: each under the position of the
-- partition that it came from. Written after the rows and before the position moves.
INSERT INTO callhouse.call_marks (project_id, partition, position, minute)
SELECT bucket.1, bucket.2, bucket.3, toDateTime(bucket.4, 'UTC')
FROM
(
    SELECT arrayJoin(arrayZip({projects:Array(String)}, {partitions:Array(UInt32)}, {positions:Array(UInt64)},
        {minutes:Array(UInt32)})) AS bucket
)
