// Finds the differences between two texts line by line, with some equal lines around each change and the rest folded.
import { diffLines } from 'diff'

export type Line =
  | { kind: 'same'; a: number; b: number; text: string }
  | { kind: 'removed'; a: number; text: string }
  | { kind: 'added'; b: number; text: string }
  /** Equal lines that are not shown. */
  | { kind: 'folded'; count: number }

export type LineDifferences = { lines: Line[]; removed: number; added: number; isCut: boolean }

type Bounds = { around?: number; most?: number; maxEdits?: number; limitMs?: number }

const linesOf = (text: string): string[] => {
  const lines = text.split('\n')
  // A last line that ends is followed by none.
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Equal lines between two changes: the first and last ones show, in the middle they are folded. */
function* equalLines(texts: readonly string[], a: number, b: number, head: number, tail: number): Generator<Line> {
  const isShort = texts.length <= head + tail + 1
  for (const [n, text] of texts.entries()) {
    if (isShort || n < head || n >= texts.length - tail) yield { kind: 'same', a: a + n, b: b + n, text }
    else if (n === head) yield { kind: 'folded', count: texts.length - head - tail }
  }
}

/**
 * @param bounds.around equal lines that show beside a change
 * @param bounds.most lines in all
 * @param bounds.maxEdits above, all of one text stands before all of the other
 */
export function lineDifferences(
  before: string,
  now: string,
  { around = 3, most = 2_000, maxEdits = 2_000, limitMs = 1_000 }: Bounds = {},
): LineDifferences {
  const whole = [
    { value: before, removed: true, added: false },
    { value: now, removed: false, added: true },
  ]
  const changes = diffLines(before, now, { maxEditLength: maxEdits, timeout: limitMs, stripTrailingCr: true }) ?? whole
  const lines: Line[] = []
  let [a, b, removed, added] = [1, 1, 0, 0]
  for (const [place, change] of changes.entries()) {
    const texts = linesOf(change.value)
    if (change.removed) {
      removed += texts.length
      lines.push(...texts.map((text): Line => ({ kind: 'removed', a: a++, text })))
    } else if (change.added) {
      added += texts.length
      lines.push(...texts.map((text): Line => ({ kind: 'added', b: b++, text })))
    } else {
      const [head, tail] = [place === 0 ? 0 : around, place === changes.length - 1 ? 0 : around]
      lines.push(...equalLines(texts, a, b, head, tail))
      a += texts.length
      b += texts.length
    }
  }
  return { lines: lines.slice(0, most), removed, added, isCut: lines.length > most }
}
