-- The time up to which nothing is left of what was removed: no file that was replaced by then, and none from before that
-- holds removed rows. Nothing where all are gone.
SELECT toString(min(
    toInt64(toUnixTimestamp(if(active, modification_time, remove_time))) * 1000 + if(active, 1000, -999)
)) AS before
FROM system.parts
WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND (NOT active OR has_lightweight_delete)
HAVING count() > 0
