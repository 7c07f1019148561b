// What a directory holds: users, grants, keys and what ends them, each an item under a key of its own.
import { z } from 'zod'
import { actions, roles } from './roles.ts'

const time = z.iso.datetime({ offset: true })
const nothing = z.object({})

/** Values by the first word of the item's key. */
const values = {
  /** `user/<id>` */
  user: z.object({
    kind: z.enum(['person', 'service']),
    /** Default entity of SDKs. */
    entity: z.string(),
    name: z.string().max(200).optional(),
  }),
  /** `user-off/<id>`: no key of the user counts. */
  'user-off': nothing,
  /** `grant/<user>/<scope>` */
  grant: z.object({ role: z.enum(roles) }),
  /** `key/<id>`: never changes; what ends it are items of their own, which no older copy of it undoes. */
  key: z.object({
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    user: z.string(),
    name: z.string().max(100),
    actions: z.array(z.enum(actions)),
    scopes: z.array(z.string()).max(100),
    created_at: time,
    created_by: z.string(),
    expires_at: time.optional(),
    /** Default entity where it is not the user's. */
    entity: z.string().optional(),
    /** Made by the server on its first start and not by the operator. */
    is_first: z.boolean().optional(),
  }),
  /** `key-end/<id>`: it was rotated. */
  'key-end': z.object({ ends_at: time, successor: z.string() }),
  'key-revoked': nothing,
} as const satisfies Record<string, z.ZodType>

export type Kind = keyof typeof values
export type Value<Of extends Kind> = z.output<(typeof values)[Of]>
export type KeyValue = Value<'key'>
export type UserValue = Value<'user'>

/** A line of the log: the last one of a key counts, null removes it. */
export type Item = { key: string; at: string; by: string; value: unknown }

const itemSchema = z.object({ key: z.string().min(1), at: z.string(), by: z.string(), value: z.unknown() })

export const maxItemBytes = 64 * 1024

/** Ids of users may hold anything; in keys of items no slash of theirs parts words. */
export const itemKey = (kind: Kind, ...words: string[]): string =>
  [kind, ...words.map((word, index) => (index === 0 ? encodeURIComponent(word) : word))].join('/')

/** The kind of an item of this version, and the words behind it; undefined for those of later ones. */
export function wordsOf(key: string): { kind: Kind; id: string; rest: string } | undefined {
  const [, kind = '', id = '', rest = ''] = /^([^/]+)\/([^/]*)(?:\/(.*))?$/s.exec(key) ?? []
  return Object.hasOwn(values, kind) ? { kind: kind as Kind, id: decodeURIComponent(id), rest } : undefined
}

/**
 * An item as it was written, checked.
 * @throws Error that names the key and the member, and quotes no value
 */
export function parseItem(value: unknown): Item {
  const parsed = itemSchema.safeParse(value)
  if (!parsed.success) throw new Error('not an item')
  const item = { ...parsed.data, value: parsed.data.value ?? null }
  const words = wordsOf(item.key)
  if (words === undefined || item.value === null) return item
  const checked = values[words.kind].safeParse(item.value)
  if (checked.success) return item
  const [issue] = checked.error.issues
  throw new Error(`${item.key}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(' ')}`)
}
