// A caller with a key: what it may do, as plain data that other threads and jobs make a caller of again.

import type { BlockList } from 'node:net'
import { type Access, checksOf, type NeededRight } from '../directory/roles.ts'
import { fault } from './errors.ts'
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
  /** Addresses from which the key counts; absent: all. */
  addresses?: BlockList
  /** The data from which another thread makes a holder; none = a caller without a key. */
  entry?: HolderEntry
}

/** Whether the key counts from there: as a rule it does from everywhere. */
export const countsFrom = ({ addresses }: KeyHolder, address: string): boolean =>
  addresses === undefined || addresses.check(address, address.includes(':') ? 'ipv6' : 'ipv4')

/** @throws Fault 403 for a key that counts from elsewhere only */
export function throwUnlessFrom(holder: KeyHolder, address: string): void {
  if (!countsFrom(holder, address)) throw fault(403, 'This key is not allowed from this IP address')
}

export function holderOf(
  entry: HolderEntry,
  keyId?: string,
  endsMs?: number,
  addresses?: readonly string[],
): KeyHolder {
  const { userId, entity, access } = entry
  const { holds, may, onlyProject } = checksOf(access)
  // Member by member: each key that is seen for the first time comes here.
  const holder: KeyHolder = { entry, access, userId, entity, holds, may }
  if (keyId !== undefined) holder.keyId = keyId
  if (endsMs !== undefined && Number.isFinite(endsMs)) holder.endsMs = endsMs
  if (addresses !== undefined) holder.addresses = addressList(addresses)
  if (onlyProject !== undefined) holder.onlyProject = onlyProject
  return holder
}
