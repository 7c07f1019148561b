// Expands flat dotted attributes into a tree (specification: OTLP, section 3).
import { inlineTextLength } from '../../content/content-port.ts'
import { cost, type DecodeBudget, spend } from './budget.ts'
import { keyOf, maxPath } from './keys.ts'
import type { Attributes } from './spans.ts'
import { type Branch, isBeyondInt64, isContainer, opened, ParsedJson, parseJsonText, type Value } from './values.ts'

/** What is found on the way. */
export type Expansion = {
  /** Takes a long string out of the tree: the ref in its place, or null to leave it. */
  extract(text: string): string | null
  /** Some number is outside of what the engine's JSON functions read. */
  isNonNative: boolean
  /** What the tree may take. */
  budget: DecodeBudget
}

/** Why the attributes fit into no tree. */
export class Conflict {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

const index = /^\d+$/

/** Lists become objects with the keys "0" to "n-1" as soon as something is merged into them. */
function branchOf(container: Branch | Value[], budget: DecodeBudget): Branch {
  if (container instanceof Map) return container
  spend(budget, cost.map + container.length * cost.member)
  const branch: Branch = new Map()
  for (let i = 0; i < container.length; i++) branch.set(String(i), container[i] as Value)
  return branch
}

function merge(existing: Branch, added: Branch, budget: DecodeBudget): Branch {
  for (const [key, value] of added) {
    const before = existing.get(key)
    const both = before !== undefined && isContainer(before) && isContainer(value)
    existing.set(key, both ? merge(branchOf(opened(before), budget), branchOf(opened(value), budget), budget) : value)
  }
  return existing
}

/** Replaces the long strings inside a value that are content, and notes odd numbers. */
function extractInside(value: Value, found: Expansion): Value {
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (isBeyondInt64(value)) found.isNonNative = true
    return value
  }
  if (typeof value === 'string') return value.length > inlineTextLength ? (found.extract(value) ?? value) : value
  if (value instanceof ParsedJson) return value.hasLongText ? extractInside(value.open(), found) : value
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = extractInside(value[i] as Value, found)
  } else if (value instanceof Map) {
    for (const [key, item] of value) {
      // Credentials are redacted where they are written, so they are not stored as content before.
      if (typeof item !== 'string') value.set(key, extractInside(item, found))
      else if (item.length > inlineTextLength && !keyOf(key).isSecret) value.set(key, extractInside(item, found))
    }
  }
  return value
}

/** A value as it is stored: JSON texts parsed, content replaced by refs. */
export function prepared(value: Value, isSecret: boolean, found: Expansion): Value {
  if (typeof value === 'string') {
    const first = value.charCodeAt(0)
    if (first === 123 || first === 91) {
      const parsed = parseJsonText(value, found.budget)
      if (parsed instanceof ParsedJson) {
        if (parsed.isNonNative) found.isNonNative = true
        return parsed.hasLongText ? extractInside(parsed, found) : parsed
      }
    }
    return value.length > inlineTextLength && !isSecret ? extractInside(value, found) : value
  }
  return extractInside(value, found)
}

/**
 * @param keepFirst on a conflict the value that came first stays (resources); otherwise it is the answer
 */
export function expand(attributes: Attributes, found: Expansion, keepFirst = false): Branch | Conflict {
  const root: Branch = new Map()
  const { keys, values } = attributes
  for (let i = 0; i < keys.length; i++) {
    const name = keys[i] as string
    const key = keyOf(name)
    const value = prepared(values[i] as Value, key.isSecret, found)
    const reason = put(root, key.path, value, found.budget)
    if (reason !== null && !keepFirst) return new Conflict(`attribute ${JSON.stringify(name.slice(0, 200))} ${reason}`)
  }
  return root
}

/** Sets a value in the tree; the reason when it does not fit. */
function put(root: Branch, path: string[], value: Value, budget: DecodeBudget): string | null {
  const last = path.length - 1
  if (last >= maxPath) return 'nests too deep'
  let node = root
  for (let i = 0; i < last; i++) {
    const segment = path[i] as string
    const child = node.get(segment)
    let next: Branch
    if (child === undefined) {
      spend(budget, cost.map)
      next = new Map()
    } else if (child instanceof Map) {
      node = child
      continue
    } else {
      if (!isContainer(child)) return 'lies below a plain value'
      const container = opened(child)
      if (Array.isArray(container) && !index.test(path[i + 1] as string)) return 'lies below a list'
      next = branchOf(container, budget)
    }
    node.set(segment, next)
    node = next
  }
  const scalar = path[last] as string
  const before = node.get(scalar)
  if (before === undefined || !isContainer(before)) {
    node.set(scalar, value)
    return null
  }
  if (!isContainer(value)) return 'is a plain value where a structure was set before'
  node.set(scalar, merge(branchOf(opened(before), budget), branchOf(opened(value), budget), budget))
  return null
}

/** Value at a path; numeric segments index into lists. undefined when absent. */
export function lookup(root: Branch, path: readonly string[]): Value | undefined {
  let value: Value | undefined = root
  for (let i = 0; i < path.length; i++) {
    if (value instanceof ParsedJson) value = value.open()
    const segment = path[i] as string
    if (value instanceof Map) value = value.get(segment)
    else if (Array.isArray(value) && index.test(segment)) value = value[Number(segment)]
    else return undefined
    if (value === undefined) return undefined
  }
  return value
}
