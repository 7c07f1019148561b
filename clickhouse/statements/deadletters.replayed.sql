-- Notes that a dead letter was replayed.
INSERT INTO callhouse.dead_letters
    (topic, partition, offset, row_index, id, at, replayed_at, reason, row, version)
SELECT
    topic, partition, offset, row_index, id, at, fromUnixTimestamp64Milli({at:Int64}, 'UTC'), reason, row,
    {version:UInt64}
FROM callhouse.dead_letters FINAL
WHERE id = {id:String}
