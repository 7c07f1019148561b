-- Payloads of the calls that log-joins-spans reads. `dumps` = 1: what is no span (it has no dump) without its texts.
SELECT
    project_id, id, toString(toUnixTimestamp64Micro(at)) AS started_us, toString(payloads.clock) AS clock, odd, mask, mask_hits, otel_dump,
    {dumps:UInt8} = 0 OR otel_dump != '' AS wanted,
    if(wanted, payloads.attributes, '') AS attributes, if(wanted, payloads.inputs, '') AS inputs,
    if(wanted, payloads.output, '') AS output, if(wanted, payloads.summary, '') AS summary
FROM callhouse.payloads
WHERE part = 'both'
    AND (project_id, payloads.at, id) IN
    (
        SELECT project_id, started_at, key FROM callhouse.call_keys
        WHERE kind = 'id' AND (project_id, key) IN arrayZip({projects:Array(String)}, {ids:Array(String)})
    )
LIMIT 1 BY project_id, at, id, payloads.clock
