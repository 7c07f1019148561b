-- Quiet months of calls that are worth a merge: enough of their rows lie outside the largest part.
SELECT partition_id AS month
FROM system.parts
WHERE active AND database = currentDatabase() AND table = 'calls'
GROUP BY month
HAVING count() > 1 AND max(modification_time) <= now() - {quiet:UInt32} AND sum(bytes_on_disk) <= {bytes:UInt64}
    AND (sum(rows) - max(rows)) * 100 >= sum(rows) * {percent:UInt32}
ORDER BY month DESC
