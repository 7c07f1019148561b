// The answer of a feedback query: the SQL of each field, and how its value is written into a row.

import type { SortTerm } from '../../../schemas/query.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import { fault } from '../../core/http/errors.ts'
import { join, type Sql, sql } from '../../core/store/sql.ts'
import { compileValue } from '../language/compile.ts'
import { jsonExists } from '../language/json-sql.ts'
import { checkWeight, maxBesideConditions, type Weighed } from '../language/weight.ts'
import { distinctTerms } from '../sort-terms.ts'
import { columnNames, feedbackColumn, feedbackField } from './fields.ts'

/** A member of the answer's rows. */
export type ShownMember = {
  /** Key in the row as JSON text, with its colon. */
  key: string
  sql: Sql
  /** JSON text of a value of the engine's answer; null = the member is left out. */
  text(value: unknown): string | null
}

/** Columns that some clients do not know: left out of default rows while they are empty. */
const leftOut = new Set<string>(['span_conversation_id', 'span_trace_id', 'scorer_trace_id'])

const json = (value: unknown): string => JSON.stringify(value)
const keyOf = (name: string): string => `${json(name)}:`

type FeedbackField = ReturnType<typeof feedbackField>

/** Fields as parts of a statement; whole columns are few. */
const weighed = (fields: readonly FeedbackField[], times: number): Weighed[] =>
  fields.flatMap((of) => (of.is === 'json' || of.is === 'column' ? [{ of, times }] : []))

function memberOf(asked: string, prefix: string, field = feedbackField(asked)): ShownMember {
  if (field.is === 'payload') return { key: keyOf(asked), sql: sql`f.payload`, text: String }
  if (field.is === 'list') return { key: keyOf(asked), sql: feedbackColumn(field.list.column), text: json }
  if (field.is === 'json') return { key: keyOf(asked), sql: compileValue(field, feedbackColumn), text: json }
  const { column } = field
  const name = column.name === 'user_id' ? `${prefix}_user_id` : asked
  if (column.kind === 'datetime')
    return {
      key: keyOf(name),
      sql: sql`toUnixTimestamp64Micro(${column.sql(feedbackColumn)})`,
      text: (us) => json(formatTimestamp(Number(us))),
    }
  return { key: keyOf(name), sql: column.sql(feedbackColumn), text: json }
}

/**
 * The members of the rows; null fields = all columns.
 * @param prefix of the user's field in answers
 * @throws Fault 400 for unknown names and for too many of them
 */
export function shownMembers(fields: readonly string[] | undefined, prefix: string): ShownMember[] {
  if (fields?.length) {
    const asked = [...new Set(fields)].map((name) => ({ name, field: feedbackField(name) }))
    checkWeight(
      weighed(
        asked.map(({ field }) => field),
        1,
      ),
      maxBesideConditions,
    )
    return asked.map(({ name, field }) => memberOf(name, prefix, field))
  }
  return columnNames.map((column) => {
    const member = memberOf(column === 'user_id' ? `${prefix}_user_id` : column, prefix)
    return leftOut.has(column) ? { ...member, text: (value) => (value === '' ? null : json(value)) } : member
  })
}

/** JSON text of a row from the values of its members. */
export function feedbackRowText(members: readonly ShownMember[], values: readonly unknown[]): string {
  let text = ''
  for (let n = 0; n < members.length; n++) {
    const member = members[n] as ShownMember
    const value = member.text(values[n])
    if (value !== null) text += `${text === '' ? '{' : ','}${member.key}${value}`
  }
  return text === '' ? '{}' : `${text}}`
}

const words = { asc: sql`ASC`, desc: sql`DESC` } as const
export const oldestFirst = sql`f.created_at, f.id`

function termSql({ field: name, direction }: SortTerm, field: FeedbackField): Sql {
  const word = words[direction]
  if (field.is === 'column') return sql`${field.column.sql(feedbackColumn)} ${word} NULLS LAST`
  if (field.is !== 'json') throw fault(400, `Field ${name} is not allowed for sorting`)
  const number = compileValue({ is: 'cast', to: 'double', of: field }, feedbackColumn)
  return sql`${jsonExists(field.json, feedbackColumn)} DESC, ${number} ${word} NULLS LAST, ${compileValue(field, feedbackColumn)} ${word}`
}

/** Terms of ORDER BY; nulls come last in both directions. @throws Fault 400 for fields that cannot be sorted by, or too many */
export function feedbackOrder(sortBy: readonly SortTerm[] | null | undefined): Sql {
  const terms = distinctTerms(sortBy ?? []).map((term) => ({ term, field: feedbackField(term.field) }))
  checkWeight(
    weighed(
      terms.map(({ field }) => field),
      3,
    ),
    maxBesideConditions,
  )
  return join([...terms.map(({ term, field }) => termSql(term, field)), oldestFirst], ', ')
}
