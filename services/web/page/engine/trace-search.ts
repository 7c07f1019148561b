// The address of a trace.
import { type SpanKind, type Status, spanKinds } from './rows.ts'
import { statuses, type TraceMode } from './tree.ts'

export const tabNames = ['conversation', 'io', 'attributes', 'feedback', 'cost', 'code', 'logs', 'raw'] as const
export type Tab = (typeof tabNames)[number]

/** Names of the orders of spans, in the order in which the key switches. */
export const modeNames = {
  tree: 'View: Tree',
  start: 'View: Timeline order',
  messages: 'View: LLM calls',
  paths: 'View: By path',
  flame: 'View: Flame graph',
  'flame-paths': 'View: Flame graph by path',
} as const
type Mode = keyof typeof modeNames
const modes = Object.keys(modeNames) as Mode[]
export type SpansMode = Exclude<Mode, 'tree'>

export function nextMode(mode: SpansMode | undefined): SpansMode | undefined {
  const next = modes[(modes.indexOf(mode ?? 'tree') + 1) % modes.length]
  return next === 'tree' ? undefined : next
}

/** The mode of the tree's own lines; the spans by path are another table, and flames are drawn. */
export const treeMode = (mode: SpansMode | undefined): TraceMode | undefined =>
  mode === 'start' || mode === 'messages' ? mode : undefined

export type TraceSearch = {
  /** Span in the reader; none = the first root. */
  call?: string | undefined
  /** None = the conversation, where there is one. */
  tab?: Tab | undefined
  find?: string | undefined
  kind?: SpanKind | undefined
  /** Text is looked for in inputs and outputs, too. */
  in?: 'payloads' | undefined
  status?: Status | undefined
  model?: string | undefined
  /** Order of spans; none = as a tree. */
  mode?: SpansMode | undefined
  critical?: '1' | undefined
  min?: '2' | undefined
  /** The visible part of the timeline, microseconds after the start of the trace: `<from>-<to>`; none = all of it. */
  zoom?: string | undefined
  tz?: string | undefined
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export function zoomOf(zoom: string | undefined): { from: number; to: number } | undefined {
  const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(zoom ?? '') ?? []
  return Number(from) < Number(to) ? { from: Number(from), to: Number(to) } : undefined
}

/** None for what is the whole trace. */
export function zoomText(zoom: { from: number; to: number } | undefined, endUs = 0): string | undefined {
  if (zoom === undefined || (zoom.from <= 0 && zoom.to >= endUs)) return undefined
  const from = Math.max(0, Math.floor(zoom.from))
  return `${from}-${Math.max(from + 1, Math.ceil(zoom.to))}`
}

export function traceSearch(search: Record<string, unknown>): TraceSearch {
  const found: TraceSearch = {}
  const call = text(search.call)
  const find = text(search.find)
  const tz = text(search.tz)
  if (call) found.call = call
  if ((tabNames as readonly unknown[]).includes(search.tab)) found.tab = search.tab as Tab
  if (find) found.find = find
  if ((spanKinds as readonly unknown[]).includes(search.kind)) found.kind = search.kind as SpanKind
  if (search.in === 'payloads') found.in = 'payloads'
  if ((statuses as readonly unknown[]).includes(search.status)) found.status = search.status as Status
  const model = text(search.model)
  if (model) found.model = model
  if (search.mode !== 'tree' && (modes as readonly unknown[]).includes(search.mode))
    found.mode = search.mode as SpansMode
  if (search.critical === '1') found.critical = '1'
  if (search.min === '2') found.min = '2'
  if (zoomOf(text(search.zoom))) found.zoom = search.zoom as string
  if (tz) found.tz = tz
  return found
}
