// Takes erased data out of the kept log: each row about it becomes the row that hides it, under the same number and clock.
// Read again, such a log says what the tables say.
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
 * Erased calls of a project and what belongs to them: ids of calls, their spans as `spanKey` names them, traces, ids of log
 * records, ids of feedback with the time of its purge; and all feedback that was purged up to an accept timestamp, by the
 * log.
 */
export type ErasedCalls = {
  calls: Deletes
  spans: Deletes
  traces: Deletes
  records: Deletes
  feedback: Map<string, bigint>
  untilVer: bigint
}
/** Digests of files, and of objects; ids of ops that were made for a name alone. */
export type ErasedFiles = { files: Has; objects: Has; ops?: Has }
/** Erased data by project. */
export type Erased = ReadonlyMap<string, ErasedCalls>

/** A span id is one within its trace alone. */
export const spanKey = (traceId: string, spanId: string): string => `${traceId} ${spanId}`

const always: Has = { has: () => true }
const everything: Deletes = { get: () => 0n }
/** Whatever there is. */
export const wholeProject: ErasedCalls & ErasedFiles = {
  calls: everything,
  spans: everything,
  traces: everything,
  records: everything,
  files: always,
  objects: always,
  feedback: new Map(),
  untilVer: 0n,
}

/** Segments that are damaged may hold what was to be taken out: they were left as they are. */
export class LogNotRewritten extends Error {
  constructor(places: readonly string[]) {
    const more = places.length > 3 ? `, and ${places.length - 3} more` : ''
    super(`what the kept log holds of it stays: ${places.slice(0, 3).join(', ')}${more}`)
  }
}

const text = String.raw`"(?:[^"\\]|\\.)*"`
/** First members of a row. A clock has 64 bits, which are exact in the text alone. */
const head = new RegExp(
  String.raw`^\{(?:"kind":"(?<kind>\w+)",)?"project_id":(?<project>${text})(?:,"id":(?<id>${text}))?` +
    `(?:,"object_id":(?<object>${text}),"kind":"(?<objectKind>object|op)")?(?:,"digest":(?<digest>${text}))?` +
    String.raw`(?:,"clock":(?<clock>\d+))?(?:,"chunk_index":(?<chunk>\d+))?`,
)
const headBytes = 8_192
const timeForm = /"at_ns":(-?\d+)/

type Row = Record<'projectId' | 'id' | 'object' | 'digest', string> & {
  line: Buffer
  kind: string | undefined
  objectKind: string | undefined
  clock: bigint
  chunk: number
}

const parsed = (json?: string): string => (json === undefined ? '' : (JSON.parse(json) as string))

function rowOf(line: Buffer): Row | null {
  const members = head.exec(line.toString('utf8', 0, headBytes))?.groups
  if (members === undefined) return null
  const { kind, objectKind, project, id, object, digest, clock, chunk } = members as Record<string, string | undefined>
  return {
    line,
    kind,
    objectKind,
    projectId: parsed(project),
    id: parsed(id),
    object: parsed(object),
    digest: parsed(digest),
    clock: BigInt(clock ?? 0),
    chunk: Number(chunk ?? 0),
  }
}

const valuesOf = (line: Buffer): Record<string, unknown> => JSON.parse(line.toString()) as Record<string, unknown>

/** The replacement of a row, with the accept timestamp of the delete that asked for it; null = the row stays. */
type Exchange = { row: Buffer | string; ver: bigint } | null

const turnNames = new Set(promptEventNames)

/** The delete of the call that a record alone is, or that its span is, of its trace, or of the record itself. */
function deleteOfRecord({ line, id }: Row, { calls, spans, traces, records }: ErasedCalls): bigint | undefined {
  const own = records.get(id) ?? calls.get(id)
  if (own !== undefined) return own
  const { trace_id, span_id, event_name, attributes } = valuesOf(line)
  const [trace, span] = [String(trace_id ?? ''), String(span_id ?? '')]
  const found = trace === '' ? undefined : (spans.get(spanKey(trace, span)) ?? traces.get(trace))
  if (found !== undefined || !turnNames.has(String(event_name))) return found
  const said = attributes as Record<string, string> | undefined
  return calls.get(turnIdOfSaid(turnAttributes.map((name) => said?.[name] ?? '')))
}

type Exchanges<Erasing> = Record<string, (row: Row, erased: Erasing) => Exchange>

/** Topics whose rows hold texts of calls. */
const callExchanges: Exchanges<ErasedCalls> = {
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

/** Topics of files and objects: a file of no chunks, and the end of an object. */
const fileExchanges: Exchanges<ErasedFiles> = {
  files({ projectId, digest, clock, chunk }, { files }) {
    if (!files.has(digest)) return null
    return { row: rowText(filesTopic, { project_id: projectId, digest, clock, chunk_index: chunk }), ver: 0n }
  },
  objects({ projectId, object, objectKind: kind, digest, clock }, { objects, ops }) {
    const isOp = kind === 'op' && digest === placeholderOpDigest && ops?.has(object)
    if (kind === undefined || (!objects.has(digest) && !isOp)) return null
    // The name of an op that was made for it is what is erased; no object is called ''.
    const version = { object_id: isOp ? '' : object, kind: kind as 'object' | 'op', digest, clock }
    return { row: rowText(objectsTopic, { project_id: projectId, ...version, event: 'deleted' }), ver: 0n }
  },
}

/** Topics whose kept rows are exchanged. */
export const rewrittenTopics: readonly string[] = [...Object.keys(callExchanges), ...Object.keys(fileExchanges)]

type Exchanged = { projectId: string; row: Buffer | string; ver: bigint }

/** The replacement of a row of a topic, null = it stays. */
function exchanged<Erasing>(
  exchange: Exchanges<Erasing>[string] | undefined,
  row: Row | null,
  erased: ReadonlyMap<string, Erasing>,
): Exchanged | null {
  const of = row === null ? undefined : erased.get(row.projectId)
  // Every row that was appended has a clock.
  const other = row?.clock && of !== undefined ? exchange?.(row, of) : null
  return row && other ? { projectId: row.projectId, ...other } : null
}

/** The project of a row that is about something erased, with the accept timestamp of the delete, else null. */
export function erasedOfRow(topic: string, line: string, erased: Erased): Pick<Exchanged, 'projectId' | 'ver'> | null {
  const row = rowOf(Buffer.from(line))
  // Every row of a project that was removed, whatever it is about.
  if (row && erased.get(row.projectId) === wholeProject) return { projectId: row.projectId, ver: 0n }
  return exchanged(callExchanges[topic], row, erased)
}

/** Numbers by project and by the accept timestamps of their deletes. */
export type CountsOfDeletes = Map<string, Map<bigint, number>>

export function addCount(counts: CountsOfDeletes, { projectId, ver }: Pick<Exchanged, 'projectId' | 'ver'>): void {
  const own = counts.get(projectId) ?? new Map<bigint, number>()
  counts.set(projectId, own.set(ver, (own.get(ver) ?? 0) + 1))
}

type Rewritten = {
  counts: CountsOfDeletes
  /** Places that could not be written again. */
  places: string[]
}

/** Exchanges rows of all that is kept of some topics. @returns undefined where the log cannot be written again */
async function rewriteTopics<Erasing>(
  { rewrite }: Pick<Log, 'rewrite'>,
  exchanges: Exchanges<Erasing>,
  erased: ReadonlyMap<string, Erasing>,
): Promise<Rewritten | undefined> {
  if (rewrite === undefined) return undefined
  const counts: CountsOfDeletes = new Map()
  const places: string[] = []
  const newline = Buffer.from('\n')
  for (const [topic, exchange] of Object.entries(exchanges)) {
    const left = await rewrite(topic, (rows) => {
      let isChanged = false
      const lines = rowsOfBytes(rows).map((line): Buffer => {
        const other = exchanged(exchange, rowOf(line), erased)
        const text = other === null ? line : Buffer.from(other.row).subarray(0, -1)
        if (other === null || text.equals(line)) return line
        isChanged = true
        addCount(counts, other)
        return text
      })
      if (!isChanged) return null
      return {
        rows: Buffer.concat(lines.flatMap((line) => [line, newline])),
        patchCount: topic === 'calls' ? lines.filter((text) => isPatch({ text })).length : 0,
      }
    })
    places.push(...left)
  }
  return { counts, places }
}

/** Adds what the log says was purged: of what was made anew under its id since, the tables do not tell. */
async function addPurged({ rewrite }: Pick<Log, 'rewrite'>, erased: Erased): Promise<void> {
  if ([...erased.values()].every(({ untilVer }) => untilVer === 0n)) return
  await rewrite?.(feedbackTopic.name, (rows) => {
    for (const line of rowsOfBytes(rows)) {
      const row = rowOf(line)
      const of = row === null ? undefined : erased.get(row.projectId)
      if (row === null || of === undefined || row.clock > of.untilVer || valuesOf(line).event !== 'purged') continue
      if (row.clock > (of.feedback.get(row.id) ?? 0n)) of.feedback.set(row.id, row.clock)
    }
    return null
  })
}

/**
 * All that is kept: a row that a later one replaced, a log record or a note may be much older than what is stored of a call.
 * @returns how many rows were exchanged, and places that stay; undefined where the log cannot be written again
 */
export async function rewriteLog(log: Pick<Log, 'rewrite'>, erased: Erased): Promise<Rewritten | undefined> {
  await addPurged(log, erased)
  return rewriteTopics(log, callExchanges, erased)
}

/** The same for files and objects of a project. @returns places that stay */
export async function rewriteFilesInLog(
  log: Pick<Log, 'rewrite'>,
  projectId: string,
  erased: ErasedFiles,
): Promise<string[]> {
  return (await rewriteTopics(log, fileExchanges, new Map([[projectId, erased]])))?.places ?? []
}
