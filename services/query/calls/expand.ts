// Puts the values that refs point at in their places: what `expand_columns` shows in call records.

import type { ObjectRef } from '../../content/refs.ts'
import { fault } from '../../core/http/errors.ts'
import { members } from '../../core/json/canonical.ts'
import type { RefSource } from '../refs/load.ts'
import { resolveRefs } from '../refs/refs.ts'
import { type Expanded, expandedPaths } from './conditions/expanded.ts'
import { readableRef } from './conditions/refs-behind.ts'
import type { Document } from './conditions/types.ts'
import type { CallDocuments } from './payloads.ts'

/** Refs resolved at once, and characters of values that are kept for the calls that follow. */
const atOnce = 500
const maxRemembered = 2 ** 25

export type RefExpansion = {
  /**
   * Resolves the refs of some calls. Until `next`, their payloads can be written expanded.
   * @param isFirst whether the answer can still be a fault
   * @throws Fault 404 with `missing_object_digests` when a version does not exist and the answer has not begun
   */
  resolve(payloads: readonly CallDocuments[], isFirst: boolean): Promise<void>
  expanded(payload: CallDocuments): CallDocuments
}

/** The object with the ref that it stands for, unless it names one itself. */
function withRef(text: string, ref: string): string {
  if (!text.startsWith('{') || members(text)?.has('_ref')) return text
  const end = text.lastIndexOf('}')
  const isEmpty = text.slice(1, end).trim() === ''
  return `${text.slice(0, end)}${isEmpty ? '' : ','}"_ref":${JSON.stringify(ref)}}`
}

/** null = nothing is listed that a record could hold. */
export function createExpansion(
  source: RefSource,
  columns: readonly string[],
  onMissing: (digests: string[]) => void,
): RefExpansion | null {
  const { projectId } = source
  const root = expandedPaths(columns)
  const documents = (['inputs', 'output', 'attributes', 'summary'] as const).filter((name) => root.below.has(name))
  if (documents.length === 0) return null
  /** JSON texts by ref; null = the ref stays. */
  const values = new Map<string, string | null>()
  let remembered = 0
  /** The expanded values in place of refs. */
  const done = new Map<Expanded, Map<string, string>>()

  function below(text: string, place: Expanded, unknown: Set<string>): string {
    if (place.below.size === 0 || !text.trimStart().startsWith('{')) return text
    const parts = members(text)
    let isChanged = false
    for (const [name, next] of place.below) {
      const part = parts?.get(name)
      if (part === undefined) continue
      const put = expandedText(part, next, unknown)
      if (put === part) continue
      parts?.set(name, put)
      isChanged = true
    }
    if (!isChanged || !parts) return text
    return `{${[...parts].map(([name, part]) => `${JSON.stringify(name)}:${part}`).join(',')}}`
  }

  /** The text with what stands behind its refs; refs that are not known yet are collected. */
  function expandedText(text: string, place: Expanded, unknown: Set<string>): string {
    if (!place.isListed || !text.startsWith('"')) return below(text, place, unknown)
    const ref = JSON.parse(text) as string
    const before = done.get(place)?.get(ref)
    if (before !== undefined) return before
    const value = values.get(ref)
    if (value === undefined && readableRef(ref, projectId) !== null) unknown.add(ref)
    if (value === undefined || value === null) return text
    const known = unknown.size
    const put = withRef(below(value, place, unknown), ref)
    if (unknown.size > known) return put
    const atPath = done.get(place) ?? new Map<string, string>()
    done.set(place, atPath.set(ref, put))
    return put
  }

  /** Places of a payload's documents in the record. */
  function pathsOf(payload: CallDocuments): [Document, Expanded][] {
    const found: [Document, Expanded][] = documents.map((name) => [name, root.below.get(name) as Expanded])
    const span = root.below.get('attributes')?.below.get('otel_span')
    return payload.otel_dump && span ? [...found, ['otel_dump', span]] : found
  }

  function textsOf(payload: CallDocuments, unknown: Set<string>): CallDocuments {
    const put: CallDocuments = { ...payload }
    for (const [document, place] of pathsOf(payload)) {
      const stored = payload[document]
      if (!stored?.includes('weave:')) continue
      const text = stored.toString('utf8')
      const expanded = expandedText(text, place, unknown)
      if (expanded !== text) put[document] = Buffer.from(expanded)
    }
    return put
  }

  async function load(unknown: readonly string[]): Promise<string[]> {
    const missing: string[] = []
    for (let at = 0; at < unknown.length; at += atOnce) {
      const some = unknown.slice(at, at + atOnce)
      const refs = some.map((text) => readableRef(text, projectId) as ObjectRef)
      for (const [n, one] of (await resolveRefs(source, refs)).entries()) {
        const text = one.is === 'value' && one.text !== 'null' ? one.text : null
        if (one.is === 'missing') missing.push(one.digest)
        values.set(some[n] as string, text)
        remembered += text?.length ?? 0
      }
    }
    return missing
  }

  return {
    async resolve(payloads, isFirst) {
      done.clear()
      if (remembered > maxRemembered) {
        values.clear()
        remembered = 0
      }
      const missing = new Set<string>()
      for (;;) {
        const unknown = new Set<string>()
        for (const payload of payloads) textsOf(payload, unknown)
        if (unknown.size === 0) break
        for (const digest of await load([...unknown])) missing.add(digest)
      }
      if (missing.size === 0) return
      const digests = [...missing].sort()
      if (isFirst) throw fault(404, 'Some refs point at nothing', { missing_object_digests: digests })
      onMissing(digests)
    },
    expanded: (payload) => textsOf(payload, new Set()),
  }
}
