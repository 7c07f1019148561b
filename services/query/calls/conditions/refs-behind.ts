// Resolves the refs that stand at some paths of calls, many at once, to the texts that conditions and orders read.

import { type ObjectRef, parseRef } from '../../../content/refs.ts'
import { fault } from '../../../core/http/errors.ts'
import { stringForm, valueAt } from '../../language/json-text.ts'
import type { JsonField } from '../../language/types.ts'
import type { RefSource } from '../../refs/load.ts'
import { resolveRefs } from '../../refs/refs.ts'
import type { Behind } from './derived-fields.ts'
import type { RefField } from './types.ts'

/** Refs that are resolved at once: their values are held until the wanted part is cut out. */
const atOnce = 500
/** Most refs that one request may resolve, and characters of what is remembered of them. */
const maxResolved = 1_000_000
const maxRemembered = 2 ** 25
/** Characters of refs and texts that go into one statement; the engine bounds its length. */
const maxInStatement = 10 * 2 ** 20

/** Fields behind refs that stand at the same place. */
export type RefPlace = { ref: JsonField; fields: RefField[] }

export type RefTexts = {
  places: readonly RefPlace[]
  /**
   * The values behind the refs that were found at the places.
   * @throws Fault 504 when a request resolves too many, 502 when they do not fit into a statement
   */
  behind(found: ReadonlyMap<RefPlace, readonly string[]>): Promise<Behind>
}

/** A readable ref of the project, null for everything else. */
export function readableRef(text: string | null, projectId: string): ObjectRef | null {
  const ref = text === null ? null : parseRef(text)
  if (ref === null || (ref.kind !== 'object' && ref.kind !== 'op')) return null
  return `${ref.entity}/${ref.project}` === projectId ? ref : null
}

/** JSON texts of values by ref; null for what cannot be resolved, or is null. */
async function valuesOf(source: RefSource, texts: Iterable<string>): Promise<Map<string, string>> {
  const refs = new Map<string, ObjectRef>()
  for (const text of texts) {
    const ref = readableRef(text, source.projectId)
    if (ref !== null) refs.set(text, ref)
  }
  const values = new Map<string, string>()
  const resolved = refs.size === 0 ? [] : await resolveRefs(source, [...refs.values()])
  for (const [n, text] of [...refs.keys()].entries()) {
    const one = resolved[n]
    if (one?.is === 'value' && one.text !== 'null') values.set(text, one.text)
  }
  return values
}

/** The string of a JSON text, null when it is none. */
const stringOf = (text: string | null): string | null => (text?.startsWith('"') ? (JSON.parse(text) as string) : null)

/** The document that SQL and JS read of a value: its text form as a JSON string; `null` when it is missing or null. */
const documentOf = (value: string | null): string =>
  value === null || value === 'null' ? 'null' : JSON.stringify(stringForm(value).toWellFormed())

export function createRefTexts(source: RefSource, fields: readonly RefField[]): RefTexts {
  const places: RefPlace[] = []
  for (const field of fields) {
    const key = JSON.stringify(field.ref)
    const known = places.find(({ ref }) => JSON.stringify(ref) === key)
    if (known) known.fields.push(field)
    else places.push({ ref: field.ref, fields: [field] })
  }
  /** Documents by field and ref; '' where there is nothing. */
  const known = new Map<RefField['name'], Map<string, string>>(fields.map(({ name }) => [name, new Map()]))
  let remembered = 0
  let resolved = 0

  async function follow(field: RefField, values: ReadonlyMap<string, string>): Promise<void> {
    const documents = known.get(field.name) as Map<string, string>
    let current: ReadonlyMap<string, string | null> = values
    for (const [n, path] of field.paths.entries()) {
      const found = new Map([...current].map(([ref, value]) => [ref, value === null ? null : valueAt(value, path)]))
      if (n === field.paths.length - 1) {
        for (const [ref, value] of found) documents.set(ref, documentOf(value))
        return
      }
      const next = new Map([...found].flatMap(([ref, value]) => [[ref, stringOf(value)] as const]))
      const behind = await valuesOf(
        source,
        [...next.values()].filter((text) => text !== null),
      )
      const reached = new Map<string, string>()
      for (const [ref, text] of next) {
        const value = text === null ? undefined : behind.get(text)
        if (value !== undefined) reached.set(ref, value)
      }
      current = reached
    }
  }

  async function load(place: RefPlace, refs: readonly string[]): Promise<void> {
    const documents = place.fields.map(({ name }) => known.get(name) as Map<string, string>)
    const unknown = refs.filter((ref) => !documents[0]?.has(ref))
    resolved += unknown.length
    if (resolved > maxResolved) throw fault(504, `The query reads more than ${maxResolved} refs: narrow it`)
    for (let at = 0; at < unknown.length; at += atOnce) {
      const some = unknown.slice(at, at + atOnce)
      const values = await valuesOf(source, some)
      for (const field of place.fields) await follow(field, values)
      for (const ref of some)
        for (const texts of documents) {
          const text = texts.get(ref)
          if (text === undefined) texts.set(ref, '')
          remembered += ref.length + (text?.length ?? 0)
        }
    }
  }

  return {
    places,
    async behind(found) {
      if (remembered > maxRemembered) {
        for (const documents of known.values()) documents.clear()
        remembered = 0
      }
      const behind = new Map<RefField['name'], { refs: string[]; documents: string[] }>()
      let length = 0
      for (const [place, refs] of found) {
        await load(place, refs)
        for (const { name } of place.fields) {
          const documents = known.get(name) as Map<string, string>
          const some = refs.filter((ref) => documents.get(ref))
          behind.set(name, { refs: some, documents: some.map((ref) => documents.get(ref) as string) })
          for (const ref of some) length += ref.length + (documents.get(ref) as string).length
        }
      }
      if (length > maxInStatement)
        throw fault(502, 'The query reads too much behind refs at once: narrow it by operation or by time')
      return behind
    },
  }
}
