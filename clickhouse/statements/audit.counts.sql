-- How many events and chains there are, and the last checkpoint.
SELECT
    toString(count()) AS events,
    toString(uniqExact(chain)) AS chains,
    toString(toUnixTimestamp64Micro(maxIf(at, action = 'audit.checkpoint'))) AS since,
    argMaxIf((chain, toString(seq), hash), (at, seq), action = 'audit.checkpoint') AS previous
FROM callhouse.audit_events FINAL
