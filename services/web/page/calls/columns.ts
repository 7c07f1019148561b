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

/** The least width of a column in rem, and its share of what is left. */
type Track = readonly [rem: number, share?: number]

/** The usual one grows with the window. */
const ofWidth: Readonly<Record<Width, Track>> = { narrow: [8], usual: [13, 1.6], wide: [32], widest: [64] }
const trackText = ([rem, share]: Track): string => (share === undefined ? `${rem}rem` : `minmax(${rem}rem, ${share}fr)`)

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
const headTracks: readonly Track[] = [[2.4], [1.8], [16.5, 2.2]]
/** Latency, model, tokens and cost. */
const usedTracks: readonly Track[] = [[10.8], [8, 0.8], [8.4], [7.6]]
/** Duration, errors and spans, where a row stands for its whole trace. */
const traceTracks: readonly Track[] = [[6.8], [5.2], [5.2]]

/** What times of start need, by the letters of the longest: of today, with a day, with a year. */
const startedTrack = (letters: number): Track => [letters <= 8 ? 7 : letters <= 16 ? 11.2 : 14.6]

/** In pixels, as the style of lines of cells has them. */
const gap = 12
const sides = 24

/**
 * @param pinned names of the address, parted by commas
 * @param scaled pixels as large as the reader's text
 * @param startedLetters of the longest time of start
 * @param ofTraces whether rows stand for whole traces
 */
export function placedColumns(
  columns: readonly string[],
  pinned: { left?: string | undefined; right?: string | undefined },
  widths: Widths,
  scaled: (pixels: number) => number,
  startedLetters: number,
  ofTraces = false,
): Columns {
  const all = columns.filter((path) => path !== '-')
  const named = (names = '') => all.filter((path) => names.split(',').includes(path))
  const [left, right] = [named(pinned.left), named(pinned.right)]
  const between = all.filter((path) => !left.includes(path) && !right.includes(path))
  const chosen = (paths: readonly string[]): Track[] => paths.map((path) => ofWidth[widths.get(path) ?? 'usual'])
  const own = [startedTrack(startedLetters), ...usedTracks, ...(ofTraces ? traceTracks : [])]
  const tracks = [...headTracks, ...chosen(left), ...own, ...chosen(between), ...chosen(right)]
  const least = tracks.reduce((sum, [rem]) => sum + rem * 10 + gap, sides - gap)
  return {
    left,
    between,
    right,
    ofTraces,
    style: {
      gridTemplateColumns: tracks.map(trackText).join(' '),
      minWidth: `max(100%, ${scaled(least)}px)`,
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
