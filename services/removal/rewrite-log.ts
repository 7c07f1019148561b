// Takes calls out of the kept log: each row about them becomes the row that hides it, under the same number and clock. Read
// again, such a log says what the tables say.
import { placeholderOpDigest } from '../content/op-objects.ts'
import type { Log } from '../core/log/log.ts'
import { createCallWriter } from '../events/calls-writer.ts'
import { rowText } from '../events/declaration.ts'
import { feedbackTopic } from '../events/feedback.ts'
import { filesTopic } from '../events/files.ts'
import { promptEventNames, turnAttributes, turnIdOfSaid } from '../events/gen-ai-events.ts'
import { logsTopic } from '../events/logs.ts'
import { objectsTopic } from '../events/objects.ts'
import { isPatch, rowsOfBytes } from '../events/segment-rows.ts'

type Has = Pick<ReadonlySet<string>, 'has'>
/** Erased ids, each with the accept timestamp of its delete. */
type Deletes = Pick<ReadonlyMap<string, bigint>, 'get'>

/**
 * Erased data of a project: ids of calls, their spans as `spanKey` names them, traces, ids of log records, ids of
 * feedback with the time of its purge; and all feedback that was purged up to an accept timestamp, by the log.
 */
export type ErasedOf = {
  calls: Deletes
  spans: Deletes
  traces: Deletes
  records: Deletes
  feedback: Map<string, bigint>
  untilVer: bigint
}
export type Erased = ReadonlyMap<string, ErasedOf>

/** A span id is one within its trace alone. */
export const spanKey = (traceId: string, spanId: string): string => `${traceId} ${spanId}`

const always: Has = { has: () => true }
const everything: Deletes = { get: () => 0n }
/** Whatever there is. */
export const wholeProject = {
  calls: everything,
  spans: everything,
  traces: everything,
  records: everything,
  files: always,
  objects: always,
  feedback: new Map<string, bigint>(),
  untilVer: 0n,
}

/** Segments that are damaged may hold what was to be taken out: they were left as they are. */
export class LogNotRewritten extends Error {
  constructor(places: readonly string[]) {
    const more = places.length > 3 ? `, and ${places.length - 3} more` : ''
    super(`what the kept log holds of it stays: ${places.slice(0, 3).join(', ')}${more}`)
  }
}

/** First members of a row: its project, its id and its clock, whose 64 bits are exact in the text alone. */
const head = /^\{(?:"kind":"(\w+)",)?"project_id":("(?:[^"\\]|\\.)*"),"id":("(?:[^"\\]|\\.)*"),"clock":(\d+)/
const headBytes = 8_192
const timeForm = /"at_ns":(-?\d+)/

type Row = { line: Buffer; kind: string | undefined; projectId: string; id: string; clock: bigint }

const valuesOf = (line: Buffer): Record<string, unknown> => JSON.parse(line.toString()) as Record<string, unknown>

/** The replacement of a row, with the accept timestamp of the delete that asked for it. */
type Exchange = { row: Buffer | string; ver: bigint } | null

const turnNames = new Set(promptEventNames)

/** The delete of the call that a record alone is, or that its span is, of its trace, or of the record itself. */
function deleteOfRecord({ line, id }: Row, { calls, spans, traces, records }: ErasedOf): bigint | undefined {
  const own = records.get(id) ?? calls.get(id)
  if (own !== undefined) return own
  const { trace_id, span_id, event_name, attributes } = valuesOf(line)
  const [trace, span] = [String(trace_id ?? ''), String(span_id ?? '')]
  const found = trace === '' ? undefined : (spans.get(spanKey(trace, span)) ?? traces.get(trace))
  if (found !== undefined || !turnNames.has(String(event_name))) return found
  const said = attributes as Record<string, string> | undefined
  return calls.get(turnIdOfSaid(turnAttributes.map((name) => said?.[name] ?? '')))
}

/** Replacements of rows, null = the row stays: for each topic whose rows hold texts of calls. */
const exchanges: Record<string, (row: Row, erased: ErasedOf) => Exchange> = {
  calls({ kind, projectId, id, clock }, { calls }) {
    const ver = kind === 'delete' ? undefined : calls.get(id)
    if (ver === undefined) return null
    const writer = createCallWriter({ sizeHintBytes: 200 })
    writer.add({ kind: 'delete', projectId, id, clock })
    const row = writer.take()[0]?.rows
    return row === undefined ? null : { row, ver }
  },
  feedback({ line, projectId, id, clock }, { calls, feedback }) {
    const { event, weave_ref: ref } = valuesOf(line)
    if (event === 'purged') return null
    const lead = `weave:///${projectId}/call/`
    const ofCall = typeof ref === 'string' && ref.startsWith(lead) ? calls.get(ref.slice(lead.length)) : undefined
    const purged = feedback.get(id) ?? 0n
    const ver = clock <= purged ? purged : ofCall
    if (ver === undefined) return null
    return { row: rowText(feedbackTopic, { project_id: projectId, id, clock, event: 'purged' }), ver }
  },
  logs(row, erased) {
    const { line, projectId, id, clock } = row
    const ver = deleteOfRecord(row, erased)
    if (ver === undefined) return null
    const at_ns = timeForm.exec(line.toString())?.[1] ?? '0'
    return { row: rowText(logsTopic, { project_id: projectId, id, clock, at_ns, deleted: 1 }), ver }
  },
}

function rowOf(line: Buffer): Row | null {
  const [, kind, projectId, id, clock] = head.exec(line.toString('utf8', 0, headBytes)) ?? []
  if (projectId === undefined || id === undefined || clock === undefined) return null
  return { line, kind, projectId: JSON.parse(projectId), id: JSON.parse(id), clock: BigInt(clock) }
}

type Exchanged = { projectId: string; row: Buffer | string; ver: bigint }

/** The replacement of a row of a topic, null = it stays. */
function exchanged(topic: string, line: Buffer, erased: Erased): Exchanged | null {
  const row = rowOf(line)
  const of = row && erased.get(row.projectId)
  const other = row && of ? exchanges[topic]?.(row, of) : null
  return row && other ? { projectId: row.projectId, ...other } : null
}

const projectForm = /^\{(?:"kind":"\w+",)?"project_id":("(?:[^"\\]|\\.)*")/

/**
 * The project of a row that is about something erased, with the accept timestamp of the delete, else null.
 * @param whole projects of which every row is erased
 */
export function erasedOfRow(
  topic: string,
  row: string,
  erased: Erased,
  whole: readonly string[],
): Pick<Exchanged, 'projectId' | 'ver'> | null {
  const named = whole.length === 0 ? undefined : projectForm.exec(row)?.[1]
  const projectId = named === undefined ? undefined : (JSON.parse(named) as string)
  if (projectId !== undefined && whole.includes(projectId)) return { projectId, ver: 0n }
  return exchanged(topic, Buffer.from(row), erased)
}

/** Numbers by project and by the accept timestamps of their deletes. */
export type CountsOfDeletes = Map<string, Map<bigint, number>>

export function addCount(counts: CountsOfDeletes, { projectId, ver }: Pick<Exchanged, 'projectId' | 'ver'>): void {
  const own = counts.get(projectId) ?? new Map<bigint, number>()
  counts.set(projectId, own.set(ver, (own.get(ver) ?? 0) + 1))
}

/**
 * Exchanges rows of all that is kept of a topic.
 * @param counts of exchanged rows, which are added to
 * @returns places that could not be written again
 */
async function rewriteTopic(
  log: Required<Pick<Log, 'rewrite'>>,
  topic: string,
  exchange: (line: Buffer) => Exchanged | null,
  counts: CountsOfDeletes,
): Promise<string[]> {
  return log.rewrite(topic, (rows) => {
    let isChanged = false
    const lines = rowsOfBytes(rows).map((line): Buffer => {
      const other = exchange(line)
      const text = other === null ? line : Buffer.from(other.row).subarray(0, -1)
      if (other === null || text.equals(line)) return line
      isChanged = true
      addCount(counts, other)
      return text
    })
    if (!isChanged) return null
    const newline = Buffer.from('\n')
    return {
      rows: Buffer.concat(lines.flatMap((line) => [line, newline])),
      patchCount: topic === 'calls' ? lines.filter((text) => isPatch({ text })).length : 0,
    }
  })
}

/** Adds what the log says was purged: of what was made anew under its id since, the tables do not tell. */
async function addPurged(log: Required<Pick<Log, 'rewrite'>>, erased: Erased): Promise<void> {
  if ([...erased.values()].every(({ untilVer }) => untilVer === 0n)) return
  await log.rewrite(feedbackTopic.name, (rows) => {
    for (const line of rowsOfBytes(rows)) {
      const row = rowOf(line)
      const of = row === null ? undefined : erased.get(row.projectId)
      if (row === null || of === undefined || row.clock > of.untilVer || valuesOf(line).event !== 'purged') continue
      if (row.clock > (of.feedback.get(row.id) ?? 0n)) of.feedback.set(row.id, row.clock)
    }
    return null
  })
}

const canRewrite = (log: Pick<Log, 'rewrite'>): log is Required<Pick<Log, 'rewrite'>> => log.rewrite !== undefined

/**
 * All that is kept: a row that a later one replaced, a log record or a note may be much older than what is stored of a call.
 * @returns how many rows were exchanged, and places that stay; undefined where the log cannot be written again
 */
export async function rewriteLog(
  log: Pick<Log, 'rewrite'>,
  erased: Erased,
): Promise<{ counts: CountsOfDeletes; places: string[] } | undefined> {
  if (!canRewrite(log)) return undefined
  const counts: CountsOfDeletes = new Map()
  const places: string[] = []
  await addPurged(log, erased)
  for (const topic of Object.keys(exchanges))
    places.push(...(await rewriteTopic(log, topic, (line) => exchanged(topic, line, erased), counts)))
  return { counts, places }
}

/** Digests of files, and of objects; ids of ops that were made for a name alone. */
type ErasedFiles = { files: Has; objects: Has; ops?: Has }

const text = String.raw`("(?:[^"\\]|\\.)*")`
const fileHead = new RegExp(String.raw`^\{"project_id":${text},"digest":${text},"clock":(\d+)(?:,"chunk_index":(\d+))?`)
const objectHead = new RegExp(
  String.raw`^\{"project_id":${text},"object_id":${text},"kind":"(object|op)","digest":${text},"clock":(\d+)`,
)
const parsed = (json = '""'): string => JSON.parse(json) as string

/** Replacements of rows of files and objects: a file of no chunks, and the end of an object. */
const fileExchanges: Record<
  string,
  (lead: string, erased: ReadonlyMap<string, ErasedFiles>) => ReturnType<typeof exchanged>
> = {
  files(lead, erased) {
    const [, project, named, clock = '0', chunk = '0'] = fileHead.exec(lead) ?? []
    const [projectId, digest] = [parsed(project), parsed(named)]
    if (!erased.get(projectId)?.files.has(digest)) return null
    const row = { project_id: projectId, digest, clock: BigInt(clock), chunk_index: Number(chunk) }
    return { projectId, row: rowText(filesTopic, row), ver: 0n }
  },
  objects(lead, erased) {
    const [, project, object, kind, named, clock = '0'] = objectHead.exec(lead) ?? []
    const [projectId, digest] = [parsed(project), parsed(named)]
    const { objects, ops } = erased.get(projectId) ?? {}
    const isOp = kind === 'op' && digest === placeholderOpDigest && ops?.has(parsed(object))
    if (!objects?.has(digest) && !isOp) return null
    // The name of an op that was made for it is what is erased; no object is called ''.
    const version = {
      object_id: isOp ? '' : parsed(object),
      kind: kind as 'object' | 'op',
      digest,
      clock: BigInt(clock),
    }
    return { projectId, row: rowText(objectsTopic, { project_id: projectId, ...version, event: 'deleted' }), ver: 0n }
  },
}

/** The same for files and objects, by project. @returns places that stay */
export async function rewriteFilesInLog(
  log: Pick<Log, 'rewrite'>,
  erased: ReadonlyMap<string, ErasedFiles>,
): Promise<string[]> {
  if (!canRewrite(log)) return []
  const places: string[] = []
  for (const [topic, exchange] of Object.entries(fileExchanges)) {
    const one = (line: Buffer) => exchange(line.toString('utf8', 0, headBytes), erased)
    places.push(...(await rewriteTopic(log, topic, one, new Map())))
  }
  return places
}

/** Topics whose kept rows are exchanged. */
export const rewrittenTopics: readonly string[] = [...Object.keys(exchanges), ...Object.keys(fileExchanges)]
