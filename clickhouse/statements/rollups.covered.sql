-- What a rollup covers, of all projects and of slots.
SELECT name, partition, toFloat64(max(position)) AS position, toFloat64(max(revision)) AS revision
FROM callhouse.rollups
WHERE name = {name:String} OR startsWith(name, concat({name:String}, '/'))
GROUP BY name, partition
