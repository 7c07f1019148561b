-- Two hashes of project and id of each call of a range, and of each trace of spans, as fingerprints.ts computes them.
SELECT murmurHash3_32(text), murmurHash2_32(text)
FROM
(
    SELECT concat(project_id, '","id":"', id) AS text FROM callhouse.calls
    WHERE started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC')
        AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    UNION ALL
    SELECT DISTINCT concat(project_id, '","trace_id":"', trace_id) FROM callhouse.calls
    WHERE length(trace_id) = 32
        AND started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC')
        AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
)
SETTINGS max_threads = 1
