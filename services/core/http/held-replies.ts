// Answers that take long end with the key of their caller: between two pages it is looked at again.
import { isWithin } from '../directory/roles.ts'
import { fault } from './errors.ts'
import type { KeyHolder } from './holder.ts'
import type { Keys } from './keys.ts'
import type { Reply } from './route.ts'

/** A revocation holds within two seconds everywhere; half of one of them is the directory's. */
const lookMs = 500

/** Whether the key still does all that it did when the request came. */
export function isStillHeld({ keyId, entry }: KeyHolder, keys: Pick<Keys, 'findId'>): boolean {
  if (keyId === undefined || entry === undefined) return true
  const now = keys.findId(keyId)?.entry
  return now !== undefined && isWithin(entry.access, now.access)
}

async function* untilEnded<T>(source: AsyncIterable<T>, isHeld: () => boolean, now: () => number): AsyncGenerator<T> {
  let lookedAtMs = now()
  for await (const piece of source) {
    const nowMs = now()
    if (nowMs - lookedAtMs > lookMs) {
      lookedAtMs = nowMs
      if (!isHeld()) throw fault(401, 'The key of this request was revoked or lost permissions')
    }
    yield piece
  }
}

/** @param now steady milliseconds */
export function whileHeld(reply: Reply, isHeld: () => boolean, now = () => performance.now()): Reply {
  if ('lines' in reply) return { ...reply, lines: untilEnded(reply.lines, isHeld, now) }
  if ('bytes' in reply && !Buffer.isBuffer(reply.bytes))
    return { ...reply, bytes: untilEnded(reply.bytes, isHeld, now) }
  return reply
}
