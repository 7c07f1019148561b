-- Positions of the latest generation of each topic, per log that registered: one, unless two did at the same moment.
SELECT topic, generation, log_id AS id, partition, toFloat64(max(position)) AS position, toBool(max(is_ready)) AS isReady
FROM callhouse.applied_positions
WHERE (topic, generation) IN (SELECT topic, max(generation) FROM callhouse.applied_positions GROUP BY topic)
GROUP BY topic, generation, log_id, partition
