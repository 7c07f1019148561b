// Adds the usage of calls to that of their ancestors, bottom-up and without recursion.
import { bottomUp, sharesOf } from '../../content/usage-shares.ts'
import { addCosts, addUsage, type CostsOf, reportedBy, shareOfUsage, type Usage, withoutUsage } from './entries.ts'

/** A call as it was loaded; `usage` null = none. */
export type UsageCall = {
  id: string
  traceId: string
  /** '' = none. */
  parentId: string
  startedUs: number
  isRunning: boolean
  /** Decimal digits: of several calls with one span id the greatest counts. */
  version: string
  usage: Usage | null
}

/** Counts the (call, model) pairs that are held at once. */
export type UsageBudget = { add(entries: number): void }

export const isNewer = (a: string, b: string): boolean => (a.length === b.length ? a > b : a.length > b.length)

/** Index of each call's parent, -1 when it is not loaded. A span id may live in several traces: its own comes first. */
function parentsOf(calls: readonly UsageCall[]): Int32Array {
  const byId = new Map<string, number>()
  const bySpan = new Map<string, number>()
  const spanOf = (traceId: string, id: string): string => `${traceId}\n${id}`
  for (const [n, { id, traceId, version }] of calls.entries()) {
    const other = byId.get(id)
    if (other === undefined) {
      byId.set(id, n)
      continue
    }
    const first = calls[other] as UsageCall
    if (bySpan.get(spanOf(first.traceId, id)) === undefined) bySpan.set(spanOf(first.traceId, id), other)
    bySpan.set(spanOf(traceId, id), n)
    if (isNewer(version, first.version)) byId.set(id, n)
  }
  return Int32Array.from(calls, ({ parentId, traceId }) => {
    if (parentId === '') return -1
    return (bySpan.size > 0 ? bySpan.get(spanOf(traceId, parentId)) : undefined) ?? byId.get(parentId) ?? -1
  })
}

/** SDKs add the usage of children to their parents' before they send it: takes that out again. */
function takeOutChildren(calls: readonly UsageCall[], parents: Int32Array): void {
  const carried = new Map<number, Usage>()
  for (const [n, { usage }] of calls.entries()) {
    const parent = parents[n] as number
    if (parent < 0 || parent === n || usage === null || !calls[parent]?.usage) continue
    const sum = carried.get(parent)
    if (sum) addUsage(sum, usage)
    else carried.set(parent, new Map([...usage].map(([model, entry]) => [model, [...entry]])))
  }
  for (const [n, others] of carried) {
    const call = calls[n] as UsageCall
    call.usage = withoutUsage(call.usage as Usage, others)
  }
}

/**
 * Rolls usage up in place: afterwards each call that `isKept` says holds what it and all its loaded descendants count;
 * other calls lose theirs once it has gone up. Calls of a parent cycle pass nothing on. Costs are those of what a call
 * counts for itself.
 * @param isNested whether a call is a span that reports the sum of those below it, if they report anything (docs/adr/0059)
 */
export function rollUp(
  calls: readonly UsageCall[],
  options: {
    isKept: (call: UsageCall) => boolean
    isNested: (call: UsageCall) => boolean
    ownOnly: boolean
    costsOf: CostsOf | null
    budget: UsageBudget
  },
): void {
  const { isKept, isNested, ownOnly, costsOf, budget } = options
  const parents = parentsOf(calls)
  if (ownOnly) takeOutChildren(calls, parents)
  const shares = sharesOf(
    parents,
    (n) => reportedBy((calls[n] as UsageCall).usage),
    (n) => isNested(calls[n] as UsageCall),
  )
  for (const [n, share] of shares) {
    const call = calls[n] as UsageCall
    call.usage = shareOfUsage(call.usage as Usage, share)
  }
  if (costsOf) for (const { usage, startedUs } of calls) if (usage) addCosts(usage, startedUs, costsOf)
  for (const n of bottomUp(parents)) {
    const parent = calls[parents[n] as number]
    if (parent) passUp(calls[n] as UsageCall, parent, isKept, budget)
  }
}

/** Adds the usage of a call to its parent's, and takes it from a call that is not shown. */
function passUp(call: UsageCall, parent: UsageCall, isKept: (call: UsageCall) => boolean, budget: UsageBudget): void {
  if (!call.usage) return
  const isMoved = !isKept(call)
  if (parent.usage === null && isMoved) parent.usage = call.usage
  else {
    parent.usage ??= new Map()
    budget.add(addUsage(parent.usage, call.usage))
    if (isMoved) budget.add(-call.usage.size)
  }
  if (isMoved) call.usage = null
}
