-- How many events and chains there are, and when the last checkpoint was.
SELECT
    toString(count()) AS events,
    toString(uniqExact(chain)) AS chains,
    toString(toUnixTimestamp64Micro(maxIf(at, action = 'audit.checkpoint'))) AS since
FROM callhouse.audit_events FINAL
