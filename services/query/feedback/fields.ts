// The fields of feedback: which names a request may use, and what each one means in SQL.
import { fault } from '../../core/http/errors.ts'
import { identifier, param, sql } from '../../core/store/sql.ts'
import { jsonPath, splitPath } from '../language/path.ts'
import type { Column, ColumnSql, Field, Fields } from '../language/types.ts'
import { neutralName } from '../language/wire-names.ts'

/** Columns in the order of a record; `user_id` is spelled with the prefix on the wire. */
export const columnNames = [
  'id',
  'project_id',
  'weave_ref',
  'user_id',
  'creator',
  'created_at',
  'feedback_type',
  'payload',
  'annotation_ref',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'queue_id',
  'scorer_tags',
  'scorer_tag_reasons',
  'scorer_rating_reasons',
  'scorer_tag_confidences',
  'scorer_ratings',
  'scorer_rating_confidences',
  'span_agent_name',
  'span_agent_version',
  'span_conversation_id',
  'span_trace_id',
  'scorer_trace_id',
  'span_status_code',
] as const

const known = new Set<string>(columnNames)
const textMaps = new Set(['scorer_tag_reasons', 'scorer_rating_reasons'])
const numberMaps = new Set(['scorer_tag_confidences', 'scorer_ratings', 'scorer_rating_confidences'])

export const isMap = (name: string): boolean => textMaps.has(name) || numberMaps.has(name)

/** Columns of the table under the alias `f`; payloads in the form that the engine can read. */
export const feedbackColumn: ColumnSql = (column) =>
  column === 'payload' ? sql`if(f.readable_payload = '', f.payload, f.readable_payload)` : identifier(`f.${column}`)

const notEvaluated = (): never => {
  throw new Error('feedback is queried in SQL only')
}

function columnOf(name: string): Column {
  const kind = name === 'created_at' ? 'datetime' : 'string'
  // An empty text is not null here, so the type rules for texts that may be null do not apply.
  return { name, kind, nullable: false, reads: [name], sql: (of) => of(name), read: notEvaluated }
}

function mapEntry(map: string, key: string): Column {
  const asked = param('String', key)
  return {
    name: `${map}.${key}`,
    kind: numberMaps.has(map) ? 'double' : 'string',
    nullable: false,
    reads: [map],
    sql: (of) => sql`if(mapContains(${of(map)}, ${asked}), ${of(map)}[${asked}], NULL)`,
    read: notEvaluated,
  }
}

const notAllowed = (name: string) => fault(400, `Field ${JSON.stringify(name.slice(0, 200))} is not known in feedback`)

/**
 * The meaning of a name: a column as a whole, or a part of one.
 * @throws Fault 400 for unknown names, 422 for negative array indexes
 */
export function feedbackField(name: string): Field | { is: 'payload' } {
  const column = neutralName(name)
  if (column === 'payload') return { is: 'payload' }
  if (known.has(column))
    return column === 'scorer_tags' || isMap(column)
      ? { is: 'list', list: { name, column } }
      : { is: 'column', column: columnOf(column) }
  const dot = name.indexOf('.')
  const first = name.slice(0, dot)
  if (dot > 0 && isMap(first)) return { is: 'column', column: mapEntry(first, name.slice(dot + 1)) }
  if (dot > 0 && first === 'payload')
    return { is: 'json', json: { document: 'payload', path: jsonPath(splitPath(name).slice(1), name) } }
  throw notAllowed(name)
}

/** The fields of conditions; the whole payload is its text form there. */
export const feedbackFields: Fields = (name) => {
  const field = feedbackField(name)
  return field.is === 'payload' ? { is: 'json', json: { document: 'payload', path: [] } } : field
}
