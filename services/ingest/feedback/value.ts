// What a payload is checked against and what is stored of it: annotation values, reactions and the size.
import { type Schema, Validator } from '@cfworker/json-schema'
import { canonicalJson, members } from '../../core/canonical-json.ts'
import { storedPayload } from '../../core/feedback-rows.ts'
import { fault } from '../../core/http/errors.ts'
import { readEmoji } from './emoji.ts'

/** Characters of a payload as JSON text with `", "`, `": "` and ASCII escapes. */
const longestPayload = 1_048_576
/** No character becomes more than so many in that form. */
const mostGrowth = 12

/** @throws Fault 400 when the value does not fit the schema, or the schema cannot be applied */
export function checkAnnotation(value: unknown, schema: unknown): void {
  let fits: { valid: boolean; errors: { error: string }[] }
  try {
    fits = new Validator(schema as Schema | boolean, '2020-12').validate(value)
  } catch (error) {
    throw fault(400, `The annotation's schema cannot be applied: ${String(error).slice(0, 300)}`)
  }
  if (fits.valid) return
  throw fault(
    400,
    `payload.value does not fit the annotation's schema: ${fits.errors.at(-1)?.error.slice(0, 300) ?? ''}`,
  )
}

/** Payload of a reaction with its names. @throws Fault 400 unless `emoji` is exactly one emoji */
function named(text: string, emoji: string): string {
  const read = readEmoji(emoji)
  if (read === null) throw fault(400, 'payload.emoji must be exactly one emoji')
  const added = { alias: read.alias, detoned: read.detoned, detoned_alias: read.detonedAlias }
  const kept = [...(members(text) ?? [])].filter(([key]) => !Object.hasOwn(added, key))
  const all = [...kept, ...Object.entries(added).map(([key, value]) => [key, JSON.stringify(value)] as const)]
  return `{${all.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}

/**
 * The payload's text as it is stored; reactions get their names added.
 * @param sent JSON text of the payload, so that its numbers keep their spelling
 * @throws Fault 400 for what is no emoji, and over 1 MiB
 */
export function payloadOf(sent: string, reaction: string | null): string {
  const text = storedPayload(reaction === null ? sent : named(sent, reaction))
  if (text.length * mostGrowth > longestPayload && canonicalJson(text).length > longestPayload)
    throw fault(400, `payload is larger than ${longestPayload} characters`)
  return text
}
