-- Notes which log records became part of a call. Written once the rows are in the log; the greatest clock counts.
INSERT INTO callhouse.log_joined
SELECT row.1, row.2, row.3, row.4, toUInt64(row.5), toUInt64(row.6), row.7, now()
FROM
(
    SELECT arrayJoin(arrayZip({projects:Array(String)}, {traces:Array(String)}, {spans:Array(String)},
        {logs:Array(String)}, {bases:Array(String)}, {clocks:Array(String)}, {events:Array(UInt32)})) AS row
)
