// Puts the texts back that marks stand for in the raw span of a call, in SQL and in JS.
import { markLead, marks } from '../../core/dump-marks.ts'
import { identifier, param, type Sql, sql } from '../../core/store/sql.ts'
import type { Document } from '../expression/types.ts'

type Texts = Partial<Record<Document, Buffer>>

const nothing = Buffer.alloc(0)

/** `{"key":value}` is cut to `value`; keys of such texts hold no quotes. */
const memberOf = (text: Buffer): Buffer => text.subarray(text.indexOf('":') + 2, text.length - 1)

const standsFor: Record<string, (texts: Texts) => Buffer> = {
  [marks.inputsMember]: ({ inputs }) => memberOf(inputs ?? nothing),
  [marks.inputs]: ({ inputs }) => inputs ?? nothing,
  [marks.outputMember]: ({ output }) => memberOf(output ?? nothing),
  [marks.output]: ({ output }) => output ?? nothing,
  [marks.attributes]: ({ attributes }) => attributes ?? nothing,
}
const markLength = marks.inputs.length

export const hasMarks = (dump: Buffer): boolean => dump.includes(markLead)

/** The raw span as it was received, from texts of one row of payloads. */
export function spliced(dump: Buffer, texts: Texts): Buffer {
  let at = dump.indexOf(markLead)
  if (at === -1) return dump
  const pieces: Buffer[] = []
  let from = 0
  for (; at !== -1; at = dump.indexOf(markLead, from)) {
    const mark = dump.toString('latin1', at, at + markLength)
    const text = standsFor[mark]
    if (text === undefined) throw new Error('a raw span holds an unknown mark')
    pieces.push(dump.subarray(from, at), text(texts))
    from = at + markLength
  }
  pieces.push(dump.subarray(from))
  return Buffer.concat(pieces)
}

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
    [marks.inputsMember, sqlMember(inputs)],
    [marks.inputs, inputs],
    [marks.outputMember, sqlMember(output)],
    [marks.output, output],
    [marks.attributes, attributes],
  ]
  let text = dump
  for (const [mark, by] of texts) text = sql`replaceAll(${text}, ${param('String', mark)}, ${by})`
  return sql`if(position(${dump}, ${param('String', markLead)}) = 0, ${dump}, ${text})`
}

/** A document as an expression over the columns of one row of payloads. */
export const documentSql = (document: Document): Sql => (document === 'otel_dump' ? splicedSql() : identifier(document))
