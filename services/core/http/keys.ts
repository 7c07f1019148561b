// API keys: the store in the data folder (`keys.json`), the first admin key, and who holds which right.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { uuidv7 } from '../ids.ts'
import { type WatchedFile, type WatchedFileOptions, watchFile } from '../process/watched-file.ts'
import { holderOf, type KeyHolder } from './holder.ts'
import { isLoopbackName } from './host.ts'
import { type Access, type Action, actions, actionsOf, type RoleName, roleNamed, roleNames } from './roles.ts'

const entrySchema = z.object({
  id: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  userId: z.string(),
  /** Default entity of SDKs that use the key. */
  entity: z.string(),
  /** Entities (`acme`) and projects (`acme/app`) that it opens; `*` = all. */
  grants: z.union([z.literal('*'), z.array(z.string())]),
  role: z.enum(roleNames),
  /** The key does no more than these of its role. */
  actions: z.array(z.enum(actions)).optional(),
  createdAt: z.string(),
  /** Made by the server on its first start and not by the operator. */
  isFirst: z.boolean().optional(),
})
const fileSchema = z.object({ keys: z.array(entrySchema) })
type KeyEntry = z.output<typeof entrySchema>

type NewKey = { userId: string; entity?: string; grants?: '*' | string[]; role: RoleName; actions?: readonly Action[] }

export type Keys = {
  /** The holder of a key's text, compared in constant time; undefined when there is none. */
  find(keyText: string): KeyHolder | undefined
  /** The holder of a key that was found before; undefined once it is revoked. */
  findId(keyId: string): KeyHolder | undefined
  /** Makes a key and returns its text, which is stored nowhere. */
  create(key: NewKey): { id: string; text: string }
  list(): Omit<KeyEntry, 'sha256'>[]
  /** False when there is no such key. */
  revoke(id: string): boolean
  /**
   * To be called before listening. Makes the first admin key when there is no key at all, and refuses to listen
   * beyond loopback until the operator has set or created a key.
   */
  firstKey(host: string): { ok: true; id?: string; text?: string } | { ok: false; line: string }
  /** Why the file's newest content does not count, undefined when it does. What was read before counts then. */
  problem(): string | undefined
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

function accessOf({ grants, role, actions: own }: Pick<KeyEntry, 'grants' | 'role' | 'actions'>): Access {
  // Who is admin of everything holds everything.
  const named = role === 'admin' && grants === '*' ? 'owner' : roleNamed(role)
  const scopes = grants === '*' ? ['*'] : grants
  const allowed = (scope: string) =>
    actionsOf(named, scope).filter((action) => own === undefined || own.includes(action))
  return Object.fromEntries(scopes.map((scope) => [scope, allowed(scope)]))
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** A change takes milliseconds: an older temporary file was left by a crash. */
const staleMs = 5000

type HashedKey = { digest: Buffer; holder: KeyHolder }
type Read = { entries: KeyEntry[]; hashedKeys: HashedKey[] }

const hashedKeyOf = (entry: KeyEntry): HashedKey => ({
  digest: Buffer.from(entry.sha256, 'hex'),
  holder: holderOf({ userId: entry.userId, entity: entry.entity, access: accessOf(entry) }, entry.id),
})

type FileCallbacks = Pick<WatchedFileOptions<unknown, unknown>, 'onBroken' | 'onMended'>

/** @throws Error with one line when there is a file and it cannot be read: its keys would all be refused */
function openFile(path: string, callbacks: FileCallbacks): WatchedFile<Read> {
  try {
    return watchFile({
      ...{ path, schema: fileSchema, absent: { keys: [] }, ...callbacks },
      use: ({ keys }): Read => ({ entries: keys, hashedKeys: keys.map(hashedKeyOf) }),
    })
  } catch (error) {
    throw new Error(`${(error as Error).message}; mend the file or take it from a backup`)
  }
}

/**
 * Opens the keys of a data folder. Another process may change the file: it is looked at again when an unknown key
 * comes, and otherwise once a second. A file that breaks or goes away leaves the keys that were read before.
 * @param configured `user:key` pairs of CALLHOUSE_KEYS: admins of every project
 * @throws Error with one line when there is a file that cannot be read
 */
export function openKeys({
  dataDir,
  configured,
  now = Date.now,
  ...callbacks
}: FileCallbacks & {
  dataDir: string
  configured: readonly string[]
  now?: () => number
}): Keys {
  const path = join(dataDir, 'keys.json')
  const fixed: HashedKey[] = configured.map((pair) => {
    const colon = pair.indexOf(':')
    const name = pair.slice(0, colon)
    const digest = sha256(pair.slice(colon + 1))
    // Configured keys have no id of their own: another text for the same user is another key.
    const id = `configured-${digest.toString('hex').slice(0, 32)}`
    return { digest, holder: holderOf({ userId: name, entity: name, access: { '*': actionsOf('owner', '*') } }, id) }
  })
  const file = openFile(path, callbacks)
  let entries: KeyEntry[] = []
  let hashedKeys: HashedKey[] = fixed
  let lookedAt = 0

  const load = (): void => {
    lookedAt = now()
    const read = file.current()
    if (read.entries === entries) return
    entries = read.entries
    hashedKeys = [...fixed, ...read.hashedKeys]
  }

  const change = (next: (before: KeyEntry[]) => KeyEntry[]): void => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    const fresh = `${path}.new`
    // The new file is the lock as well: a second writer fails here instead of losing the first one's key.
    const left = statSync(fresh, { throwIfNoEntry: false })
    if (left !== undefined && Date.now() - left.mtimeMs > staleMs) rmSync(fresh, { force: true })
    let handle: number
    try {
      handle = openSync(fresh, 'wx', 0o600)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      throw new Error('Another command is changing the keys; try again in a few seconds')
    }
    try {
      try {
        // A file that someone has still to mend is not overwritten.
        const broken = file.problem()
        if (broken !== undefined) throw new Error(broken)
        load()
        writeSync(handle, `${JSON.stringify({ keys: next(entries) }, null, 2)}\n`)
        fsyncSync(handle)
      } finally {
        closeSync(handle)
      }
      renameSync(fresh, path)
    } catch (error) {
      rmSync(fresh, { force: true })
      throw error
    }
    syncFolder(dataDir)
    load()
  }

  const fresh = (): void => {
    if (now() - lookedAt > 1000) load()
  }

  const search = (digest: Buffer): KeyHolder | undefined => {
    let found: KeyHolder | undefined
    for (const one of hashedKeys) if (timingSafeEqual(one.digest, digest)) found ??= one.holder
    return found
  }

  const create = ({ userId, entity = userId, grants = '*', role, actions: own }: NewKey, isFirst = false) => {
    const text = `ch_${randomBytes(30).toString('base64url')}`
    const id = uuidv7()
    const entry: KeyEntry = {
      id,
      sha256: sha256(text).toString('hex'),
      userId,
      entity,
      grants,
      role: role === 'admin' && grants === '*' ? 'owner' : roleNamed(role),
      ...(own !== undefined && { actions: [...own] }),
      createdAt: new Date(now()).toISOString(),
      ...(isFirst ? { isFirst } : {}),
    }
    change((before) => [...before, entry])
    return { id, text }
  }

  load()
  return {
    find(keyText) {
      if (keyText === '') return undefined
      fresh()
      const digest = sha256(keyText)
      const found = search(digest)
      if (found !== undefined) return found
      load()
      return search(digest)
    },
    findId(keyId) {
      fresh()
      return hashedKeys.find(({ holder }) => holder.keyId === keyId)?.holder
    },
    create: (key) => create(key),
    list() {
      load()
      return entries.map(({ sha256: _, ...rest }) => rest)
    },
    revoke(id) {
      load()
      if (!entries.some((entry) => entry.id === id)) return false
      change((before) => before.filter((entry) => entry.id !== id))
      return true
    },
    firstKey(host) {
      load()
      if (configured.length > 0 || entries.some((entry) => entry.isFirst !== true)) return { ok: true }
      if (!isLoopbackName(host)) {
        const line = `Refusing to listen on ${host} without a key of yours: set CALLHOUSE_KEYS or run 'callhouse keys create'`
        return { ok: false, line }
      }
      if (entries.length > 0) return { ok: true }
      const { id, text } = create({ userId: 'admin', role: 'admin' }, true)
      return { ok: true, id, text }
    },
    problem: file.problem,
  }
}
