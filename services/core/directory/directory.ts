// The directory port: who may do what, whole in the memory of every process, from a log of its own.
import { tooLarge, unavailable } from '../errors.ts'
import { type Item, type Kind, maxItemBytes, parseItem, wordsOf } from './items.ts'
import { roomFor } from './room.ts'
import type { DirectoryState } from './state.ts'

/** A change; its author and time are added, unless it comes from another directory and names them. */
export type Change = { key: string; value: unknown; at?: string; by?: string }

export type Directory = {
  /** The state as far as it is known here. Looks from time to time whether others have changed it. */
  state(): DirectoryState
  /** Grows with every change. */
  version(): number
  /** Looks now: somebody asks for what is not known here. */
  look(): void
  /**
   * Resolves once the changes are durable and read back here. Where the log is a file it has done so when it returns.
   * @throws Fault 503 when the log does not take them
   */
  append(changes: readonly Change[], by: string): Promise<void>
  /** The reason why the state here may be old, undefined when it is not. */
  problem(): string | undefined
  /** It is too old to let anybody in by it. */
  isStale(): boolean
  close(): Promise<void>
}

/** A full directory still takes items that end something: nobody may keep others from revoking by making keys. */
const ends: ReadonlySet<string | undefined> = new Set<Kind>([
  'key-revoked',
  'user-off',
  'session-end',
  'sessions-end',
  'project-removed',
])
export const isEnding = ({ key }: Pick<Item, 'key'>): boolean => ends.has(wordsOf(key)?.kind)

/**
 * The items to write for the changes.
 * @throws Error with a line for whoever asked, when one is too long or not of its kind, or there would be too many
 */
export function itemsOf(state: DirectoryState, changes: readonly Change[], by: string, now: number): Item[] {
  const at = new Date(now).toISOString()
  const items = changes.map((change) => parseItem({ at, by, ...change }))
  const long = items.find((item) => Buffer.byteLength(JSON.stringify(item)) >= maxItemBytes)
  if (long !== undefined) throw tooLarge(`${long.key} is longer than ${maxItemBytes} bytes`)
  const added = items.filter(({ key, value }) => value !== null && !state.items.has(key))
  if (!added.every(isEnding) && state.items.size + added.length > roomFor.item)
    throw unavailable(`The directory is full: ${roomFor.item} items`)
  return items
}
