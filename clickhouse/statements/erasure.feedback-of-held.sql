-- Part of other statements: items of feedback by whose refs they are of held calls.
SELECT id
FROM callhouse.feedback
WHERE project_id = {project:String} AND weave_ref IN {refs:Array(String)}
