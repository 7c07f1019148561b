-- What rollups cover, by partition.
SELECT name, partition, toFloat64(max(position)) AS position, toFloat64(max(revision)) AS revision
FROM callhouse.rollups
GROUP BY name, partition
