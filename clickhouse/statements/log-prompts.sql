-- Log records of prompts, with what the ids of their calls follow from.
SELECT DISTINCT id, arrayMap(name -> attributes[name], {names:Array(String)}) AS said
FROM callhouse.logs
WHERE project_id = {project:String} AND event_name IN {events:Array(String)} AND (trace_id = '' OR span_id = '')
