// A caller with a key: what it may do, as plain data that other threads and jobs make a caller of again.

import type { BlockList } from 'node:net'
import { type Access, checksOf, type NeededRight } from '../directory/roles.ts'
import type { ProjectId } from '../ids.ts'
import { addressList } from './key-changes.ts'
import type { Caller } from './route.ts'

export type HolderEntry = {
  userId: string
  /** Default entity of SDKs. */
  entity: string
  access: Access
}

/** A caller, and whether its key grants a right on any project at all. */
export type KeyHolder = Caller & {
  holds(needed: NeededRight): boolean
  /** From which its key counts; absent: from everywhere. */
  addresses?: BlockList
  /** What makes a holder in another thread; none = a caller without a key. */
  entry?: HolderEntry
}

export function holderOf(
  { userId, entity, access }: HolderEntry,
  keyId?: string,
  endsMs?: number,
  addresses?: readonly string[],
): KeyHolder {
  const [scope, ...more] = Object.keys(access)
  const isOneProject = scope?.includes('/') === true && more.length === 0
  return {
    ...{ entry: { userId, entity, access }, access },
    ...(keyId !== undefined && { keyId }),
    ...(endsMs !== undefined && Number.isFinite(endsMs) && { endsMs }),
    ...(addresses !== undefined && { addresses: addressList(addresses) }),
    ...{ userId, entity },
    ...(isOneProject && { onlyProject: scope as ProjectId }),
    ...checksOf(access),
  }
}
