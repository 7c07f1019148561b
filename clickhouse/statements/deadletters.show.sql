-- A dead letter with its row.
SELECT
    id,
    topic,
    toFloat64(partition) AS partition,
    toFloat64(offset) AS offset,
    toFloat64(row_index) AS rowIndex,
    reason,
    toFloat64(toUnixTimestamp64Milli(at)) AS at,
    toFloat64(toUnixTimestamp64Milli(replayed_at)) AS replayedAt,
    toFloat64(length(row)) AS sizeBytes,
    row
FROM callhouse.dead_letters FINAL
WHERE id = {id:String}
LIMIT 1
