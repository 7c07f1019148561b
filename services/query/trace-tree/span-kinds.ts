// Finds the kind of each span of a trace in its attributes, which stay in the store.
import type { ProjectId } from '../../core/ids.ts'
import { type Sql, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import { allOf, everything, type Index, timeConditions } from '../calls/scope.ts'

/** Members of one object that may name a kind: nested, or with dots in their keys. */
const members = sql`'Tuple(operation_name String, kind String,
  weave Tuple(kind String, span Tuple(kind String)), openinference Tuple(span Tuple(kind String)),
  traceloop Tuple(span Tuple(kind String)), gen_ai Tuple(operation Tuple(name String)),
  \`weave.span.kind\` String, \`openinference.span.kind\` String, \`traceloop.span.kind\` String,
  \`gen_ai.operation.name\` String)'`

/**
 * The first kind that is a word, among those that instrumentations write and the Weave SDKs keep: no object, no long
 * text.
 */
const kindIn = (found: Sql): Sql => sql`arrayFirst(one -> match(one, '^\\\\w[\\\\w .-]{0,63}$'), [
  ${found}.operation_name, tupleElement(${found}, 'weave.span.kind'), ${found}.weave.span.kind, ${found}.weave.kind,
  tupleElement(${found}, 'openinference.span.kind'), ${found}.openinference.span.kind,
  tupleElement(${found}, 'traceloop.span.kind'), ${found}.traceloop.span.kind,
  tupleElement(${found}, 'gen_ai.operation.name'), ${found}.gen_ai.operation.name, ${found}.kind])`

/** Rows [started, id, kind] of the calls whose attributes name a kind: those of other traces at the same times, too. */
export const spanKindsQuery = (projectId: ProjectId, index: Index): Query =>
  projectQuery('trace-tree.kinds', projectId, (project) => {
    const where = allOf([
      ...timeConditions(project, sql`at`, { projectId, range: everything, index, keys: null }),
      sql`part != 'end'`,
    ])
    return sql`SELECT toUnixTimestamp64Micro(at), id, argMax(kind, clock) AS newest FROM
      (SELECT at, id, clock, if(attributes IN ('', '{}'), '', lowerUTF8(${kindIn(sql`found`)})) AS kind,
        JSONExtract(attributes, ${members}) AS found ${project.from('payloads', { where })})
      GROUP BY at, id HAVING newest != ''`
  })
