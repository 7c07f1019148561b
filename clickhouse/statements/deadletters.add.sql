-- Adds a dead letter.
INSERT INTO callhouse.dead_letters
    (topic, partition, offset, row_index, id, at, replayed_at, reason, row, version)
SELECT
    {topic:String}, {partition:UInt32}, {offset:UInt64}, {rowIndex:UInt32}, {id:String},
    fromUnixTimestamp64Milli({at:Int64}, 'UTC'), fromUnixTimestamp64Milli(toInt64(0), 'UTC'), {reason:String},
    {row:String}, {version:UInt64}
