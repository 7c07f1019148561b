-- Up to which position buckets of a partition are marked as dirty.
SELECT partition, toFloat64(max(position)) AS position
FROM callhouse.call_marks
GROUP BY partition
