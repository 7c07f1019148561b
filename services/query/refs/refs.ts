// Resolves refs of one project to the values that they point at (specification: objects, tables, files and refs, 5.3-5.4).

import { type ObjectRef, parseRef, type RefStep } from '../../content/refs.ts'
import { fault } from '../../core/http/errors.ts'
import { items, members } from '../../core/json/canonical.ts'
import { isContentHash } from '../../events/digest.ts'
import { type Found, loadTargets, type RefSource, type RefTarget, targetKey } from './load.ts'

export type Resolved =
  /** JSON text; `null` for deleted objects and for paths that lead nowhere. */
  | { is: 'value'; text: string }
  /** An object version or a table row that does not exist. */
  | { is: 'missing'; digest: string }
  | { is: 'invalid'; reason: string }

/** Place of a value: behind some steps within a target. */
export type ValuePlace = { is: 'place'; target: RefTarget; steps: RefStep[]; sizeBytes: number }

/** Refs that one path may lead through; beyond it, the answer is null. */
const maxHops = 32
/** Characters of targets that are kept for refs that come back to them. */
const maxKept = 16 * 1024 * 1024

/** Targets that were read, by project and key, as long as they are not much. */
export type Kept = {
  find(projectId: string, key: string): Node | undefined
  keep(projectId: string, key: string, node: Node): void
}

export function createKept(): Kept {
  const nodes = new Map<string, Node>()
  let size = 0
  return {
    find: (projectId, key) => nodes.get(`${projectId}\n${key}`),
    keep(projectId, key, node) {
      if (size + node.text.length > maxKept) return
      size += node.text.length
      nodes.set(`${projectId}\n${key}`, node)
    },
  }
}

/** Characters of values that are put together at once; whoever needs more asks for places. */
const maxTexts = 256 * 1024 * 1024

const nothing: Resolved = { is: 'value', text: 'null' }
const invalid = (reason: string): Resolved => ({ is: 'invalid', reason })

/** JSON text that is taken apart at most once, however many paths go through it. */
export type Node = { text: string; members?: Map<string, Node>; items?: Node[] }

function memberOf(node: Node, key: string): Node | undefined {
  node.members ??= new Map([...(members(node.text) ?? [])].map(([name, text]) => [name, { text }]))
  return node.members.get(key)
}

function itemOf(node: Node, index: number): Node | undefined {
  node.items ??= (items(node.text) ?? []).map((text) => ({ text }))
  return node.items.at(index)
}

/** The item or the member that a step leads to. */
const partOf = (node: Node, { edge, value }: RefStep): Node | undefined =>
  edge === 'index' ? itemOf(node, Number(value)) : memberOf(node, value)

/** Objects have no versions but content hashes. */
const mayExist = (target: RefTarget): boolean => target.is === 'row' || isContentHash(target.digest)

/** State of resolving a ref: at a value, or at a target that has to be loaded first. */
type Walk = { index: number; at: Node | RefTarget; steps: RefStep[]; hops: number }

const isTarget = (at: Node | RefTarget): at is RefTarget => 'is' in at

/** Start of an object ref; null when its version is not allowed here. */
function startOf(ref: ObjectRef): RefTarget | null {
  return ref.version === 'latest' ? null : { is: 'object', name: ref.name, digest: ref.version }
}

/** Follows a string within a value. Undefined = it leads to a target, which `walk` now stands at. */
function followText(walk: Walk, text: string, project: string): Resolved | undefined {
  const step = walk.steps[0] as RefStep
  const ref = parseRef(text)
  if (ref !== null && `${ref.entity}/${ref.project}` !== project) return nothing
  if (ref === null || (ref.kind !== 'object' && ref.kind !== 'op' && ref.kind !== 'table'))
    return step.edge === 'id' ? invalid('id is for rows of a table only') : nothing
  if (++walk.hops > maxHops) return nothing
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
    if (node.text === 'null') return nothing
    if (node.text[0] === '"') {
      const answer = followText(walk, JSON.parse(node.text) as string, project)
      if (answer !== undefined) return answer
      continue
    }
    if (step.edge === 'id') return invalid('id is for rows of a table only')
    const next = partOf(node, step)
    if (next === undefined) return nothing
    walk.at = next
    walk.steps = rest
  }
}

/** The value behind the steps of a place; null when nothing is there. */
export function valueIn(node: Node, steps: readonly RefStep[]): string {
  let at: Node | undefined = node
  for (const step of steps) at = at && partOf(at, step)
  return at?.text ?? 'null'
}

type OnResolved = (index: number, result: Resolved | ValuePlace, text: string | null) => void

/** Walks by the target that they wait for. */
type Waiting = Map<string, Walk[]>

function wait(into: Waiting, walk: Walk): void {
  const key = targetKey(walk.at as RefTarget)
  const others = into.get(key)
  if (others) others.push(walk)
  else into.set(key, [walk])
}

/** Walks at the starts of refs. */
function begin(refs: readonly ObjectRef[], settle: OnResolved): Waiting {
  const waiting: Waiting = new Map()
  for (const [index, ref] of refs.entries()) {
    const at = startOf(ref)
    if (at === null) settle(index, invalid('Only refs with a digest can be read'), null)
    else wait(waiting, { index, at, steps: ref.extra, hops: 0 })
  }
  return waiting
}

/**
 * Follows refs of one project until each is settled. Each round loads what all of them need next, so that a batch takes
 * a few statements and not a few per ref; targets are let go of once all refs that stand at them have gone on.
 * @param needsTexts false: the text of a target that no path leads into need not be read
 */
async function follow(
  source: RefSource,
  refs: readonly ObjectRef[],
  { kept, needsTexts }: { kept: Kept; needsTexts: boolean },
  settle: OnResolved,
): Promise<void> {
  const gone = new Map<string, Resolved>()
  let waiting = begin(refs, settle)
  while (waiting.size > 0) {
    const next: Waiting = new Map()
    const leave = (key: string): Walk[] => {
      const walks = waiting.get(key) ?? []
      // The values that they read are freed with them.
      waiting.delete(key)
      return walks
    }
    /** Lets the walks at a target go on into its text. */
    const enter = (key: string, node: Node) => {
      for (const walk of leave(key)) {
        const { at: target, steps } = walk
        walk.at = node
        const result = advance(walk, source.projectId)
        if (result === undefined) wait(next, walk)
        else if (result.is !== 'value' || result === nothing) settle(walk.index, result, 'null')
        else {
          const place: ValuePlace = { is: 'place', target: target as RefTarget, steps, sizeBytes: node.text.length }
          settle(walk.index, place, result.text)
        }
      }
    }
    const end = (key: string, result: Resolved) => {
      gone.set(key, result)
      for (const { index } of leave(key)) settle(index, result, 'null')
    }
    const arrive = (key: string, found: Found) => {
      if (found === null) return end(key, nothing)
      if ('text' in found) {
        const node: Node = { text: found.text }
        kept.keep(source.projectId, key, node)
        return enter(key, node)
      }
      for (const { index, at } of leave(key))
        settle(index, { is: 'place', target: at as RefTarget, steps: [], sizeBytes: found.sizeBytes }, null)
    }
    const wanted = new Map<string, RefTarget>()
    for (const [key, [walk]] of waiting) {
      const target = (walk as Walk).at as RefTarget
      const node = kept.find(source.projectId, key)
      const known = gone.get(key)
      if (known !== undefined) end(key, known)
      else if (node !== undefined) enter(key, node)
      else if (!mayExist(target)) end(key, { is: 'missing', digest: target.digest })
      else wanted.set(key, target)
    }
    const needsText = (key: string) => needsTexts || (waiting.get(key) ?? []).some(({ steps }) => steps.length > 0)
    for await (const batch of loadTargets(source, [...wanted.values()], needsText))
      for (const [key, found] of batch) {
        arrive(key, found)
        wanted.delete(key)
      }
    for (const [key, { digest }] of wanted) end(key, { is: 'missing', digest })
    waiting = next
  }
}

/**
 * The values of object refs of one project, in their order.
 * @throws Fault 502 when they are too much to be held at once
 */
export async function resolveRefs(source: RefSource, refs: readonly ObjectRef[]): Promise<Resolved[]> {
  const results: Resolved[] = []
  let total = 0
  await follow(source, refs, { kept: createKept(), needsTexts: true }, (index, result, text) => {
    total += text?.length ?? 0
    if (total > maxTexts) throw fault(502, 'The values behind the refs are too large to be read at once')
    results[index] = result.is === 'place' ? { is: 'value', text: text as string } : result
  })
  return results
}

/**
 * Places of the values of object refs of one project, in their order. @param kept gets what was read, if it is not much
 */
export async function locateRefs(
  source: RefSource,
  refs: readonly ObjectRef[],
  kept: Kept,
): Promise<(Resolved | ValuePlace)[]> {
  const results: (Resolved | ValuePlace)[] = []
  await follow(source, refs, { kept, needsTexts: false }, (index, result) => {
    results[index] = result
  })
  return results
}
