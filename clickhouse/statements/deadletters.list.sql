-- Dead letters without their rows, as they came.
SELECT
    id,
    topic,
    toFloat64(partition) AS partition,
    toFloat64(offset) AS offset,
    toFloat64(row_index) AS rowIndex,
    reason,
    toFloat64(toUnixTimestamp64Milli(at)) AS at,
    toFloat64(toUnixTimestamp64Milli(replayed_at)) AS replayedAt,
    toFloat64(length(row)) AS sizeBytes
FROM callhouse.dead_letters FINAL
ORDER BY at, topic, partition, offset, rowIndex
