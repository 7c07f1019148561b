// Finds the differences between two JSON values: by path, by structure, elements of lists matched where they are equal.
import { diffArrays } from 'diff'
import { parsedAsSpelled } from './message-parts.ts'

export type Difference = {
  path: string
  kind: 'added' | 'removed' | 'changed'
  /** Texts as they are, all else as JSON; undefined where there was nothing. */
  before: string | undefined
  now: string | undefined
  /** The difference of two numbers. */
  change: number | undefined
}

export type Differences = {
  found: Difference[]
  /** Members and elements that are equal, with all that they hold. */
  equal: number
  /** There are more differences, or the values are too different to be compared. */
  isCut: boolean
}

/** Numbers that are spelled otherwise than this language would: 1.0 differs from 1, and no digit is lost. */
const { isRawJSON }: { isRawJSON?(value: unknown): boolean } = JSON as never
const isNumber = (value: unknown): boolean => typeof value === 'number' || isRawJSON?.(value) === true

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumber(value)

/** Members in the order of their names, so that the order in which they stand makes no difference. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : canonical(value))
const plainName = /^[A-Za-z_$][\w$]*$/
const memberPath = (path: string, name: string): string =>
  plainName.test(name) ? (path === '' ? name : `${path}.${name}`) : `${path}[${JSON.stringify(name)}]`

type Bounds = { most?: number; limitMs?: number }

/** Edits of a list up to which its equal elements are looked for; beyond, elements are compared by their places. */
const maxEdits = 2_000

/** Ends a comparison before everything was compared. */
class Cut extends Error {}

/** Places in two lists that go together; one of them is undefined where something was added or removed. */
export type Pair = { before: number | undefined; now: number | undefined; isEqual: boolean }

/**
 * Pairs of elements of two lists: equal ones by an order that keeps most of them, and an element that was removed and
 * one that was added at the same place as one that changed.
 * @param limitMs after which, and beyond many edits, elements go together by their places
 */
export function pairsOf(before: readonly string[], now: readonly string[], limitMs: number): Pair[] {
  const pairs: Pair[] = []
  let [inBefore, inNow] = [0, 0]
  let removed = 0
  const settle = (added: number): void => {
    const both = Math.min(removed, added)
    for (let n = 0; n < both; n++) pairs.push({ before: inBefore + n, now: inNow + n, isEqual: false })
    for (let n = both; n < removed; n++) pairs.push({ before: inBefore + n, now: undefined, isEqual: false })
    for (let n = both; n < added; n++) pairs.push({ before: undefined, now: inNow + n, isEqual: false })
    inBefore += removed
    inNow += added
    removed = 0
  }
  const runs = diffArrays([...before], [...now], { maxEditLength: maxEdits, timeout: limitMs }) ?? [
    { count: before.length, removed: true, added: false },
    { count: now.length, removed: false, added: true },
  ]
  for (const { count = 0, ...run } of runs) {
    if (run.removed) removed = count
    else if (run.added) settle(count)
    else {
      if (removed > 0) settle(0)
      for (let n = 0; n < count; n++) pairs.push({ before: inBefore++, now: inNow++, isEqual: true })
    }
  }
  if (removed > 0) settle(0)
  return pairs
}

/**
 * @param bounds.most differences
 * @throws SyntaxError when a text is no JSON
 */
export function differencesOf(before: string, now: string, { most = 500, limitMs = 2_000 }: Bounds = {}): Differences {
  const found: Difference[] = []
  let equal = 0
  const untilMs = performance.now() + limitMs
  const add = (path: string, kind: Difference['kind'], a: unknown, b: unknown): void => {
    if (found.length === most || performance.now() > untilMs) throw new Cut()
    const change = isNumber(a) && isNumber(b) ? Number(canonical(b)) - Number(canonical(a)) : Number.NaN
    found.push({
      path,
      kind,
      before: kind === 'added' ? undefined : textOf(a),
      now: kind === 'removed' ? undefined : textOf(b),
      change: Number.isFinite(change) ? change : undefined,
    })
  }
  const compareLists = (path: string, a: readonly unknown[], b: readonly unknown[]): void => {
    const left = Math.max(0, untilMs - performance.now())
    for (const { before, now, isEqual } of pairsOf(a.map(canonical), b.map(canonical), left)) {
      if (isEqual) equal++
      else if (now === undefined) add(`${path}[${before}]`, 'removed', a[before as number], undefined)
      else if (before === undefined) add(`${path}[${now}]`, 'added', undefined, b[now])
      else compare(`${path}[${now}]`, a[before], b[now])
    }
  }
  const compare = (path: string, a: unknown, b: unknown): void => {
    if (isObject(a) && isObject(b)) {
      for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
        const at = memberPath(path, name)
        if (!Object.hasOwn(b, name)) add(at, 'removed', a[name], undefined)
        else if (Object.hasOwn(a, name)) compare(at, a[name], b[name])
        else add(at, 'added', undefined, b[name])
      }
    } else if (Array.isArray(a) && Array.isArray(b)) compareLists(path, a, b)
    else if (canonical(a) === canonical(b)) equal++
    else add(path, 'changed', a, b)
  }
  try {
    compare('', parsedAsSpelled(before), parsedAsSpelled(now))
  } catch (error) {
    // Values that lie deeper than the stack reaches, too.
    if (!(error instanceof Cut) && !(error instanceof RangeError)) throw error
    return { found, equal, isCut: true }
  }
  return { found, equal, isCut: false }
}
