-- Disks of the engine that hold parts.
SELECT name, toFloat64(free_space) AS free, toFloat64(total_space) AS total
FROM system.disks
WHERE name IN (SELECT disk_name FROM system.parts WHERE active)
