// Puts the texts back that references stand for in the dump of a span, in SQL (in JS: content/span-dump.ts).
import { referenceLead, references } from '../../content/span-dump.ts'
import { identifier, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Document } from './conditions/types.ts'

const sqlMember = (text: Sql): Sql => {
  const colon = sql`position(${text}, '":')`
  return sql`substring(${text}, ${colon} + 2, length(${text}) - ${colon} - 2)`
}

/** The same as an expression over the columns of one row of payloads. */
function splicedSql(): Sql {
  const [dump, attributes, inputs, output] = ['otel_dump', 'attributes', 'inputs', 'output'].map(identifier) as [
    Sql,
    Sql,
    Sql,
    Sql,
  ]
  const texts: [string, Sql][] = [
    [references.inputsMember, sqlMember(inputs)],
    [references.inputs, inputs],
    [references.outputMember, sqlMember(output)],
    [references.output, output],
    [references.attributes, attributes],
  ]
  let text = dump
  for (const [mark, by] of texts) text = sql`replaceAll(${text}, ${param('String', mark)}, ${by})`
  return sql`if(position(${dump}, ${param('String', referenceLead)}) = 0, ${dump}, ${text})`
}

/** Billed values beside the counts of a call, as texts; '' where there are none. */
const billedTexts: Partial<Record<Document, Sql>> = {
  billed_usage: sql`if(empty(billed_usage), '', toJSONString(CAST(billed_usage,
      'Array(Tuple(String, Float64, Float64, Float64, Float64, Float64, Float64))')))`,
  counts_cached: sql`if(counts_cached = 1, 'true', '')`,
}

/** A document as an expression over the columns of one row of payloads. */
export function documentSql(document: Document): Sql {
  const billed = billedTexts[document]
  if (billed !== undefined) return billed
  if (document === 'mask_start' || document === 'mask_end') return sql`mask`
  return document === 'otel_dump' ? splicedSql() : identifier(document)
}
