// Last uses of keys: known to the minute in the process that took the request, written to the directory now and then.
import type { Directory } from '../directory/directory.ts'
import { itemKey } from '../directory/items.ts'
import { roomFor } from '../directory/room.ts'
import type { DirectoryState } from '../directory/state.ts'

export type KeyUses = {
  /** Last use as far as this process knows; undefined = never, or not since uses are kept. */
  lastMs(state: DirectoryState, keyId: string): number | undefined
  /** Writes uses that are much later than the written ones. */
  flush(): Promise<void>
}

const minuteMs = 60_000
/** A use is written when the one that is written lies so far behind it. */
const staleMs = 60 * minuteMs
/** Keys that are written at one time; the others come next time. */
const maxAtOnce = 500
/** Uses never take the room that users and keys need. */
const mostItems = roomFor.item * 0.9

/** @param held keys by their ids, each with when it was used last in this process; 0 = not yet */
export function createKeyUses(
  directory: Pick<Directory, 'state' | 'append'>,
  held: ReadonlyMap<string, { usedMs: number }>,
): KeyUses {
  const writtenMs = ({ keyUses }: DirectoryState, id: string): number => Date.parse(keyUses.get(id)?.at ?? '') || 0

  return {
    lastMs(state, keyId) {
      const last = Math.max(held.get(keyId)?.usedMs ?? 0, writtenMs(state, keyId))
      return last === 0 ? undefined : Math.floor(last / minuteMs) * minuteMs
    },
    async flush() {
      const state = directory.state()
      if (state.items.size > mostItems) return
      const due = [...held].filter(([id, { usedMs }]) => usedMs - writtenMs(state, id) >= staleMs && state.keys.has(id))
      if (due.length === 0) return
      const changes = due.slice(0, maxAtOnce).map(([id, { usedMs }]) => {
        const at = new Date(Math.floor(usedMs / minuteMs) * minuteMs).toISOString()
        return { key: itemKey('key-used', id), value: { at } }
      })
      await directory.append(changes, 'server')
    },
  }
}
