// Looks for the first present value of a list of attribute keys.
import type { Source } from './conventions.ts'
import { lookup } from './expand.ts'
import { type Branch, isTruthy, ParsedJson, type Value } from './values.ts'

export type FoundAttribute = { key: string; value: Value }

const number = /^\d+$/

/**
 * The members of an object beside those that describe it.
 * @param isSent whether it was sent as a value, and not put together from keys; these must be numbered ones
 */
function withoutDescription(value: Branch, described: readonly string[], isSent: () => boolean): Branch | undefined {
  const names = [...value.keys()]
  if (!names.some((name) => number.test(name)) && !isSent()) return undefined
  return names.some((name) => described.includes(name))
    ? new Map([...value].filter(([name]) => !described.includes(name)))
    : value
}

/**
 * First source whose value is present: truthy, or with `zeroCounts` also 0.
 * @param sent keys of the attributes that the tree was made of
 */
export function present(
  root: Branch,
  sources: Source[],
  zeroCounts = false,
  sent: readonly string[] = [],
): FoundAttribute | null {
  for (let i = 0; i < sources.length; i++) {
    const { key, paths, described } = sources[i] as Source
    for (let p = 0; p < paths.length; p++) {
      const path = paths[p] as string[]
      if (!root.has(path[0] as string)) continue
      const found = lookup(root, path)
      const value =
        described !== undefined && found instanceof Map
          ? withoutDescription(found, described, () => sent.includes(path.join('.')))
          : found
      if (isTruthy(value) || (zeroCounts && value === 0)) return { key, value: value as Value }
    }
  }
  return null
}

/** First source that is set at all. */
export function set(root: Branch, sources: Source[]): Value | undefined {
  for (const { paths } of sources) {
    for (const path of paths) {
      const value = lookup(root, path)
      if (value !== undefined) return value
    }
  }
  return undefined
}

/** Text of a plain value, '' for structures; a text that was taken as JSON is itself again. */
export function textOf(value: Value | undefined): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return value instanceof ParsedJson ? value.text : ''
}
