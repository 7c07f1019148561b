// Picks the sources of the conventions that a span can have, by the first two segments of its keys. A span has a few of some
// hundred sources, and spans of one kind have the same.
import type { Conventions, Source } from './conventions.ts'
import { keyOf } from './keys.ts'

/** Numbers of the beginnings that paths of the conventions have, below one first segment. */
type Heads = {
  first: string
  /** Number of a key that is this segment alone: anything may lie inside of its value. */
  whole: number
  /** Number of a key whose second segment no path has. */
  other: number
  seconds: Map<string, number>
}

type Kinds = {
  heads: Map<string, Heads>
  /** Beginnings by their numbers: the first segment, and the second; null = any, '' = one that no path has. */
  named: { first: string; second: string | null }[]
  /** The last span that had a beginning, by its number. */
  seen: number[]
  spans: number
  /** By the beginnings that a span has, in their order. */
  refined: Map<string, Conventions>
}

/** Kinds of spans that are remembered. */
const maxKinds = 1_000
const kindsOf = new WeakMap<Conventions, Kinds>()

type Holds = (path: readonly string[]) => boolean

function refine(conventions: Conventions, holds: Holds): Conventions {
  const sources = (list: Source[]): Source[] =>
    list.flatMap((source) => {
      const paths = source.paths.filter(holds)
      return paths.length === 0 ? [] : [{ ...source, paths }]
    })
  const targets = <Target extends { sources: Source[] }>(list: Target[]): Target[] =>
    list.map((one) => ({ ...one, sources: sources(one.sources) })).filter((one) => one.sources.length > 0)
  const found = <Added extends { source: Source }>(list: Added[]): Added[] =>
    list.filter(({ source }) => source.paths.some(holds))
  const { added, vendor, messages } = conventions
  return {
    ...conventions,
    attributes: targets(conventions.attributes),
    inputs: sources(conventions.inputs),
    output: sources(conventions.output),
    messages: { inputs: sources(messages.inputs), output: sources(messages.output) },
    usage: targets(conventions.usage),
    further: targets(conventions.further),
    conversation: sources(conventions.conversation),
    added: {
      ...added,
      inputs: found(added.inputs),
      output: found(added.output),
      usage: targets(added.usage),
      operation: sources(added.operation),
      describing: targets(added.describing),
      method: sources(added.method),
      messages: sources(added.messages),
      person: targets(added.person),
      session: sources(added.session),
    },
    vendor: {
      displayName: sources(vendor.displayName),
      threadId: sources(vendor.threadId),
      isTurn: sources(vendor.isTurn),
      attributes: sources(vendor.attributes),
      runId: sources(vendor.runId),
      runStep: sources(vendor.runStep),
      runStepEnd: sources(vendor.runStepEnd),
    },
  }
}

function createKinds(conventions: Conventions): Kinds {
  const kinds: Kinds = { heads: new Map(), named: [], seen: [], spans: 0, refined: new Map() }
  const numberOf = (first: string, second: string | null): number => kinds.named.push({ first, second }) - 1
  const add: Holds = ([first = '', second]) => {
    let heads = kinds.heads.get(first)
    if (heads === undefined) {
      heads = { first, whole: numberOf(first, null), other: numberOf(first, ''), seconds: new Map() }
      kinds.heads.set(first, heads)
    }
    if (second !== undefined && !heads.seconds.has(second)) heads.seconds.set(second, numberOf(first, second))
    return true
  }
  refine(conventions, add)
  kindsOf.set(conventions, kinds)
  return kinds
}

function refinedTo({ named }: Kinds, conventions: Conventions, numbers: readonly number[]): Conventions {
  const firsts = new Map<string, Set<string | null>>()
  for (const number of numbers) {
    const { first, second } = named[number] as Kinds['named'][number]
    firsts.set(first, (firsts.get(first) ?? new Set()).add(second))
  }
  return refine(conventions, ([first = '', second]) => {
    const seconds = firsts.get(first)
    return seconds !== undefined && (second === undefined || seconds.has(null) || seconds.has(second))
  })
}

/** The conventions with the sources alone that a tree of these keys can have. */
export function conventionsFor(conventions: Conventions, keys: readonly string[]): Conventions {
  const kinds = kindsOf.get(conventions) ?? createKinds(conventions)
  const span = ++kinds.spans
  const numbers: number[] = []
  for (let i = 0; i < keys.length; i++) {
    const { path } = keyOf(keys[i] as string)
    const heads = kinds.heads.get(path[0] as string)
    if (heads === undefined) continue
    const number = path.length === 1 ? heads.whole : (heads.seconds.get(path[1] as string) ?? heads.other)
    if (kinds.seen[number] === span) continue
    kinds.seen[number] = span
    numbers.push(number)
  }
  const kind = String.fromCharCode(...numbers)
  const known = kinds.refined.get(kind)
  if (known !== undefined) return known
  if (kinds.refined.size >= maxKinds) kinds.refined.clear()
  const refined = refinedTo(kinds, conventions, numbers)
  kinds.refined.set(kind, refined)
  return refined
}
