// Keys that the settings give.
import { actionsOf } from '../directory/roles.ts'
import { holderOf, type KeyHolder } from './holder.ts'
import { digestOf } from './key-text.ts'

/** Keys of CALLHOUSE_KEYS by the SHA-256 of their texts; they have no id: another text for the same user is another key. */
export function configuredKeys(pairs: readonly string[]): Map<string, KeyHolder> {
  return new Map(
    pairs.map((pair) => {
      const colon = pair.indexOf(':')
      const name = pair.slice(0, colon)
      const digest = digestOf(pair.slice(colon + 1))
      const holder = { userId: name, entity: name, access: { '*': actionsOf('owner', '*') } }
      return [digest, holderOf(holder, `configured-${digest.slice(0, 32)}`)]
    }),
  )
}
