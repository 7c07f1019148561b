-- The disk of a server with the least free share.
SELECT toFloat64(free_space) AS free, toFloat64(total_space) AS total
FROM system.disks
WHERE total_space > 0 AND total_space < pow(2, 60)
ORDER BY free / total
LIMIT 1
