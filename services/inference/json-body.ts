// A JSON object as its members' texts: what nobody changes goes on byte for byte.

import { members, pairs } from '../core/json/canonical.ts'
import { parseLossless, stringifyLossless } from '../core/json/lossless.ts'
import { objectText } from '../core/json/objects.ts'

/** Member name -> its JSON text. */
export type Members = Map<string, string>

export type JsonBody = {
  /** The text as it came, without byte order mark. */
  text: string
  members: Members
  /** False when a name comes twice, which the next reader may understand in another way. */
  isPlain: boolean
}

/** @param text a JSON object that was parsed before */
export function jsonBody(text: string): JsonBody {
  const bare = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  const list = pairs(bare) ?? []
  const found: Members = new Map(list)
  return { text: bare, members: found, isPlain: found.size === list.length }
}

/** New texts of members; undefined takes one away. */
export type Edits = Map<string, string | undefined>

/** The body with the edits; its very text when they change nothing. */
export function edited(body: JsonBody, edits: Edits): string {
  const changes = [...edits].filter(([name, text]) => body.members.get(name) !== text)
  if (changes.length === 0 && body.isPlain) return body.text
  const result = new Map(body.members)
  for (const [name, text] of changes) {
    if (text === undefined) result.delete(name)
    else result.set(name, text)
  }
  return objectText(result)
}

/** The member's value with its numbers as they are spelled; undefined when absent. */
export function memberValue(found: ReadonlyMap<string, string>, name: string): unknown {
  const text = found.get(name)
  return text === undefined ? undefined : parseLossless(text)
}

/** The object with one member set. */
export function withMember(text: string | undefined, name: string, value: unknown): string {
  const found = (text === undefined ? null : members(text)) ?? new Map<string, string>()
  return objectText(found.set(name, stringifyLossless(value)))
}
