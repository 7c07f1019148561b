// The page's worker: fetches and reduces answers, so that long ones never hold the page up, and keeps JSON as bytes.
import { eachLine } from '../api/lines.ts'
import { ApiFault, type FaultValues, type RouteName, send, staleMsOf } from '../api/send.ts'
import { conversationOf } from '../engine/conversation.ts'
import { type EndUser, endUserOf } from '../engine/end-user.ts'
import { loadFormats } from '../engine/format.ts'
import { type ImportFormat, importedRows } from '../engine/import-rows.ts'
import { type FoundMedia, mediaIn } from '../engine/media.ts'
import type { Message } from '../engine/message-parts.ts'
import { parsedAsSpelled } from '../engine/message-parts.ts'
import { cellOf, type Row, rowOf, type SpanKind } from '../engine/rows.ts'
import { type Thrown, thrownOf } from '../engine/thrown.ts'
import { type Spans, spansOf } from '../engine/tree.ts'
import type { Shapes } from '../routes.gen.ts'
import { callRows } from './call-rows.ts'
import { differences, traceDifferences } from './differences.ts'
import * as documents from './documents.ts'
import * as evaluations from './evaluations.ts'
import * as tables from './tables.ts'

export type Preview = { kind: SpanKind; inputs: string; output: string }
export type CallsAnswer = { rows: Row[]; staleMs: number }
export type TraceAnswer = { spans: Spans; staleMs: number }
export type Opened = {
  sections: Record<string, documents.NodeRef>
  row: Row
  bytes: number
  conversation: Message[] | null
  media: FoundMedia[]
  thrown: Thrown[]
  endUser: EndUser | undefined
  /** Its summary reports what models used. */
  hasUsage: boolean
} | null

/** @property part tells what is there of an answer that takes long */
type Context = { signal: AbortSignal; part(value: unknown): void }

/** Bytes of inputs, and of output, up to which messages are looked for. */
const maxConversation = 2 ** 21

const lightColumns = [
  'id',
  'trace_id',
  'parent_id',
  'op_name',
  'display_name',
  'started_at',
  'ended_at',
  'exception',
  'summary',
  'platform_user_id',
  'thread_id',
]

async function lines(
  base: string,
  name: RouteName,
  body: unknown,
  signal: AbortSignal,
  use: (row: Record<string, unknown>) => void,
) {
  const response = await send(base, name, body, { signal })
  await eachLine(response, use)
  return staleMsOf(response)
}

/** Most answers are whole before their first part would be told. */
const firstPartMs = 100
const maxPartMs = 1_000

/** Tells what is there a moment after it came, then less and less often. */
function tellLater(tell: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = firstPartMs
  return {
    later() {
      timer ??= setTimeout(() => {
        timer = undefined
        waitMs = Math.min(2 * waitMs, maxPartMs)
        tell()
      }, waitMs)
    },
    end: () => clearTimeout(timer),
  }
}

/** Instructions that the conventions keep apart from the messages; a text names the provider. */
function instructionsIn(attributes: unknown): unknown {
  const { system } = (attributes ?? {}) as { system?: unknown }
  return typeof system === 'object' ? system : undefined
}

/** The messages of a call and what it holds of images, sound and files, where inputs and output may become values. */
function contentsOf({ inputs, output }: Record<string, documents.NodeRef>, attributes: unknown) {
  const sizes = [inputs, output].map((ref) => (ref === undefined ? 0 : ref.end - ref.start))
  if (inputs === undefined || sizes.some((size) => size > maxConversation)) return { conversation: null, media: [] }
  const read = ({ doc, start, end, kind }: documents.NodeRef): unknown => {
    const text = documents.copyText(doc, start, end)
    return kind === 'string' ? text : parsedAsSpelled(text)
  }
  const [asked, answered] = [read(inputs), output === undefined ? null : read(output)]
  return {
    conversation: conversationOf(asked, answered, instructionsIn(attributes)),
    media: [...mediaIn(asked, 'inputs'), ...mediaIn(answered, 'output')],
  }
}

function hasUsage(summary: unknown): boolean {
  const { usage } = (summary ?? {}) as { usage?: Record<string, unknown> | null }
  return Object.values(usage ?? {}).some((one) => typeof one === 'object' && one !== null)
}

/** Only what is short becomes values. */
function shortMembers(members: ReadonlyMap<string, documents.NodeRef>, without: readonly string[]) {
  const short: Record<string, unknown> = {}
  for (const [name, { doc, start, end, kind }] of members) {
    if (without.includes(name) || end - start > 1_000_000) continue
    const text = documents.copyText(doc, start, end)
    short[name] = kind === 'string' ? text : (JSON.parse(text) as unknown)
  }
  return short
}

const methods = {
  /** Rows that a long search has found so far are told as parts. */
  async calls({ signal, part }: Context, base: string, body: Record<string, unknown>): Promise<CallsAnswer> {
    const rows: Row[] = []
    const asked = { ...body, columns: lightColumns, include_costs: true, include_storage_size: true }
    const told = tellLater(() => part(rows))
    try {
      const staleMs = await lines(base, 'calls.stream_query', asked, signal, (record) => {
        rows.push(rowOf(record))
        told.later()
      })
      return { rows, staleMs }
    } finally {
      told.end()
    }
  },

  async ids({ signal }: Context, base: string, body: Record<string, unknown>): Promise<string[]> {
    const ids: string[] = []
    await lines(base, 'calls.stream_query', { ...body, columns: ['id'] }, signal, ({ id }) => ids.push(String(id)))
    return ids
  },

  async previews(
    { signal }: Context,
    base: string,
    project_id: string,
    call_ids: string[],
  ): Promise<Record<string, Preview>> {
    const previews: Record<string, Preview> = {}
    const body = { project_id, filter: { call_ids }, columns: ['inputs', 'output', 'attributes', 'summary', 'op_name'] }
    await lines(base, 'calls.stream_query', body, signal, (record) => {
      const { kind } = rowOf(record)
      previews[String(record.id)] = { kind, inputs: cellOf(record.inputs), output: cellOf(record.output) }
    })
    return previews
  },

  async trace({ signal }: Context, base: string, project_id: string, trace_id: string): Promise<TraceAnswer> {
    const response = await send(base, 'traces.tree', { project_id, trace_id }, { signal })
    const tree = (await response.json()) as Shapes['traces.tree']['out']
    return { spans: spansOf(tree), staleMs: staleMsOf(response) }
  },

  async open({ signal }: Context, base: string, project_id: string, id: string): Promise<Opened> {
    const response = await send(base, 'calls.read', { project_id, id, include_costs: true }, { signal })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const call = documents.memberRefs(documents.openDocument(bytes)).get('call')
    if (call === undefined || call.kind !== 'object') return null
    const members = documents.memberRefs(call)
    const sections: Record<string, documents.NodeRef> = { raw: call }
    for (const name of ['inputs', 'output', 'attributes', 'summary']) {
      const ref = members.get(name)
      if (ref !== undefined) sections[name] = ref
    }
    const light = shortMembers(members, ['inputs', 'output'])
    return {
      sections,
      row: rowOf(light),
      bytes: bytes.length,
      thrown: thrownOf(light),
      endUser: endUserOf(light),
      hasUsage: hasUsage(light.summary),
      ...contentsOf(sections, light.attributes),
    }
  },

  async object({ signal }: Context, base: string, project_id: string, object_id: string, digest: string) {
    const asked = { project_id, object_id, digest, include_tags_and_aliases: true }
    const response = await send(base, 'objects.read', asked, { signal })
    const bytes = new Uint8Array(await response.arrayBuffer())
    const found = documents.memberRefs(documents.openDocument(bytes)).get('obj')
    if (found === undefined || found.kind !== 'object') throw new Error('The response has no object')
    const members = documents.memberRefs(found)
    return { head: shortMembers(members, ['val']), value: members.get('val'), bytes: bytes.length }
  },

  /** A version with its value as JSON, and the members of that as they are spelled. */
  async objectTexts(context: Context, base: string, project_id: string, object_id: string, digest: string) {
    const { head, value } = await methods.object(context, base, project_id, object_id, digest)
    if (value === undefined) throw new Error('The response has no value')
    const text = documents.jsonTextOf(value)
    return { head, value: text, members: tables.textDocument(text).cells }
  },

  differences,
  traceDifferences,

  evaluationRuns: evaluations.evaluationRuns,
  evaluationRows: evaluations.evaluationRows,
  comparison: evaluations.comparison,
  examples: evaluations.examples,

  callRows,
  tableRows: tables.tableRows,
  tableRow: tables.tableRow,
  tableCells: tables.tableCells,
  importRows: async (_: Context, text: string, format: ImportFormat) => importedRows(text, format),
  tableFile: tables.tableFile,
  textDocument: async (_: Context, text: string) => tables.textDocument(text),

  unwrap: async (_: Context, doc: number, start: number, end: number) => documents.unwrap(doc, start, end),
  count: async (_: Context, doc: number, start: number) => documents.membersCount(doc, start),
  slice: async (_: Context, ...range: Parameters<typeof documents.slice>) => documents.slice(...range),
  jsonText: async (_: Context, doc: number, start: number, end: number) => documents.jsonTextOf({ doc, start, end }),
  copy: async (_: Context, ...range: Parameters<typeof documents.copyText>) => documents.copyText(...range),
  lineCount: async (_: Context, ...range: Parameters<typeof documents.lineCount>) => documents.lineCount(...range),
  lineSlice: async (_: Context, ...range: Parameters<typeof documents.lineSlice>) => documents.lineSlice(...range),
  find: (_: Context, ...range: Parameters<typeof documents.find>) => documents.find(...range),
  locate: async (_: Context, ...range: Parameters<typeof documents.locate>) => documents.locate(...range),
}

export type Methods = typeof methods
export type Asked = { id: number; method: keyof Methods; args: unknown[] } | { id: number; abort: true }
export type Told = { id: number } & (
  | { part: unknown }
  | { value: unknown }
  | { fault: FaultValues }
  | { error: string }
)

const running = new Map<number, AbortController>()
const post = (told: Told): void => self.postMessage(told)

async function run(id: number, method: keyof Methods, args: unknown[]): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  try {
    const context: Context = { signal: controller.signal, part: (part) => post({ id, part }) }
    const work = methods[method] as (context: Context, ...rest: unknown[]) => Promise<unknown>
    post({ id, value: await work(context, ...args) })
  } catch (error) {
    if (error instanceof ApiFault) post({ id, fault: error.values })
    else post({ id, error: error instanceof Error ? error.message : String(error) })
  } finally {
    running.delete(id)
  }
}

self.addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  if ('abort' in data) running.get(data.id)?.abort()
  else void run(data.id, data.method, data.args)
})

// The page finds them loaded when it shows what it asks for now.
setTimeout(loadFormats)
