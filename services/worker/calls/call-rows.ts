// Reads what the rows of a batch begin with: which calls they are about, whether each has a row that begins it, and which
// landing table they need.
import { forEachYielding } from '../../core/concurrency/yielding.ts'
import type { CallFragment } from '../../events/calls.ts'
import { type SegmentRow, textOfBytes } from '../../events/segment-rows.ts'
import { mayBeBilled } from './billed-rows.ts'
import { addToSpans, headOf, idsOfTrace, type SpansOfRows, spanIdLength } from './spans.ts'

/** A finished call, or the start of one, by what its row begins with. */
export type CallRow = {
  partition: number
  key: string
  /** As bytes of UTF-8, one per character. */
  project: string
  id: string
  /** As a decimal number. */
  clock: string
  startedUs: number
  isFinished: boolean
  text: Buffer
}

export type RowsByCall = {
  /** By `keyOf`: the calls of all rows that could be read; null = more than one row, or one that does not begin it. */
  calls: Map<string, CallRow | null>
  rowCount: number
  /** Whether the calls of some rows are not known. A call whose project or id needs escapes never is: it is left out. */
  isUnsure: boolean
  /** Whether some row may have payloads. */
  hasPayloads: boolean
  /** Whether `billed_usage` may hold something of a finished call. */
  mayBeBilled: boolean
  spans: SpansOfRows
}

/** How the writer of calls begins a row; the record header stands before it in the first row of a record. */
const beginning =
  /^\{(?:"_record":"[^"\\]*",)?"kind":"(\w+)","project_id":"([^"\\]*)","id":"([^"\\]*)","clock":(\d+)(?:,"started_us":(\d+))?[,}]/
/** The same where project or id has escapes. The writer never writes a text with them once and without them once more. */
const escaped =
  /^\{(?:"_record":"[^"\\]*",)?"kind":"\w+","project_id":"(?:[^"\\]|\\.)*","id":"(?:[^"\\]|\\.)*","clock":\d+/

/** What is read of a row, unless its ids are longer. Texts of a match keep all of it in memory. */
const beginningBytes = 512
/** What the beginning may go on with after what was read of it. */
const restBytes = ',"started_us":-9223372036854775808,'.length

/** A name that came with a call is a fragment of its own. It stands before all payloads. */
const named = Buffer.from('"named":1')
const isNamed = (text: Buffer): boolean => headOf(text).includes(named)

/** What tells a call from all others, of project and id as they stand in a row: fingerprints are made of it. */
const keyOf = (project: string, id: string): string => `${project}","id":"${id}`

/** The key of a call whose project and id are texts. */
export const keyOfTexts = (project: string, id: string): string =>
  Buffer.from(keyOf(project, id), 'utf8').toString('latin1')

function beginningOf(text: Buffer): RegExpExecArray | null {
  const found = beginning.exec(text.toString('latin1', 0, beginningBytes))
  const isWhole = text.length <= beginningBytes || (found !== null && found[0].length + restBytes <= beginningBytes)
  return isWhole ? found : beginning.exec(text.toString('latin1'))
}

/** Where the row of a span lies in the table of calls. */
export type PlacedSpan = { project: string; id: string; trace: string; us: number }

/** The span that a row begins; undefined for other rows. */
export function placedSpanOf(text: Buffer): PlacedSpan | undefined {
  const [, , project, id, , us] = beginningOf(text) ?? []
  const trace = id?.length === spanIdLength && us !== undefined ? idsOfTrace(headOf(text))?.[1] : undefined
  if (project === undefined || id === undefined || trace === undefined) return undefined
  return { project: textOfBytes(project), id, trace, us: Number(us) }
}

const withoutPayloads = new Set<CallFragment['kind']>(['delete', 'name'])

/** Yields in between: batches have thousands of rows. */
export async function rowsByCall(rows: Iterable<SegmentRow>): Promise<RowsByCall> {
  const calls = new Map<string, CallRow | null>()
  let rowCount = 0
  let isUnsure = false
  let isBilled = false
  let hasPayloads = false
  const spans: SpansOfRows = { traces: new Map(), mixed: new Set(), others: new Map(), reporting: new Set() }
  await forEachYielding(rows, (row) => {
    rowCount++
    const [, kind, project, id, clock = '', us] = beginningOf(row.text) ?? []
    if (project === undefined || id === undefined) {
      isUnsure ||= !escaped.test(row.text.toString('latin1'))
      hasPayloads = true
      return
    }
    const key = keyOf(project, id)
    const isFinished = kind === 'complete'
    hasPayloads ||= !withoutPayloads.has(kind as CallFragment['kind'])
    const begins = us !== undefined && (isFinished || kind === 'start') && !isNamed(row.text)
    // Of other calls it is enough to know one that is billed.
    const isRowBilled = isFinished && (!isBilled || id.length === spanIdLength) && mayBeBilled(row.text)
    isBilled ||= isRowBilled
    addToSpans(spans, row.text, { project, id, clock, startedUs: Number(us), begins, mayBeBilled: isRowBilled })
    const { partition, text } = row
    const call = () => ({ partition, key, project, id, clock, startedUs: Number(us), isFinished, text })
    calls.set(key, begins && !calls.has(key) ? call() : null)
  })
  return { calls, rowCount, isUnsure, hasPayloads, mayBeBilled: isBilled, spans }
}
