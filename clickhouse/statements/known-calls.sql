-- Two hashes of project and id of each call of a range, as fingerprints.ts computes them.
SELECT murmurHash3_32(call), murmurHash2_32(call)
FROM
(
    SELECT concat(project_id, '","id":"', id) AS call FROM callhouse.calls
    WHERE started_at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC')
        AND started_at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
)
SETTINGS max_threads = 1
