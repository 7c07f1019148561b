// Adds attributes of current conventions to a call, where the tables before them found nothing (OTLP, section 5.1).
import { methodKinds, operationKinds } from './convention-keys.ts'
import type { Conventions } from './conventions.ts'
import { type FoundAttribute, present, textOf } from './find.ts'
import { type Branch, ParsedJson, treeOf, type Value } from './values.ts'

type Own = Map<string, FoundAttribute>

/** MLflow writes each value as JSON text. */
const unquoted = (found: FoundAttribute): FoundAttribute => {
  const { key, value } = found
  return typeof value === 'string' && /^"[^"\\]*"$/.test(value) ? { key, value: value.slice(1, -1) } : found
}

function addTargets(own: Own, root: Branch, targets: Conventions['attributes'], zeroCounts = false): void {
  for (const { target, sources } of targets) {
    const found = own.has(target) ? null : present(root, sources, zeroCounts)
    if (found !== null) own.set(target, unquoted(found))
  }
}

/** The kind of a span by the operation that it names, else by its method of MCP. */
function kindOf(root: Branch, { operation, method }: Conventions['added']): FoundAttribute | null {
  for (const source of operation) {
    const found = present(root, [source])
    const kind = found === null ? undefined : operationKinds.get(textOf(found.value))
    if (found !== null && kind !== undefined) return { key: found.key, value: kind }
  }
  const found = present(root, operation) === null ? present(root, method) : null
  return found && { key: found.key, value: methodKinds.get(textOf(found.value)) ?? 'mcp' }
}

const reasonsInTree = (list: Value): (Value | undefined)[] => {
  const items = list instanceof Map ? [...list.values()] : Array.isArray(list) ? list : []
  return items.map((item) => {
    const message = treeOf(item)
    return message instanceof Map ? message.get('finish_reason') : undefined
  })
}

/** The text is not opened as a tree: that takes several times as long. */
const reasonsInText = (text: string): unknown[] =>
  text.includes('"finish_reason"')
    ? Object.values(JSON.parse(text) as object).map((message) => message?.finish_reason)
    : []

/** Adds the finish reason of each message of the output, where only the messages have it. */
function addFinishReasons(own: Own, root: Branch, { messages }: Conventions['added']): void {
  const found = own.has('finish_reasons') ? null : present(root, messages)
  if (found === null) return
  const reasons = (
    found.value instanceof ParsedJson ? reasonsInText(found.value.text) : reasonsInTree(found.value)
  ).filter((reason) => typeof reason === 'string' && reason !== '') as string[]
  if (reasons.length > 0) own.set('finish_reasons', { key: found.key, value: reasons })
}

/** Adds what a span is: its kind, its tool. */
export function addDescription(own: Own, root: Branch, { added }: Conventions): void {
  const kind = own.has('kind') ? null : kindOf(root, added)
  if (kind !== null) own.set('kind', kind)
  addTargets(own, root, added.describing)
}

/** Adds whose span it is. */
export const addPerson = (own: Own, root: Branch, { added }: Conventions): void => addTargets(own, root, added.person)

/** Adds what would not make a span one of generative AI, but is told of those that are. */
export function addDetails(own: Own, root: Branch, { added }: Conventions): void {
  for (const [first, named] of added.details) {
    const branch = root.get(first)
    if (!(branch instanceof Map)) continue
    for (const second of branch.keys()) {
      const targets = named.get(second)
      if (targets !== undefined) addTargets(own, root, targets, true)
    }
  }
  addFinishReasons(own, root, added)
}

/** The session that is a thread where nothing else is one. */
export const sessionOf = (root: Branch, { added }: Conventions): string => textOf(present(root, added.session)?.value)
