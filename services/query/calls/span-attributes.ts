// Attributes of the latest spans, and of their resources: they lie in the raw spans alone, which the field index does not have.
import { setImmediate as turn } from 'node:timers/promises'
import { childPath, maxFieldValueBytes, maxPathBytes } from '../../content/field-paths.ts'
import type { ProjectId } from '../../core/ids.ts'
import { membersAt, placeOf } from '../../core/json/byte-walk.ts'
import { doubleText, numberForm, stringToDouble } from '../../core/json/number-text.ts'
import { ownValueKey } from '../../core/json/own-value.ts'
import { rowBinary } from '../../core/store/row-binary.ts'
import { param, sql } from '../../core/store/sql.ts'
import type { Query } from '../../core/store/store.ts'
import { projectQuery } from '../../events/project-query.ts'
import type { JsonField } from '../language/types.ts'
import type { CallReader } from './reader.ts'
import type { Sample } from './sample.ts'
import { type CallKey, instants } from './scope.ts'
import { dumpWithAttributesSql } from './span-dump.ts'

/** Calls among which spans are looked for first: with the times of a whole sample the statement takes four times as long. */
const firstCalls = 2_000
/** Spans that are looked at, and bytes of them in all and of each. */
const maxSpans = 500
const maxBytes = 2 * 2 ** 20
const maxSpanBytes = 2 ** 16
/** Bytes that are looked through before others have their turn. */
const turnBytes = 2 ** 19
/** As in the field index: depth of objects, and values of one span. */
const maxDepth = 6
const maxValues = 200

/** Attributes of spans and of their resources: their place in a raw span, and their path in a record. */
const places = [['attributes'], ['resource', 'attributes']].map((at) => ({
  at,
  path: ['attributes.otel_span', ...at].join('.'),
}))

/** Paths below which all of them lie. */
export const spanAttributes = places.map(({ path }) => path)

/** The path of an attribute of spans; null for other fields. */
export function spanAttributePath({ document, path, over, ref }: JsonField): string | null {
  if (over?.document !== 'otel_dump' || ref !== undefined) return null
  if (!places.some(({ at }) => at.every((name, n) => over.path[n] === name))) return null
  return path.map(String).reduce((at, segment) => (segment === ownValueKey ? at : childPath(at, segment)), document)
}

/** Rows (start time, id, raw span): the newest first. */
export const spansQuery = (projectId: ProjectId, calls: readonly CallKey[]): Query =>
  projectQuery('calls.span-attributes', projectId, (project) => {
    const times = instants([...new Set(calls.map(({ startedUs }) => startedUs))])
    const rows = project.from('payloads', {
      where: sql`at IN ${times} AND part != 'end' AND otel_dump != '' AND length(otel_dump) <= ${param('UInt64', maxSpanBytes)}`,
    })
    return sql`SELECT us, id, text FROM
      (SELECT us, id, clock, text, sum(length(text)) OVER (ORDER BY us DESC, id, clock DESC) AS bytes FROM
        (SELECT toUnixTimestamp64Micro(at) AS us, id, clock, ${dumpWithAttributesSql()} AS text ${rows}
          ORDER BY at DESC, clock DESC LIMIT ${param('UInt64', maxSpans)})
        WHERE length(text) <= ${param('UInt64', maxSpanBytes)})
      WHERE bytes <= ${param('UInt64', maxBytes)} ORDER BY us DESC, id, clock DESC`
  })

/** A value among the attributes of a span, as the field index has values: `text` is '' for forms without one. */
export type SpanValue = { path: string; form: 'number' | 'text' | 'bool' | 'long' | 'opaque'; text: string }

/** The string, number or truth start..end; null for none. */
function scalar(path: string, b: Buffer, start: number, end: number): SpanValue | null {
  if (end - start > maxFieldValueBytes + 2) return { path, form: 'long', text: '' }
  const json = b.toString('utf8', start, end)
  if (json === 'null') return null
  const value = JSON.parse(json) as string | number | boolean
  if (typeof value === 'boolean') return { path, form: 'bool', text: json }
  const text = typeof value === 'number' ? numberForm(json) : value
  if (!text.isWellFormed()) return { path, form: 'long', text: '' }
  const number = stringToDouble(text)
  return { path, form: number !== null && doubleText(number) === text ? 'number' : 'text', text }
}

/** Adds the values below the value at a place. */
function addValues(b: Buffer, start: number, end: number, path: string, depth: number, found: SpanValue[]): void {
  if (found.length >= maxValues || path.length > maxPathBytes) return
  if (b[start] === 0x5b) {
    found.push({ path, form: 'opaque', text: '' })
    return
  }
  if (b[start] !== 0x7b) {
    const one = scalar(path, b, start, end)
    if (one) found.push(one)
    return
  }
  if (depth === maxDepth) return
  for (const { key, valueStart, end: valueEnd } of membersAt(b, start))
    addValues(b, valueStart, valueEnd, key === ownValueKey ? path : childPath(path, key), depth + 1, found)
}

const keyOf = ({ startedUs, id }: CallKey): string => `${startedUs} ${id}`

async function spansAmong(
  { store, projectId, options }: CallReader,
  calls: readonly CallKey[],
): Promise<SpanValue[][]> {
  const read = rowBinary(await store.bytes(spansQuery(projectId, calls), 'RowBinary', options))
  // A span that was sent again has its newest row first; one that is deleted is among no calls.
  const wanted = new Set(calls.map(keyOf))
  const spans: SpanValue[][] = []
  let looked = 0
  while (!read.isAtEnd()) {
    const key = keyOf({ startedUs: read.int64(), id: read.text() })
    const dump = read.bytes()
    if (!wanted.delete(key)) continue
    spans.push(
      places.flatMap(({ at, path }) => {
        const place = placeOf(dump, at)
        const found: SpanValue[] = []
        if (place) addValues(dump, place.start, place.end, path, 0, found)
        return found
      }),
    )
    looked += dump.length
    if (looked < turnBytes) continue
    looked = 0
    await turn()
    options.signal?.throwIfAborted()
  }
  return spans
}

/** The attributes of the latest spans among the calls of a sample, span by span. */
export async function readSpanAttributes(reader: CallReader, { calls }: Sample): Promise<SpanValue[][]> {
  for (const some of [calls.slice(0, firstCalls), calls.slice(firstCalls)]) {
    const spans = some.length > 0 ? await spansAmong(reader, some) : []
    if (spans.length > 0) return spans
  }
  return []
}
