// Puts the texts back that references stand for in the dump of a span, in SQL (in JS: content/span-dump.ts).
import { referenceLead, references } from '../../content/span-dump.ts'
import { identifier, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Document } from './conditions/types.ts'

const sqlMember = (text: Sql): Sql => {
  const colon = sql`position(${text}, '":')`
  return sql`substring(${text}, ${colon} + 2, length(${text}) - ${colon} - 2)`
}

/** The dump of one row of payloads with texts in place of references, in the order in which they are put back. */
function withTexts(dump: Sql, texts: readonly [reference: string, text: Sql][]): Sql {
  let text = dump
  for (const [mark, by] of texts) text = sql`replaceAll(${text}, ${param('String', mark)}, ${by})`
  return sql`if(position(${dump}, ${param('String', referenceLead)}) = 0, ${dump}, ${text})`
}

/** The same as an expression over the columns of one row of payloads. */
function splicedSql(): Sql {
  const [dump, attributes, inputs, output] = ['otel_dump', 'attributes', 'inputs', 'output'].map(identifier) as [
    Sql,
    Sql,
    Sql,
    Sql,
  ]
  return withTexts(dump, [
    [references.inputsMember, sqlMember(inputs)],
    [references.inputs, inputs],
    [references.outputMember, sqlMember(output)],
    [references.output, output],
    [references.attributes, attributes],
  ])
}

/** The dump with its attributes; inputs and output are null where the row holds their texts elsewhere. */
export function dumpWithAttributesSql(): Sql {
  const { attributes, ...others } = references
  const without = Object.values(others).map((mark) => [mark, sql`'null'`] as [string, Sql])
  return withTexts(identifier('otel_dump'), [...without, [attributes, identifier('attributes')]])
}

/** The type in the attributes of an event of an exception, behind other members that are no objects. */
const thrownType = String.raw`"exception":\{(?:"(?:[^"\\]|\\.)*":(?:"(?:[^"\\]|\\.)*"|[^",{}\[\]]+),)*"type":"((?:[^"\\]|\\.)*)"`

/** Texts that follow from others: billed values beside the counts of a call, types of exceptions; '' where there are none. */
const followingTexts: Partial<Record<Document, Sql>> = {
  billed_usage: sql`if(empty(billed_usage), '', toJSONString(CAST(billed_usage,
      'Array(Tuple(String, Float64, Float64, Float64, Float64, Float64, Float64))')))`,
  counts_cached: sql`if(counts_cached = 1, 'true', '')`,
  thrown_types: sql`if(position(otel_dump, '"exception":{') = 0, '',
    arrayStringConcat(arrayDistinct(extractAll(otel_dump, ${param('String', thrownType)})), ', '))`,
}

/** A document as an expression over the columns of one row of payloads. */
export function documentSql(document: Document): Sql {
  const following = followingTexts[document]
  if (following !== undefined) return following
  if (document === 'mask_start' || document === 'mask_end') return sql`mask`
  return document === 'otel_dump' ? splicedSql() : identifier(document)
}
