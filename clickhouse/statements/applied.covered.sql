-- Up to where any rollup covers a partition.
SELECT partition, toFloat64(max(position)) AS position
FROM callhouse.rollups
GROUP BY partition
