// Expands flat dotted attributes into a tree (specification: OTLP, section 3).
import { inlineTextLength } from '../../content/content-port.ts'
import { isRawNumber } from '../../core/json/lossless.ts'
import { ownValueKey } from '../../core/json/own-value.ts'
import { cost, type DecodeBudget, spend } from './budget.ts'
import { type Faults, withFault } from './faults.ts'
import { keyOf, maxPath } from './keys.ts'
import type { Attributes } from './spans.ts'
import { type Branch, isBeyondInt64, isContainer, opened, ParsedJson, parseJsonText, type Value } from './values.ts'

/** Findings on the way. */
export type Expansion = {
  /** Takes a long string out of the tree: the ref in its place, or null to leave it. */
  extract(text: string): string | null
  /** Some number is outside of what the engine's JSON functions read. */
  isNonNative: boolean
  /** Budget of the tree. */
  budget: DecodeBudget
  /** Faults of the item so far. */
  faults: Faults | null
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

/** The object with a value of its own, which is its first member. */
function withOwn(branch: Branch, value: Value, budget: DecodeBudget): Branch {
  if (branch.has(ownValueKey)) return branch.set(ownValueKey, value)
  spend(budget, cost.map + (branch.size + 1) * cost.member)
  return new Map([[ownValueKey, value], ...branch])
}

/** Whether every member could be an item of a list. */
function isIndexed(branch: Branch): boolean {
  for (const key of branch.keys()) if (key !== ownValueKey && !index.test(key)) return false
  return true
}

/** Two values of one path: nothing of either is lost, but where both are plain, or a list comes for a plain one. */
function joined(before: Value, added: Value, budget: DecodeBudget): Value {
  const wasContainer = isContainer(before)
  if (!isContainer(added)) return wasContainer ? withOwn(branchOf(opened(before), budget), added, budget) : added
  const more = opened(added)
  if (!wasContainer) return Array.isArray(more) ? added : withOwn(more, before, budget)
  const first = opened(before)
  if (Array.isArray(more) && first instanceof Map && !isIndexed(first)) return withOwn(first, added, budget)
  if (Array.isArray(first) && more instanceof Map && !isIndexed(more)) return withOwn(more, before, budget)
  return merge(branchOf(first, budget), branchOf(more, budget), budget)
}

function merge(existing: Branch, added: Branch, budget: DecodeBudget): Branch {
  let merged = existing
  for (const [key, value] of added) {
    const before = merged.get(key)
    if (key === ownValueKey) merged = withOwn(merged, value, budget)
    else merged.set(key, before === undefined ? value : joined(before, value, budget))
  }
  return merged
}

/** Replaces the long strings inside a value that are content, and notes odd numbers. */
function extractInside(value: Value, found: Expansion): Value {
  const number = isRawNumber(value) ? Number(value.rawJSON) : value
  if (typeof number === 'number' || typeof number === 'bigint') {
    if (isBeyondInt64(number)) found.isNonNative = true
    return value
  }
  if (typeof value === 'string') return value.length > inlineTextLength ? (found.extract(value) ?? value) : value
  if (value instanceof ParsedJson) return value.hasLongText ? extractInside(value.open(), found) : value
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) value[i] = extractInside(value[i] as Value, found)
  else if (value instanceof Map) extractInBranch(value, found)
  return value
}

function extractInBranch(branch: Branch, found: Expansion): void {
  // Credentials are redacted where they are written, so they are not stored as content before.
  for (const [key, item] of branch)
    if (typeof item !== 'string' || (item.length > inlineTextLength && !keyOf(key).isSecret))
      branch.set(key, extractInside(item, found))
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

export function expand(attributes: Attributes, found: Expansion): Branch {
  const root: Branch = new Map()
  const { keys, values } = attributes
  for (let i = 0; i < keys.length; i++) {
    const key = keyOf(keys[i] as string)
    if (key.isTooDeep) found.faults = withFault(found.faults, 'key', `a key has more than ${maxPath} parts`)
    put(root, key.path, prepared(values[i] as Value, key.isSecret, found), found.budget)
  }
  return root
}

/** Sets a value in the tree. A member below a plain value, or a name below a list, makes an object of it. */
function put(root: Branch, path: string[], value: Value, budget: DecodeBudget): void {
  const last = path.length - 1
  let node = root
  for (let i = 0; i < last; i++) {
    const segment = path[i] as string
    const child = node.get(segment)
    if (child instanceof Map) {
      node = child
      continue
    }
    let next: Branch
    if (child === undefined) {
      spend(budget, cost.map)
      next = new Map()
    } else next = branchBelow(child, path[i + 1] as string, budget)
    node.set(segment, next)
    node = next
  }
  const name = path[last] as string
  const before = node.get(name)
  node.set(name, before === undefined ? value : joined(before, value, budget))
}

/** The object in place of what was no object, for a member of it. */
function branchBelow(child: Value, name: string, budget: DecodeBudget): Branch {
  if (!isContainer(child)) return withOwn(new Map(), child, budget)
  const container = opened(child)
  return Array.isArray(container) && !index.test(name) ? withOwn(new Map(), child, budget) : branchOf(container, budget)
}

/** The value that a path leads to: for an object with its own value that value. */
const ownOf = (value: Value | undefined): Value | undefined =>
  value instanceof Map ? (value.get(ownValueKey) ?? value) : value

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
  return ownOf(value)
}
