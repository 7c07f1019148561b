// Calls as runs, predictions and scores see them: read and written through the declared routes, payloads as texts.

import { parseRef } from '../../content/refs.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { formatTimestamp } from '../../core/clock/timestamps.ts'
import type { KeyedLock } from '../../core/concurrency/keyed-lock.ts'
import { fault } from '../../core/http/errors.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import type { RouteContext } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { members } from '../../core/json/canonical.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import { positionHeader } from '../../core/log/positions.ts'
import { parseInRoom } from '../../core/memory/heap-room.ts'
import type { EnsureOps } from '../objects/ops.ts'

export type EvaluationDeps = {
  invoke: Invoke
  freshness: Freshness
  ensureOps: EnsureOps
  clock: Clock
  lock: KeyedLock
  config: { wirePrefix: 'platform' | 'wb'; feedbackPrefix: string }
}

/** A call record; the payloads are JSON texts, so that what is passed on stays as it was written. */
export type CallTexts = {
  id: string
  opName: string
  traceId: string
  parentId: string | null
  startedAt: string
  endedAt: string | null
  exception: string | null
  userId: string | null
  attributes: string
  inputs: string
  output: string
  summary: string
}

type Fields = Record<string, unknown>

/** The value as an object; of anything else nothing. */
export const objectOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** A member's text when it is a string. */
export const textAt = (value: Fields, ...keys: string[]): string | null => {
  for (const key of keys) if (Object.hasOwn(value, key) && typeof value[key] === 'string') return value[key]
  return null
}

/** The attributes that tell what a call is for. */
export const evaluationAttributes = ({ attributes }: Pick<CallTexts, 'attributes'>): Fields =>
  objectOf(objectOf(parseInRoom(attributes)).weave)

const scalar = (text: string | undefined): string | null => (text === undefined ? null : JSON.parse(text))

function recordOf(line: string, prefix: string): CallTexts {
  const found = members(line) ?? new Map<string, string>()
  const textOf = (name: string, otherwise: string) => found.get(name) ?? otherwise
  return {
    id: scalar(found.get('id')) ?? '',
    opName: scalar(found.get('op_name')) ?? '',
    traceId: scalar(found.get('trace_id')) ?? '',
    parentId: scalar(found.get('parent_id')),
    startedAt: scalar(found.get('started_at')) ?? '',
    endedAt: scalar(found.get('ended_at')),
    exception: scalar(found.get('exception')),
    userId: scalar(found.get(`${prefix}_user_id`)),
    attributes: textOf('attributes', '{}'),
    inputs: textOf('inputs', '{}'),
    output: textOf('output', 'null'),
    summary: textOf('summary', '{}'),
  }
}

const nowhere: NonNullable<InvokeCaller['freshness']> = { header: () => undefined, query: new URLSearchParams() }
const waited = { ...nowhere, query: new URLSearchParams('freshness=any') }

type RequestContext = Pick<RouteContext, 'caller' | 'signal' | 'requestId'>

/** The caller of reads after a wait: nothing is waited for again. */
export const afterWait = ({ caller, signal, requestId }: RequestContext): InvokeCaller => ({
  caller,
  signal,
  requestId,
  freshness: waited,
})

/** The caller of writes, and of reads that wait by themselves. */
export const asCaller = ({ caller, signal, requestId }: RequestContext): InvokeCaller => ({ caller, signal, requestId })

type Columns = 'user_id' | 'op_name' | 'trace_id' | 'parent_id' | 'started_at' | 'ended_at' | 'exception'
type Payloads = 'attributes' | 'inputs' | 'output' | 'summary'

export type CallsQuery = {
  filter?: { call_ids?: string[]; parent_ids?: string[]; trace_ids?: string[] }
  /** An operation of the query language. */
  where?: unknown
  columns: (Columns | Payloads)[]
  limit?: number | null
  offset?: number
}

/** The start of a call; `inputs` is JSON text. */
export type CallStart = {
  id: string
  traceId: string
  parentId: string | null
  opName: string
  startedUs: number
  attributes: unknown
  inputs: string
}

/** The end of a call; `output` and `summary` are JSON texts. */
type CallEnd = {
  id: string
  startedUs: number
  endedUs: number
  output: string
  summary: string
  exception: string | null
}

export type CallWrite = { start: CallStart } | { end: CallEnd }

const writeText = (projectId: ProjectId, part: CallWrite): string => {
  const project_id = projectId
  if ('start' in part) {
    const { id, traceId, parentId, opName, startedUs, attributes, inputs } = part.start
    const started_at = formatTimestamp(startedUs)
    const head = { project_id, id, trace_id: traceId, parent_id: parentId, op_name: opName, started_at, attributes }
    return `{"mode":"start","req":{"start":${JSON.stringify(head).slice(0, -1)},"inputs":${inputs}}}}`
  }
  const { id, endedUs, startedUs, output, summary, exception } = part.end
  const times = { ended_at: formatTimestamp(endedUs), started_at: formatTimestamp(startedUs) }
  const head = JSON.stringify({ project_id, id, ...times, exception })
  return `{"mode":"end","req":{"end":${head.slice(0, -1)},"summary":${summary},"output":${output}}}}`
}

/** Characters of one request; a call larger than this goes alone. */
const maxCharacters = 8 * 2 ** 20

/** Puts the positions of several writes into one header. */
export const joinPositions = (...headers: Record<string, string>[]): Record<string, string> => {
  const positions = headers.flatMap((one) => one[positionHeader] ?? [])
  return positions.length > 0 ? { [positionHeader]: positions.join(',') } : {}
}

export type EvaluationCalls = {
  /** Waits as the client of a read wishes; the headers belong to its answer. */
  waitToRead(context: RouteContext<unknown>): Promise<Record<string, string>>
  /** Waits before a decision that is made by reading, whatever the client wishes. */
  waitToDecide(context: RouteContext<unknown>): Promise<Record<string, string>>
  /** One call, after a wait; null when there is none. */
  read(context: RequestContext, projectId: ProjectId, id: string): Promise<CallTexts | null>
  /** Calls in the order of their start, after a wait. */
  list(context: RequestContext, projectId: ProjectId, query: CallsQuery): AsyncIterable<CallTexts>
  /**
   * Writes parts of calls: those of one group together, and all together unless they are large.
   * @returns the header with their positions
   * @throws Fault 400 for what is refused
   */
  write(context: RequestContext, projectId: ProjectId, ...groups: CallWrite[][]): Promise<Record<string, string>>
}

export function createCalls({
  invoke,
  freshness,
  config,
}: Pick<EvaluationDeps, 'invoke' | 'freshness' | 'config'>): EvaluationCalls {
  const prefix = config.wirePrefix
  const wireName = (column: string) => (column === 'user_id' ? `${prefix}_user_id` : column)

  async function send(context: RequestContext, items: readonly string[]): Promise<Record<string, string>> {
    const body = Buffer.from(`{"batch":[${items.join(',')}]}`)
    const { bytes, headers } = await invoke.answer('calls.upsert_batch', body, asCaller(context))
    const { res } = parseInRoom(bytes.toString()) as { res: { error?: { reason: string } }[] }
    const refused = res.find((one) => one.error !== undefined)
    if (refused?.error) throw fault(400, refused.error.reason)
    return headers
  }

  return {
    waitToRead: (context) => freshness.wait(context, ['calls']),
    waitToDecide: ({ signal }) => freshness.wait({ ...nowhere, signal }, ['calls']),
    async read(context, projectId, id) {
      const { bytes } = await invoke.answer('calls.read', { project_id: projectId, id }, afterWait(context))
      const call = members(bytes.toString())?.get('call') ?? 'null'
      return call === 'null' ? null : recordOf(call, prefix)
    },
    async *list(context, projectId, { filter, where, columns, limit, offset }) {
      const body = {
        project_id: projectId,
        filter,
        columns: ['id', ...columns.map(wireName)],
        limit,
        offset,
        ...(where === undefined ? {} : { query: { $expr: where } }),
        sort_by: [{ field: 'started_at', direction: 'asc' }],
      }
      for await (const line of invoke.lines('calls.stream_query', body, afterWait(context)))
        yield recordOf(line, prefix)
    },
    async write(context, projectId, ...groups) {
      const texts = groups.map((group) => group.map((part) => writeText(projectId, part)))
      const size = texts.flat().reduce((total, text) => total + text.length, 0)
      if (size <= maxCharacters) return joinPositions(await send(context, texts.flat()))
      const headers: Record<string, string>[] = []
      for (const items of texts) headers.push(await send(context, items))
      return joinPositions(...headers)
    },
  }
}

const field = (path: string) => ({ $getField: path })

/** A condition: the attribute is one of the texts. */
export const attributeIs = (name: string, ...values: string[]): unknown => {
  const of = field(`attributes.weave.${name}`)
  const literals = values.map((value) => ({ $literal: value }))
  return literals.length === 1 ? { $eq: [of, literals[0]] } : { $in: [of, literals] }
}

/** The name of an op, plain or in a ref. */
export function nameOfOp(opName: string): string {
  const ref = parseRef(opName)
  return ref?.kind === 'op' ? ref.name : opName
}

const rowOps = new Set(['Evaluation.predict_and_score', 'Evaluation.predictAndScore'])

/** True for the call around one prediction of an evaluation and its scores, as each of the SDKs names it. */
export const isRow = (opName: string): boolean => rowOps.has(nameOfOp(opName))

/** Microseconds of now, later than every time that was given before: what is written in turn is listed in turn. */
export const nowUs = (clock: Clock): number => Number(clock.next() / 1024n)
