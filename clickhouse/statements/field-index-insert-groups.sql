-- Notes the payload rows of some groups as indexed, after their field values.
INSERT INTO callhouse.payload_chunks (project_id, least, most, chunk, part, at, clock)
SELECT project_id, least, most, chunk, part, at, clock
FROM format(JSONEachRow, 'project_id String, least Int64, most Int64, chunk UInt64, part String, at Array(Int64),
    clock Array(UInt64)', {rows:String})
