-- Erasures that failed, and those that are an hour past their deadline.
SELECT
    toUInt32(countIf(status = 'failed')) AS failed,
    anyIf(problem, status = 'failed') AS why,
    toUInt32(countIf(status != 'failed' AND deadline_us < toUnixTimestamp64Micro(now64(6)) - 3600000000)) AS overdue
FROM callhouse.erasures FINAL
WHERE status NOT IN ('done', 'held')
