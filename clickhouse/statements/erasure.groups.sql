-- Groups of indexed values that hold some payloads.
SELECT DISTINCT toString(chunk) AS chunk, toString(least) AS least, toString(most) AS most
FROM callhouse.payload_chunks
WHERE project_id = {project:String} AND payload_chunks.least <= {most:Int64} AND payload_chunks.most >= {least:Int64}
    AND hasAny(at, {times:Array(Int64)})
