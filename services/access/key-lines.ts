// Keys as lists show them, without their texts.
import type { z } from 'zod'
import { type keyResponse, pageQuery } from '../../schemas/access.ts'
import { itemKey, type KeyValue } from '../core/directory/items.ts'
import type { Scope } from '../core/directory/roles.ts'
import { type DirectoryState, limitsOfKey } from '../core/directory/state.ts'

type KeyLine = z.output<typeof keyResponse>

/** @param shows which of its scopes are told */
export function keyLine(
  state: DirectoryState,
  id: string,
  key: KeyValue,
  lastMs: number | undefined,
  shows: (scope: Scope) => boolean,
): KeyLine {
  const end = state.ends.get(id)
  const revoked = state.items.get(itemKey('key-revoked', id))
  const limits = limitsOfKey(state, id)
  return {
    id,
    name: key.name,
    user_id: key.user,
    actions: key.actions,
    scopes: key.scopes.filter(shows),
    created_at: key.created_at,
    created_by: key.created_by,
    ...(key.expires_at !== undefined && { expires_at: key.expires_at }),
    ...(end !== undefined && { ends_at: end.ends_at, successor: end.successor }),
    ...(revoked !== undefined && { revoked_at: revoked.at }),
    ...(lastMs !== undefined && { last_used_at: new Date(lastMs).toISOString() }),
    ...(key.addresses !== undefined && { addresses: key.addresses }),
    ...(limits !== undefined && { limits }),
  }
}

/** The common part of the declarations of routes that list keys. */
export const listedKeys = {
  withoutProject: true,
  query: pageQuery,
  body: { type: 'none' },
  response: null,
  responseType: 'application/jsonl',
} as const
