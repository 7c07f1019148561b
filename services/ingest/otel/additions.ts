// What current conventions add to the attributes of a call, where the tables before them found nothing (OTLP, section 5.1).
import { type Conventions, operationKinds } from './conventions.ts'
import { type FoundAttribute, present, textOf } from './find.ts'
import type { Branch } from './values.ts'

type Own = Map<string, FoundAttribute>

/** MLflow writes each value as JSON text. */
const unquoted = (found: FoundAttribute): FoundAttribute => {
  const { key, value } = found
  return typeof value === 'string' && /^"[^"\\]*"$/.test(value) ? { key, value: value.slice(1, -1) } : found
}

function addTargets(own: Own, root: Branch, targets: Conventions['attributes']): void {
  for (const { target, sources } of targets) {
    const found = own.has(target) ? null : present(root, sources)
    if (found !== null) own.set(target, unquoted(found))
  }
}

/** Adds what a span is: its kind, its tool. */
export function addDescription(own: Own, root: Branch, { added }: Conventions): void {
  for (const source of own.has('kind') ? [] : added.operation) {
    const found = present(root, [source])
    const kind = found === null ? undefined : operationKinds.get(textOf(found.value))
    if (found === null || kind === undefined) continue
    own.set('kind', { key: found.key, value: kind })
    break
  }
  addTargets(own, root, added.describing)
}

/** Adds whose span it is. */
export const addPerson = (own: Own, root: Branch, { added }: Conventions): void => addTargets(own, root, added.person)

/** The session that is a thread where nothing else is one. */
export const sessionOf = (root: Branch, { added }: Conventions): string => textOf(present(root, added.session)?.value)
