// What the address of a trace says.
import { type SpanKind, spanKinds } from '../engine/rows.ts'

export const tabNames = ['conversation', 'io', 'attributes', 'feedback', 'raw'] as const
export type Tab = (typeof tabNames)[number]

export type TraceSearch = {
  /** Span in the reader; none = the first root. */
  call?: string | undefined
  /** None = the conversation, where there is one. */
  tab?: Tab | undefined
  find?: string | undefined
  kind?: SpanKind | undefined
  critical?: '1' | undefined
  min?: '2' | undefined
  tz?: string | undefined
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

export function traceSearch(search: Record<string, unknown>): TraceSearch {
  const found: TraceSearch = {}
  const call = text(search.call)
  const find = text(search.find)
  const tz = text(search.tz)
  if (call) found.call = call
  if ((tabNames as readonly unknown[]).includes(search.tab)) found.tab = search.tab as Tab
  if (find) found.find = find
  if ((spanKinds as readonly unknown[]).includes(search.kind)) found.kind = search.kind as SpanKind
  if (search.critical === '1') found.critical = '1'
  if (search.min === '2') found.min = '2'
  if (tz) found.tz = tz
  return found
}
