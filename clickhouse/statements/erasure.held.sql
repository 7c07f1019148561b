-- Deleted calls that stay as they are held: how many, by the place of the erasure that asked for them among `untils`.
SELECT
    toFloat64(indexOf(arrayMap(until -> deleted <= until, {untils:Array(UInt64)}), 1)) AS n,
    toString(uniqExact(id)) AS held
FROM (${calls})
GROUP BY n
HAVING n > 0
