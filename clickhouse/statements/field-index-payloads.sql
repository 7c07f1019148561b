-- Payload rows of a range that are not indexed yet, in the order of the table, after a row. Texts that are too long to
-- be indexed are not read.
SELECT
    toUnixTimestamp64Micro(at) AS us, id, toUInt8(toInt8(part)) AS side, clock,
    toUInt8(odd = 1 OR length(attributes) + length(inputs) + length(output) + length(summary) > {bytes:UInt64}) AS left_out,
    if(left_out = 1, '', attributes), if(left_out = 1, '', inputs), if(left_out = 1, '', output),
    if(left_out = 1, '', summary)
FROM callhouse.payloads
WHERE project_id = {project:String}
    AND at >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND at < fromUnixTimestamp64Micro({before:Int64}, 'UTC')
    AND (toUnixTimestamp64Micro(at), id, toInt8(part)) > ({from:Int64}, {id:String}, {side:Int64})
    AND (toUnixTimestamp64Micro(at), clock) NOT IN
    (
        SELECT arrayJoin(arrayZip(c.at, c.clock))
        FROM callhouse.payload_chunks AS c
        WHERE c.project_id = {project:String} AND c.most >= {from:Int64} AND c.least < {before:Int64}
    )
ORDER BY at, id, part
LIMIT {limit:UInt64}
SETTINGS max_threads = 1, max_block_size = 1024
