-- Records up to which position the tables hold each partition. Written after the rows; an older position never wins.
INSERT INTO callhouse.applied_positions (topic, log_id, generation, partition, position, is_ready)
SELECT row.1, row.2, row.3, row.4, row.5, {is_ready:UInt8}
FROM
(
    SELECT arrayJoin(arrayZip({topics:Array(String)}, {ids:Array(String)}, {generations:Array(UInt32)},
        {partitions:Array(UInt32)}, {positions:Array(UInt64)})) AS row
)
