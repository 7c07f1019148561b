// Where the chosen columns of the list stand and how wide they are: the address says which are pinned, widths are taste and
// stay in the browser.

import { madeColumns } from '../engine/calls-search.ts'
import { type KnownFields, readableName, sentNameOf } from '../engine/completion.ts'
import { fieldFault, kindOfField, pathOf, pathsOf } from '../engine/filter-fields.ts'

/** Fields that go by a name; others by the one that programs sent, or their path. */
const columnNames: Readonly<Record<string, string>> = {
  inputs: 'Inputs',
  output: 'Output',
  thread_id: 'Thread',
  platform_user_id: 'Key owner',
  'attributes.end_user': 'End user',
  id: 'ID',
  trace_id: 'Trace',
  feedback: 'Feedback',
  size: 'Size',
}
/** The place of attributes of spans, which names that are only shown leave out. */
const ofSpan = /^attributes\.otel_span\.(?:attributes\.|(?=resource\.attributes\.))/
export const columnName = (path: string): string =>
  (Object.hasOwn(columnNames, path) ? columnNames[path] : undefined) ??
  readableName(sentNameOf(path).replace(ofSpan, ''))

/** Where the values of a column lie: those of a name that programs send are of calls, and of spans. */
export const placesOfColumn = (path: string): string[] => {
  const name = sentNameOf(path)
  return [...new Set([path, ...(name === path ? [] : pathsOf(name))])]
}

/** Whether columns show the same, wherever the values of each lie first. */
export const isOneColumn = (one: string, other: string): boolean => sentNameOf(one) === sentNameOf(other)

/** Columns of the call itself, beside what payloads hold. */
const ownColumns = [
  'thread_id',
  'platform_user_id',
  'attributes.end_user',
  'id',
  'trace_id',
  'inputs',
  'output',
  ...madeColumns,
]

/** Columns to choose from: of the call itself, then fields of the latest calls and attributes of the latest spans, each name once. */
export function columnsOffered(found: KnownFields | undefined): KnownFields['fields'] {
  const ofSpans = (found?.span_attributes?.fields ?? []).map(({ path }) => ({ path, calls: null }))
  const fields = [...(found?.fields ?? []), ...ofSpans].filter(
    ({ path }) => !path.startsWith('feedback.') && !path.includes(','),
  )
  const all = [...ownColumns.map((path) => ({ path, calls: null })), ...fields]
  const names = new Map<string, (typeof all)[number]>()
  for (const field of all) {
    const name = sentNameOf(field.path)
    if (!names.has(name)) names.set(name, field)
  }
  return [...names.values()]
}

/** The path of a column by the name of a field that programs send; undefined for anything else. */
export function columnNamed(name: string): string | undefined {
  if (!/^[^\s,:=<>~()"]+$/.test(name) || fieldFault(name) !== undefined || kindOfField(name) !== undefined)
    return undefined
  return pathsOf(name).length > 1 ? pathOf(name) : undefined
}

export const widthNames = { narrow: 'Narrow', usual: 'Normal', wide: 'Wide', widest: 'Widest' } as const
export type Width = keyof typeof widthNames
export type Widths = ReadonlyMap<string, Width>

/** In rem. The usual one grows with the window. */
const rems: Readonly<Record<Width, number>> = { narrow: 8, usual: 14, wide: 32, widest: 64 }
const trackOf = (width: Width): string => (width === 'usual' ? 'minmax(14rem, 1.6fr)' : `${rems[width]}rem`)

export type Columns = {
  left: readonly string[]
  between: readonly string[]
  right: readonly string[]
  /** Rows stand for whole traces: their duration, errors and spans are columns as well. */
  ofTraces: boolean
  /** Tracks and width of a row. */
  style: { gridTemplateColumns: string; minWidth: string }
}

/** Columns that every list has: mark, status and name come before what is pinned, the others behind it. */
export const headColumns = 3
const headTracks = '2.4rem 1.8rem minmax(16rem, 1.3fr)'
const usualTracks = '11.2rem 13.2rem minmax(8rem, 14rem) 9.2rem 9rem'
const usualPixels = 842
/** Duration, errors and spans, where a row stands for its whole trace. */
const traceTracks = '8rem 6rem 6rem'
const tracePixels = 240

/**
 * @param pinned names of the address, parted by commas
 * @param scaled pixels as large as the reader's text
 * @param ofTraces whether rows stand for whole traces
 */
export function placedColumns(
  columns: readonly string[],
  pinned: { left?: string | undefined; right?: string | undefined },
  widths: Widths,
  scaled: (pixels: number) => number,
  ofTraces = false,
): Columns {
  const all = columns.filter((path) => path !== '-')
  const named = (names = '') => all.filter((path) => names.split(',').includes(path))
  const [left, right] = [named(pinned.left), named(pinned.right)]
  const between = all.filter((path) => !left.includes(path) && !right.includes(path))
  const widthOf = (path: string): Width => widths.get(path) ?? 'usual'
  const tracks = (paths: readonly string[]) => paths.map((path) => trackOf(widthOf(path)))
  const own = all.reduce((sum, path) => sum + rems[widthOf(path)] * 10, 0)
  const usual = ofTraces ? `${usualTracks} ${traceTracks}` : usualTracks
  return {
    left,
    between,
    right,
    ofTraces,
    style: {
      gridTemplateColumns: [headTracks, ...tracks(left), usual, ...tracks(between), ...tracks(right)].join(' '),
      minWidth: `max(100%, ${scaled(usualPixels + (ofTraces ? tracePixels : 0) + own)}px)`,
    },
  }
}

const key = 'callhouse.widths'
const maxKept = 200
const isWidth = (value: unknown): value is Width => typeof value === 'string' && Object.hasOwn(widthNames, value)

export function keptWidths(stored: string | null): Widths {
  try {
    const pairs: unknown = JSON.parse(stored ?? '[]')
    if (!Array.isArray(pairs)) return new Map()
    return new Map(
      pairs.flatMap((pair): [string, Width][] =>
        Array.isArray(pair) && typeof pair[0] === 'string' && isWidth(pair[1]) ? [[pair[0], pair[1]]] : [],
      ),
    )
  } catch {
    return new Map()
  }
}

export function readWidths(): Widths {
  try {
    return keptWidths(localStorage.getItem(key))
  } catch {
    // Storage may be closed to the page.
    return new Map()
  }
}

/** With one column of another width; those that were set the longest ago are forgotten first. */
export function withWidth(widths: Widths, path: string, width: Width): Widths {
  const others = [...widths].filter(([one]) => one !== path)
  return new Map((width === 'usual' ? others : [...others, [path, width] as const]).slice(-maxKept))
}

export function keepWidths(widths: Widths): void {
  try {
    localStorage.setItem(key, JSON.stringify([...widths]))
  } catch {
    // Then they last as long as the page.
  }
}
