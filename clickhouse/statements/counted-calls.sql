-- Part of call-stats and trace-parts: the calls of some buckets (`one`), and their usage as it is counted (`billed`). Buckets are
-- minutes (`unit` 60) or seconds (1); the bounds are times of the column's own type, as in call-counts.
    due AS
    (
        SELECT arrayJoin(arrayZip({projects:Array(String)}, {buckets:Array(UInt32)})) AS one, one.1 AS project_id, toDateTime(one.2, 'UTC') AS bucket
    ),
    -- Where the summaries of the calls lie: an end that came alone lies at a time of its own.
    places AS
    (
        SELECT DISTINCT project_id, if({unit:UInt16} = 60, toStartOfMinute(output_at), toDateTime(output_at, 'UTC')) AS bucket
        FROM callhouse.calls
        WHERE notEmpty(usage_model)
            AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')))
                IN (SELECT project_id, bucket FROM due)
    ),
    bills AS
    (
        SELECT id, clock, billed_usage, counts_cached
        FROM callhouse.payloads
        WHERE part != 'start' AND notEmpty(billed_usage)
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM places)
    ),
    -- What spans count for themselves that report the sum of those below them.
    shares AS
    (
        SELECT
            project_id, started_at, id, nested, (input, output, total, cache_read, cache_write) AS counted,
            CAST(('', inside, 0, billed_read, billed_write, billed_write_1h, more_output),
                'Tuple(model String, inside Int64, apart Int64, cache_read Int64, cache_write Int64, cache_write_1h Int64, more_output Int64)') AS bill
        FROM callhouse.usage_shares FINAL
        WHERE nested = 1
            AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')))
                IN (SELECT project_id, bucket FROM due)
    ),
    one AS
    (
        SELECT
            project_id, id, trace_id, started_at, ended_at, end_ver,
            if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')) AS bucket,
            toUInt8(parent_id = '' OR (project_id, started_at, id) IN
            (
                SELECT project_id, started_at, id FROM callhouse.orphan_roots FINAL
                WHERE is_orphan = 1 AND project_id IN (SELECT project_id FROM due)
                    AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            )) AS root, exception != '' AS failed,
            end_ver > 0 AND ended_at >= started_at AS has_latency,
            if(has_latency, toUInt64(intDiv(toUnixTimestamp64Micro(ended_at) - toUnixTimestamp64Micro(started_at), 1000)), 0) AS latency,
            -- only calls with usage are looked up
            notEmpty(usage_model) AND (root = 1 OR (start_ver, id) IN
            (
                SELECT clock, id FROM callhouse.payloads
                WHERE part IN ('both', 'start') AND otel_dump.size > 0
                    AND at >= toDateTime64({from:Int64}, 6, 'UTC') AND at < toDateTime64({before:Int64}, 6, 'UTC')
                    AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM due)
            )) AS top,
            -- as a group of it is named: without project and version
            replaceRegexpOne(op_name, '^weave:///[^/]+/[^/]+/op/([^/:]+):[\\s\\S]*$', '\\1') AS op,
            user_id AS user,
            notEmpty(usage_model) AND (start_ver, id) IN
            (
                SELECT clock, id FROM callhouse.payloads
                WHERE part = 'start' AND counts_cached = 1
                    AND at >= toDateTime64({from:Int64}, 6, 'UTC') AND at < toDateTime64({before:Int64}, 6, 'UTC')
                    AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(at), toDateTime(at, 'UTC'))) IN (SELECT project_id, bucket FROM due)
            ) AS has_cached,
            usage_model, usage_input, usage_output, usage_total, usage_cache_read, usage_cache_write
        FROM callhouse.calls FINAL
        WHERE delete_ver = 0 AND moved = 0
            AND started_at >= toDateTime64({from:Int64}, 6, 'UTC') AND started_at < toDateTime64({before:Int64}, 6, 'UTC')
            AND (project_id, if({unit:UInt16} = 60, toStartOfMinute(started_at), toDateTime(started_at, 'UTC')))
                IN (SELECT project_id, bucket FROM due)
    ),
    -- Calls with usage alone: most have none, and looking for bills and joining lists costs ten times what counting costs.
    billed AS
    (
        SELECT
            o.project_id AS project_id, o.bucket AS bucket, o.root AS root, o.op AS op, o.user AS user, o.top AS top,
            o.trace_id AS trace_id, s.nested AS nested,
            -- lists of equal length in every row that the edge wrote; one other row must not stop the recompute
            arrayZip(o.usage_model, arrayResize(o.usage_input, length(o.usage_model)), arrayResize(o.usage_output, length(o.usage_model)),
                arrayResize(o.usage_total, length(o.usage_model)), arrayResize(o.usage_cache_read, length(o.usage_model)),
                arrayResize(o.usage_cache_write, length(o.usage_model))) AS reported,
            if(s.nested = 1, if((s.counted, tupleElement(s.bill, 2), tupleElement(s.bill, 4), tupleElement(s.bill, 5), tupleElement(s.bill, 6), tupleElement(s.bill, 7)) = ((0, 0, 0, 0, 0), 0, 0, 0, 0, 0), [],
                arrayMap(point -> tupleConcat(tuple(point.1), s.counted), reported)), reported) AS points,
            arrayMap(point -> if(s.nested = 1, s.bill, arrayFirst(bill -> bill.model = point.1, b.billed_usage)), points) AS bills,
            o.has_cached OR b.counts_cached = 1 AS counts_cached
        FROM (SELECT * FROM one WHERE notEmpty(usage_model)) AS o
        LEFT ANY JOIN bills AS b ON b.clock = o.end_ver AND b.id = o.id
        LEFT ANY JOIN shares AS s ON s.project_id = o.project_id AND s.started_at = o.started_at AND s.id = o.id
    )
