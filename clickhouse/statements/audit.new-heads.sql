-- The last event of each chain that went on since a checkpoint. What was on its way at that time came at most an hour later.
SELECT
    chain,
    toString(max(seq)) AS last,
    argMax(hash, seq) AS hash,
    toString(toUnixTimestamp64Micro(argMax(at, seq))) AS at_us
FROM callhouse.audit_events
GROUP BY chain
HAVING max(toUnixTimestamp64Micro(at)) >= {since:Int64} - 3600000000
ORDER BY chain
