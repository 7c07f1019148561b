// A caller with a key: what it may do, as plain data that other threads and jobs make a caller of again.

import { type Access, checksOf, type NeededRight } from '../directory/roles.ts'
import type { ProjectId } from '../ids.ts'
import type { Caller } from './route.ts'

export type HolderEntry = {
  userId: string
  /** Default entity of SDKs. */
  entity: string
  access: Access
}

/** A caller, and whether its key grants a right on any project at all. */
export type KeyHolder = Caller & {
  /** Of the key, by which sessions that were made with it name it. */
  keyId?: string
  /** When the key ends; absent: it does not. */
  endsMs?: number
  holds(needed: NeededRight): boolean
  /** What makes a holder in another thread; none = a caller without a key. */
  entry?: HolderEntry
}

export function holderOf({ userId, entity, access }: HolderEntry, keyId?: string, endsMs?: number): KeyHolder {
  const [scope, ...more] = Object.keys(access)
  const isOneProject = scope?.includes('/') === true && more.length === 0
  return {
    entry: { userId, entity, access },
    ...(keyId !== undefined && { keyId }),
    ...(endsMs !== undefined && Number.isFinite(endsMs) && { endsMs }),
    ...{ userId, entity },
    ...(isOneProject && { onlyProject: scope as ProjectId }),
    ...checksOf(access),
  }
}
