-- Counts the statistics of some buckets from the calls (counted-calls): of minutes (`unit` 60) or of seconds (1).
INSERT INTO callhouse.call_stats
WITH
    ${counted},
    counted AS
    (
        SELECT
            project_id, bucket, root, sum(n) AS calls, sum(failures) AS errors, arraySort(groupArrayArray(took)) AS times,
            count() > {mostKeys:UInt64} AS has_many, if(has_many, [], groupArray((op, user, n, failures, took))) AS entries
        FROM
        (
            SELECT
                project_id, bucket, root, op, user, count() AS n, countIf(failed) AS failures,
                arraySort(groupArrayIf(latency, has_latency)) AS took
            FROM one
            GROUP BY project_id, bucket, root, op, user
        )
        GROUP BY project_id, bucket, root
    ),
    by_key AS
    (
        SELECT
            project_id, bucket, root, op, user, point.1 AS model, toUInt8(top) AS top,
            sumForEach([1, toFloat64(point.2), toFloat64(point.3), toFloat64(point.4), toFloat64(point.5), toFloat64(point.6),
                toFloat64(bill.inside), if(counts_cached, 0, toFloat64(bill.apart)), toFloat64(bill.cache_read),
                toFloat64(bill.cache_write), toFloat64(bill.cache_write_1h), toFloat64(bill.more_output)]) AS sums,
            minForEach([point.2, point.3, point.5, point.6]) AS least,
            maxForEach([point.2, point.3, point.5, point.6]) AS most
        FROM billed
        ARRAY JOIN points AS point, bills AS bill
        GROUP BY project_id, bucket, root, op, user, model, top
    ),
    kept AS
    (
        SELECT
            project_id, bucket, root, is_by_model, model, top, if(is_by_model, '', op) AS kept_op, if(is_by_model, '', user) AS kept_user,
            sumForEach(by_key.sums) AS sums, minForEach(by_key.least) AS least, maxForEach(by_key.most) AS most
        FROM (SELECT *, count() OVER (PARTITION BY project_id, bucket, root) > {mostKeys:UInt64} AS is_by_model FROM by_key) AS by_key
        GROUP BY project_id, bucket, root, is_by_model, model, top, kept_op, kept_user
    )
SELECT
    d.project_id, {unit:UInt16}, d.bucket, d.root, {revision:UInt64}, c.calls, c.errors, length(c.times),
    arraySum(x -> toFloat64(x), c.times), if(empty(c.times), 0, arrayMin(c.times)), if(empty(c.times), 0, arrayMax(c.times)),
    countEqual(c.times, 1), countEqual(c.times, 0), c.times,
    u.models, u.tops, u.sums[1], u.sums[2], u.least[1], u.most[1], u.sums[3], u.least[2], u.most[2], u.sums[4],
    u.sums[5], u.least[3], u.most[3], u.sums[6], u.least[4], u.most[4], u.sums[7], u.sums[8], u.sums[9], u.sums[10], u.sums[11],
    u.sums[12], u.ops, u.users, u.is_by_model, c.entries.1, c.entries.2, c.entries.3, c.entries.4, c.entries.5
FROM (SELECT project_id, bucket, arrayJoin([0, 1]) AS root FROM due) AS d
LEFT JOIN counted AS c ON c.project_id = d.project_id AND c.bucket = d.bucket AND c.root = d.root
LEFT JOIN
(
    SELECT
        project_id, bucket, root, groupArray(model) AS models, groupArray(top) AS tops, groupArrayForEach(kept.sums) AS sums,
        groupArrayForEach(kept.least) AS least, groupArrayForEach(kept.most) AS most, groupArray(kept_op) AS ops,
        groupArray(kept_user) AS users, max(is_by_model) AS is_by_model
    FROM kept
    GROUP BY project_id, bucket, root
) AS u ON u.project_id = d.project_id AND u.bucket = d.bucket AND u.root = d.root
SETTINGS do_not_merge_across_partitions_select_final = 1
