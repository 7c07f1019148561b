-- Records up to which position of each partition a rollup covers dirty buckets. Written after its rows.
INSERT INTO callhouse.rollups (name, partition, position, revision)
SELECT covered.1, covered.2, covered.3, {revision:UInt64}
FROM (SELECT arrayJoin(arrayZip({names:Array(String)}, {partitions:Array(UInt32)}, {upTo:Array(Int64)})) AS covered)
