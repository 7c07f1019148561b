-- Files that were replaced up to a time and are still there, and those from before it that hold removed rows.
SELECT toString(count()) AS n
FROM system.parts
WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND if(
    active,
    has_lightweight_delete AND toUnixTimestamp(modification_time) < {from:Int64},
    toUnixTimestamp(remove_time) <= {until:Int64})
