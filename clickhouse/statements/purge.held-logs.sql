-- Part of other statements: the condition that an id is that of a log record of held calls, which is still there.
${id} IN (SELECT id FROM callhouse.logs WHERE project_id IN {projects:Array(String)} AND ${heldRecord})
