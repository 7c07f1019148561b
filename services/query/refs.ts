// Resolves refs of one project to the values that they point at (specification: objects, tables, files and refs, 5.3-5.4).
import { items, members } from '../core/canonical-json.ts'
import { isContentHash } from '../core/digest.ts'
import { type ObjectRef, parseRef, type RefStep } from '../core/refs.ts'
import { loadTargets, type RefSource, type Target, targetKey } from './refs-load.ts'

export type Resolved =
  /** JSON text; `null` for deleted objects and for paths that lead nowhere. */
  | { is: 'value'; text: string }
  /** An object version or a table row that does not exist. */
  | { is: 'missing'; digest: string }
  | { is: 'invalid'; reason: string }

/** Refs that one path may lead through; beyond it, the answer is null. */
const mostHops = 32

const nothing: Resolved = { is: 'value', text: 'null' }
const invalid = (reason: string): Resolved => ({ is: 'invalid', reason })

/** JSON text that is taken apart at most once, however many paths go through it. */
type Node = { text: string; members?: Map<string, Node>; items?: Node[] }

function memberOf(node: Node, key: string): Node | undefined {
  node.members ??= new Map([...(members(node.text) ?? [])].map(([name, text]) => [name, { text }]))
  return node.members.get(key)
}

function itemOf(node: Node, index: number): Node | undefined {
  node.items ??= (items(node.text) ?? []).map((text) => ({ text }))
  return node.items.at(index)
}

/** How far a ref is resolved: at a value, or at a target that has to be loaded first. */
type Walk = { at: Node | Target; steps: RefStep[]; hops: number }

const isTarget = (at: Node | Target): at is Target => 'is' in at

/** Where an object ref begins; null when its version is not allowed here. */
function startOf(ref: ObjectRef): Target | null {
  return ref.version === 'latest' ? null : { is: 'object', name: ref.name, digest: ref.version }
}

/** Follows a string within a value. Undefined = it leads to a target, which `walk` now stands at. */
function follow(walk: Walk, text: string, project: string): Resolved | undefined {
  const step = walk.steps[0] as RefStep
  const ref = parseRef(text)
  if (ref !== null && `${ref.entity}/${ref.project}` !== project) return nothing
  if (ref === null || (ref.kind !== 'object' && ref.kind !== 'op' && ref.kind !== 'table'))
    return step.edge === 'id' ? invalid('id is for rows of a table only') : nothing
  if (++walk.hops > mostHops) return nothing
  if (ref.kind === 'table') {
    if (step.edge !== 'id') return invalid(`A table is followed by id, not by ${step.edge}`)
    walk.steps = walk.steps.slice(1)
    walk.at = { is: 'row', table: ref.digest, digest: step.value }
    return undefined
  }
  const start = startOf(ref)
  if (start === null) return invalid('Only refs with a digest can be read')
  walk.steps = [...ref.extra, ...walk.steps]
  walk.at = start
  return undefined
}

/** Goes on until the end of the path, or until a target has to be loaded (undefined). */
function advance(walk: Walk, project: string): Resolved | undefined {
  for (;;) {
    if (isTarget(walk.at)) return undefined
    const node: Node = walk.at
    const [step, ...rest] = walk.steps
    if (step === undefined) return { is: 'value', text: node.text }
    const first = node.text[0]
    if (node.text === 'null') return nothing
    if (first === '"') {
      const answer = follow(walk, JSON.parse(node.text) as string, project)
      if (answer !== undefined) return answer
      continue
    }
    if (step.edge === 'id') return invalid('id is for rows of a table only')
    let next: Node | undefined
    if (step.edge === 'index') next = first === '[' ? itemOf(node, Number(step.value)) : undefined
    else next = first === '{' ? memberOf(node, step.value) : undefined
    if (next === undefined) return nothing
    walk.at = next
    walk.steps = rest
  }
}

/**
 * The values of object refs of one project, in their order. Each round loads what all of them need next, so that a
 * batch takes a few statements and not a few per ref.
 */
export async function resolveRefs(source: RefSource, refs: readonly ObjectRef[]): Promise<Resolved[]> {
  const results: (Resolved | undefined)[] = []
  const nodes = new Map<string, Node | Resolved>()
  const walks = refs.map((ref, i): Walk | null => {
    const at = startOf(ref)
    if (at === null) results[i] = invalid('Only refs with a digest can be read')
    return at && { at, steps: ref.extra, hops: 0 }
  })
  for (;;) {
    const wanted = new Map<string, Target>()
    for (const [i, walk] of walks.entries()) {
      if (walk === null || results[i] !== undefined || !isTarget(walk.at)) continue
      const key = targetKey(walk.at)
      if (nodes.has(key)) continue
      if (walk.at.is === 'object' && !isContentHash(walk.at.digest))
        nodes.set(key, { is: 'missing', digest: walk.at.digest })
      else wanted.set(key, walk.at)
    }
    const loaded = wanted.size === 0 ? null : await loadTargets(source, [...wanted.values()])
    for (const [key, { digest }] of wanted) {
      const text = loaded?.get(key)
      nodes.set(key, text === undefined ? { is: 'missing', digest } : text === null ? nothing : { text })
    }
    let isDone = true
    for (const [i, walk] of walks.entries()) {
      if (walk === null || results[i] !== undefined) continue
      const found = nodes.get(targetKey(walk.at as Target)) as Node | Resolved
      if ('is' in found) results[i] = found
      else {
        walk.at = found
        results[i] = advance(walk, source.projectId)
        if (results[i] === undefined) isDone = false
      }
    }
    if (isDone) return results as Resolved[]
  }
}
