// The stored form of a payload: reactions get their names, and the size is bounded.

import { fault } from '../../core/http/errors.ts'
import { canonicalJson, members } from '../../core/json/canonical.ts'
import { storedPayload } from '../../events/feedback.ts'
import { readEmoji } from './emoji.ts'

/** Characters of a payload as JSON text with `", "`, `": "` and ASCII escapes. */
const longestPayload = 1_048_576
/** No character becomes more than so many in that form. */
const maxGrowth = 12

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
  if (text.length * maxGrowth > longestPayload && canonicalJson(text).length > longestPayload)
    throw fault(400, `payload is larger than ${longestPayload} characters`)
  return text
}
