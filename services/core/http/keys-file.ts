// `keys.json`, where versions before the directory kept their keys: read once, taken over, and put aside.
import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Change } from '../directory/directory.ts'
import { itemKey, type KeyValue } from '../directory/items.ts'
import { actions, actionsOf, roleNamed, roleNames } from '../directory/roles.ts'
import { applyItem, type DirectoryState, emptyState } from '../directory/state.ts'
import { grantChanges } from './key-changes.ts'

const entrySchema = z.object({
  id: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  userId: z.string(),
  entity: z.string(),
  grants: z.union([z.literal('*'), z.array(z.string())]),
  role: z.enum(roleNames),
  actions: z.array(z.enum(actions)).optional(),
  createdAt: z.string(),
  isFirst: z.boolean().optional(),
})
const fileSchema = z.object({ keys: z.array(entrySchema) })
type KeyEntry = z.output<typeof entrySchema>

export const keysFileOf = (dataDir: string): string => join(dataDir, 'keys.json')

/**
 * Keys of the file; none when there is no file.
 * @throws Error with a line that quotes nothing of it: its keys would all be refused
 */
export function readKeysFile(path: string): KeyEntry[] {
  const unusable = (reason: string) => new Error(`${path}: ${reason}; mend the file or take it from a backup`)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw unusable((error as Error).message)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw unusable('not JSON')
  }
  const result = fileSchema.safeParse(parsed)
  if (result.success) return result.data.keys
  const [issue] = result.error.issues
  throw unusable([issue?.path.join('.'), issue?.message].filter(Boolean).join(' '))
}

/** Users, grants and keys of the file that the directory does not have: after a crash they are taken over again. */
export function takenOver(state: DirectoryState, entries: readonly KeyEntry[]): Change[] {
  const grown = emptyState()
  for (const item of state.items.values()) applyItem(grown, item)
  return entries.flatMap((entry) => {
    if (grown.keys.has(entry.id)) return []
    const scopes = entry.grants === '*' ? ['*'] : entry.grants
    // An admin of everything held every right.
    const role = entry.role === 'admin' && entry.grants === '*' ? 'owner' : roleNamed(entry.role)
    const held = [...new Set(scopes.flatMap((scope) => actionsOf(role, scope)))]
    const value: KeyValue = {
      sha256: entry.sha256,
      user: entry.userId,
      name: '',
      scopes,
      actions: held.filter((action) => entry.actions === undefined || entry.actions.includes(action)),
      created_at: entry.createdAt,
      created_by: 'keys.json',
      entity: entry.entity,
      ...(entry.isFirst === true && { is_first: true }),
    }
    const { userId, entity } = entry
    const changes = [...grantChanges(grown, { userId, entity, role, scopes }), { key: itemKey('key', entry.id), value }]
    for (const change of changes) applyItem(grown, { ...change, at: entry.createdAt, by: 'keys.json' })
    return changes
  })
}

export const putAside = (path: string): void => renameSync(path, `${path}.imported`)
