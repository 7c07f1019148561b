-- The last event of each chain in a month.
SELECT
    chain,
    toString(max(seq)) AS last,
    argMax(hash, seq) AS hash,
    toString(toUnixTimestamp64Micro(argMax(at, seq))) AS at_us
FROM callhouse.audit_events
WHERE toYYYYMM(at) = {month:UInt32}
GROUP BY chain
ORDER BY chain
