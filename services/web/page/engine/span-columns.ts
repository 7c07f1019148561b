// Columns of a trace's spans in as few bytes as their values need: a large trace stays in memory while its neighbours are read.

/** Texts of any length, one per span, in one: a trace has as many as spans. */
export type Ids = {
  /** Each with a line feed behind it. */
  joined: string
  /** Characters of each; 0 where they differ. */
  width: number
  /** Beginning of each, where widths differ. */
  starts: Int32Array
}

/** A text per span: distinct texts, and the place of each span's, -1 = none. */
export type Texts = { texts: readonly string[]; places: Int8Array | Int16Array | Int32Array }

/** Whole numbers that are small, as a rule. */
export type Numbers = Int32Array | Float64Array

export function idsOf(ids: readonly string[]): Ids {
  const width = ids[0]?.length ?? 0
  const joined = ids.map((id) => `${id}\n`).join('')
  if (width > 0 && ids.every(({ length }) => length === width)) return { joined, width, starts: new Int32Array(0) }
  const starts = new Int32Array(ids.length + 1)
  for (const [n, { length }] of ids.entries()) starts[n + 1] = (starts[n] as number) + length + 1
  return { joined, width: 0, starts }
}

const startOf = ({ width, starts }: Ids, span: number): number =>
  width > 0 ? span * (width + 1) : (starts[span] as number)

export const idAt = (ids: Ids, span: number): string => ids.joined.slice(startOf(ids, span), startOf(ids, span + 1) - 1)

/** The span to which a character belongs. */
function spanAt({ width, starts }: Ids, at: number): number {
  if (width > 0) return Math.floor(at / (width + 1))
  let low = 0
  let high = starts.length - 2
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] as number) <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** -1 when no span has it. */
export function spanOfId(ids: Ids, id: string): number {
  const line = `${id}\n`
  for (let at = ids.joined.indexOf(line); at !== -1; at = ids.joined.indexOf(line, at + 1)) {
    const span = spanAt(ids, at)
    if (idAt(ids, span) === id && startOf(ids, span) === at) return span
  }
  return -1
}

/** Marks the spans whose ids hold a text. */
export function markIds(ids: Ids, text: string, marks: Uint8Array): void {
  for (let at = ids.joined.indexOf(text); at !== -1; ) {
    const span = spanAt(ids, at)
    const end = startOf(ids, span + 1)
    const isWithin = at + text.length < end
    if (isWithin) marks[span] = 1
    at = ids.joined.indexOf(text, isWithin ? end : at + 1)
  }
}

export function textColumn(texts: readonly string[], places: readonly number[]): Texts {
  const Places = texts.length <= 2 ** 7 ? Int8Array : texts.length <= 2 ** 15 ? Int16Array : Int32Array
  return { texts, places: Places.from(places) }
}

export const textOf = ({ texts, places }: Texts, span: number): string => texts[places[span] as number] ?? ''

/** Marks the spans whose text holds another one, which is in lower case: distinct texts are looked at once. */
export function markTexts({ texts, places }: Texts, needle: string, marks: Uint8Array): void {
  const holding = Uint8Array.from(texts, (text) => (text.toLowerCase().includes(needle) ? 1 : 0))
  if (!holding.includes(1)) return
  for (let span = 0; span < marks.length; span++) if (holding[places[span] as number] === 1) marks[span] = 1
}

const isSmall = (value: number): boolean => (value | 0) === value

export const wholeNumbers = (values: readonly number[]): Numbers =>
  values.every(isSmall) ? Int32Array.from(values) : Float64Array.from(values)

/** Numbers that only some spans have: an empty column where none has it. */
export const someNumbers = (values: readonly (number | null)[]): Float64Array =>
  values.every((value) => value === null)
    ? new Float64Array(0)
    : Float64Array.from(values, (value) => value ?? Number.NaN)

export const numberAt = (column: Float64Array, span: number): number => column[span] ?? Number.NaN
