// Refs: the grammar of `weave:///…` texts, reading and printing them, and listing the refs inside a value.
import { fault } from '../core/http/errors.ts'

/** One step into a stored value: `attr/<name>`, `key/<name>`, `index/<integer>`, `id/<row digest>`; the value is decoded. */
export type RefStep = { edge: 'attr' | 'key' | 'index' | 'id'; value: string }

export type ObjectRef = {
  kind: 'object' | 'op'
  entity: string
  project: string
  name: string
  version: string
  extra: RefStep[]
}

export type Ref =
  | ObjectRef
  | { kind: 'table'; entity: string; project: string; digest: string }
  | { kind: 'call'; entity: string; project: string; id: string }
  /** Known in the wild, kept as text: agent_turn, agent_conversation, agent_span. */
  | { kind: 'opaque'; entity: string; project: string; type: string; id: string }
  | { kind: 'artifact'; entity: string; project: string; id: string }

const scheme = 'weave:///'
const artifactScheme = 'wandb-artifact:///'
const edges = new Set(['attr', 'key', 'index', 'id'])
const opaque = new Set(['agent_turn', 'agent_conversation', 'agent_span'])

/** A text counts as an op ref, good or bad, exactly when it has this scheme. */
export const hasRefScheme = (text: string): boolean => text.startsWith(scheme)

/** Percent-encodes everything but letters, digits and `_ . - ~`. */
export const encodeRefValue = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

function decodeRefValue(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function parseSteps(parts: string[]): RefStep[] | null {
  const steps: RefStep[] = []
  if (parts.length % 2) return null
  for (let i = 0; i < parts.length; i += 2) {
    const edge = parts[i] as RefStep['edge']
    const value = decodeRefValue(parts[i + 1] as string)
    if (!edges.has(edge) || value === null || (edge === 'index' && !/^-?\d+$/.test(value))) return null
    steps.push({ edge, value })
  }
  return steps
}

function parseObject(kind: 'object' | 'op', entity: string, project: string, rest: string[]): Ref | null {
  const [named = '', ...path] = rest
  const [name, version, surplus] = named.split(':')
  if (!name || !version || surplus !== undefined) return null
  if (path.at(-1) === '') path.pop()
  const extra = parseSteps(path)
  return extra && { kind, entity, project, name, version, extra }
}

/** Reads a ref; null when the text is none (other scheme, unknown kind, malformed name or path). */
export function parseRef(text: string): Ref | null {
  if (text.startsWith(artifactScheme)) {
    const [entity, project, id, surplus] = text.slice(artifactScheme.length).split('/')
    return entity && project && id && surplus === undefined ? { kind: 'artifact', entity, project, id } : null
  }
  if (!text.startsWith(scheme)) return null
  const [entity, project, kind = '', ...rest] = text.slice(scheme.length).split('/')
  if (!entity || !project) return null
  if (kind === 'object' || kind === 'op') return parseObject(kind, entity, project, rest)
  const [id, surplus] = rest
  if (!id || surplus !== undefined) return null
  if (kind === 'call') return { kind, entity, project, id }
  if (kind === 'table') return { kind, entity, project, digest: id }
  return opaque.has(kind) ? { kind: 'opaque', entity, project, type: kind, id } : null
}

/** The text of a ref. */
export function formatRef(ref: Ref): string {
  switch (ref.kind) {
    case 'object':
    case 'op': {
      const extra = ref.extra.map((step) => `/${step.edge}/${encodeRefValue(step.value)}`).join('')
      return `${scheme}${ref.entity}/${ref.project}/${ref.kind}/${ref.name}:${ref.version}${extra}`
    }
    case 'table':
      return `${scheme}${ref.entity}/${ref.project}/table/${ref.digest}`
    case 'call':
      return `${scheme}${ref.entity}/${ref.project}/call/${ref.id}`
    case 'opaque':
      return `${scheme}${ref.entity}/${ref.project}/${ref.type}/${ref.id}`
    case 'artifact':
      return `${artifactScheme}${ref.entity}/${ref.project}/${ref.id}`
  }
}

const plain =
  /^weave:\/\/\/[^/]+\/[^/]+\/(?:object|op)\/[^/:]+:[^/:]+(?:\/(?:(?:attr|key|id)\/[\w.~-]*|index\/-?\d+))*$/

/** True when the text is a ref that prints back as it is: only those are listed as refs of a value. */
export function isRef(text: string): boolean {
  if (text.charCodeAt(0) !== 119) return false
  if (plain.test(text)) return !text.endsWith('/')
  const ref = parseRef(text)
  return ref !== null && formatRef(ref) === text
}

/** The distinct refs among the strings of a JSON value (not its keys), in order of first occurrence. */
export function extractRefs(value: unknown): string[] {
  if (typeof value === 'string') return isRef(value) ? [value] : []
  const found = new Set<string>()
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') {
      if (isRef(next)) found.add(next)
    } else if (typeof next === 'object' && next !== null) {
      const items = Array.isArray(next) ? next : Object.values(next)
      for (let i = items.length - 1; i >= 0; i--) pending.push(items[i])
    }
  }
  return [...found]
}

const internalScheme = 'weave-trace-internal:///'

/** @throws Fault 400 when a string of the value is a ref of the internal scheme: those cannot be stored */
export function refuseInternalRefs(text: string, value: unknown): void {
  // The text search spares nearly every value the walk; an escaped slash is the only other spelling that clients write.
  if (!text.includes('weave-trace-internal:') && !text.includes('\\')) return
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === 'string') {
      if (next.startsWith(internalScheme)) throw fault(400, `Refs of the scheme ${internalScheme} cannot be stored`)
    } else if (typeof next === 'object' && next !== null) for (const item of Object.values(next)) pending.push(item)
  }
}
