// Patterns of users: RE2 syntax, whose matching takes linear time, looked for only where their literal part stands.
import { RE2JS } from 're2js'
import { type MaskRules, maxPatternLength } from '../../../schemas/mask-rules.ts'
import { forEachYielding } from '../../core/concurrency/yielding.ts'
import type { Find } from './detectors.ts'

/** Most microseconds that a pattern may take over the reference text, and to be prepared, as every process does. */
const maxUs = { reference: 50, prepare: 5_000 }
/** Longer texts that match are covered as well, but no pattern needs one. */
const referenceText = Array.from(
  { length: 64 },
  (_, n) => `Order ${n * 7_919} of customer ${n}: shipped to Berlin on 2026-01-${10 + (n % 18)}. `,
)
  .join('')
  .slice(0, 4096)

export type Pattern = {
  find: Find
  /** Text that every match holds, '' when none is known. */
  literal: string
}

/** A part of the pattern that stands for itself; those behind it may be taken back by what follows. */
const plainPart = /[A-Za-z\d _#%&@=:;,<>!~-]+/g

/** The longest text that every match holds, as far as the pattern shows it plainly. */
export function literalOf(pattern: string): string {
  // Alternatives, groups and flags make parts optional or change their case; classes and escapes are not texts.
  if (/[|()]/.test(pattern)) return ''
  const plain = pattern.replace(/\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\{[^}]*\}/gs, '\0')
  let longest = ''
  for (const { index, 0: part } of plain.matchAll(plainPart)) {
    const next = plain.charAt(index + part.length)
    // The last character belongs to the repetition that follows.
    const sure = /[?*+\0]/.test(next) ? part.slice(0, -1) : part
    if (sure.length > longest.length) longest = sure
  }
  return longest.length >= 3 ? longest : ''
}

function findWith(compiled: RE2JS, literal: string): Find {
  return (text) => {
    if (literal !== '' && !text.includes(literal)) return []
    const hits = []
    const matcher = compiled.matcher(text)
    while (matcher.find())
      if (matcher.end() > matcher.start()) hits.push({ start: matcher.start(), end: matcher.end() })
    return hits
  }
}

/** Time of the fastest of a few attempts, in microseconds: others may use the processor meanwhile. */
function leastUs(attempts: number, work: () => void): number {
  let least = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < attempts; attempt++) {
    const began = performance.now()
    work()
    least = Math.min(least, (performance.now() - began) * 1000)
  }
  return least
}

/** @throws Error whose message tells what is wrong with the pattern */
export function compilePattern(pattern: string): Pattern {
  if (pattern.length > maxPatternLength) throw new Error(`is longer than ${maxPatternLength} characters`)
  const compiled = RE2JS.compile(pattern)
  if (compiled.matcher('').matches()) throw new Error('matches the empty text')
  const literal = literalOf(pattern)
  return { find: findWith(compiled, literal), literal }
}

/** The reason why a pattern cannot be used, undefined for one that can. */
function faultOf(pattern: string, most: typeof maxUs): string | undefined {
  try {
    const { find } = compilePattern(pattern)
    const prepareUs = leastUs(2, () => compilePattern(pattern))
    if (prepareUs > most.prepare)
      return `The pattern takes ${Math.round(prepareUs / 1000)} ms to prepare; at most ${most.prepare / 1000} are allowed`
    const us = leastUs(8, () => find(referenceText, ''))
    return us > most.reference
      ? `The pattern takes ${Math.round(us)} us for 4 KiB of text; at most ${most.reference} are allowed`
      : undefined
  } catch (error) {
    return `The pattern cannot be used: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Faults of the patterns of rules, each with its place; none when they can be used. */
export async function patternFaults(
  { rules, allow }: MaskRules,
  most = maxUs,
): Promise<{ loc: (string | number)[]; msg: string }[]> {
  const patterns = [
    ...rules.map(({ pattern }, at) => ({ loc: ['rules', at, 'pattern'], pattern })),
    ...allow.map((pattern, at) => ({ loc: ['allow', at], pattern })),
  ]
  const faults: { loc: (string | number)[]; msg: string }[] = []
  await forEachYielding(patterns, ({ loc, pattern }) => {
    const msg = pattern === undefined ? undefined : faultOf(pattern, most)
    if (msg !== undefined) faults.push({ loc, msg })
  })
  return faults
}
