// The versions of objects: numbers, liveness and the latest pointer, derived from creation and deletion events.
import { type Sql, sql } from '../../core/store/sql.ts'
import type { ProjectScope } from '../../events/project-query.ts'

/**
 * One row per version of the objects that `where` selects (a condition on object_events that keeps or drops whole
 * objects, for numbers count all versions of a name). Columns: object_id, kind, digest, first_clock (first creation),
 * created_clock (the creation that its present life began with), deleted_clock (0 = live), live, creator,
 * version_index, latest_rank (1 = the latest, or, when nothing is live, what would be).
 *
 * Repeated events change nothing: only minima, maxima and sets of clocks are taken.
 */
export const versions = (project: ProjectScope, where: Sql): Sql => sql`
  SELECT
    object_id, kind, digest, first_clock, created_clock, deleted_clock, live, creator,
    toUInt32(row_number() OVER (PARTITION BY object_id, kind ORDER BY first_clock, digest) - 1) AS version_index,
    row_number() OVER (PARTITION BY object_id
      ORDER BY live DESC, pointed DESC, first_clock DESC, digest DESC) AS latest_rank
  FROM (
    SELECT *, last_clock = max(last_clock) OVER (PARTITION BY object_id) AS pointed
    FROM (
      SELECT
        object_id, kind, digest,
        minIf(clock, event = 'created') AS first_clock,
        maxIf(clock, event = 'created') AS last_clock,
        maxIf(clock, event = 'deleted') AS newest_delete,
        last_clock > newest_delete AS live,
        if(live, 0, newest_delete) AS deleted_clock,
        arraySort(groupArrayIf((clock, toString(user_id)), event = 'created')) AS creations,
        arrayFirst(creation -> NOT live OR creation.1 > newest_delete, creations) AS creation,
        creation.1 AS created_clock,
        creation.2 AS creator
      ${project.from('object_events', { where })}
      GROUP BY object_id, kind, digest
      HAVING first_clock > 0
    )
  )`
