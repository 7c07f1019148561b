-- Records up to which position of each partition a rollup covers dirty buckets. Written after its rows.
INSERT INTO callhouse.rollups (name, partition, position, revision)
SELECT {name:String}, pair.1, pair.2, {revision:UInt64}
FROM (SELECT arrayJoin(arrayZip({partitions:Array(UInt32)}, {upTo:Array(Int64)})) AS pair)
