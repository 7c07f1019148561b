-- Partitions of dirty buckets that are there: earlier processes have dropped most.
SELECT DISTINCT toUInt32(intDiv(position, {perPartition:UInt32})) AS n
FROM callhouse.${table}
WHERE position < {before:UInt64}
