// The contents of a directory, each an item under its own key: users, grants, keys and their ends, settings, rules,
// secrets.
import { z } from 'zod'
import { maskRules } from '../../../schemas/mask-rules.ts'
import { entityLimits, keyLimits, projectLimits, retentionSettings } from '../../../schemas/project-settings.ts'
import { baseAddress } from '../../../schemas/secrets.ts'
import { actions, roles } from './roles.ts'

const time = z.iso.datetime({ offset: true })
const nothing = z.object({})
const ids = z.array(z.string().min(1)).max(1_000).optional()
const grants = z.array(z.object({ role: z.enum(roles), scope: z.string().min(1) })).max(100)

/** Values by the first word of the item's key. */
const values = {
  /** `user/<id>` */
  user: z.object({
    kind: z.enum(['person', 'service']),
    /** Default entity of SDKs. */
    entity: z.string(),
    /** The entity whose admin made it, in whose share of the room it counts; absent = its own. */
    share_of: z.string().optional(),
    name: z.string().max(200).optional(),
    email: z.string().max(320).optional(),
    /** The identity at the provider that signs the user in. */
    identity: z.object({ iss: z.string(), sub: z.string() }).optional(),
  }),
  /** `user-off/<id>`: no key of the user counts. */
  'user-off': nothing,
  /** `grant/<user>/<scope>` */
  grant: z.object({ role: z.enum(roles) }),
  /** `signed-in/<user>`: what the groups of the last sign-in grant, replaced as a whole by the next one. */
  'signed-in': z.object({ grants, ends_at: time }),
  /** `group/<name>` of the provider that signs people in. */
  group: z.object({ grants }),
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
    /** True when the server made the key on its first start, and not the operator. */
    is_first: z.boolean().optional(),
    /** Addresses from which it counts, as CIDR ranges; absent = all. */
    addresses: z.array(z.string()).max(100).optional(),
    limits: keyLimits.optional(),
    /** Bucket of its rates, named by the first key that had it: successors have it too; absent = its own. */
    bucket: z.string().optional(),
    /** Buckets of the keys with limits that made it, and that made those: what it takes is taken there as well. */
    maker_buckets: z.array(z.string()).optional(),
  }),
  /** `key-end/<id>`: it was rotated. */
  'key-end': z.object({ ends_at: time, successor: z.string() }),
  'key-revoked': nothing,
  /** `key-limits/<id>`: in the place of those that it was made with. */
  'key-limits': keyLimits,
  /** `key-used/<id>`: last, to the minute; written rarely. */
  'key-used': z.object({ at: time }),
  /** `session-end/<sid>`: signed out; kept until it would have run out. */
  'session-end': z.object({ until: time }),
  /** `sessions-end/<user>`: those that began before do not count. */
  'sessions-end': z.object({ before: time }),
  /** `entity/<e>` */
  entity: z.object({ limits: entityLimits.optional() }),
  /** `project/<e>/<p>` */
  project: z.object({ retention: retentionSettings.optional(), limits: projectLimits.optional() }),
  /** `project-removed/<e>/<p>`: nothing of it is shown or taken any more. */
  'project-removed': z.object({ at: time }),
  /** `mask/<scope>`: each change has the next version; `salt` makes its hashes those of the scope. */
  mask: maskRules.extend({ version: z.int().min(1), salt: z.string().optional() }),
  /** `secret/<scope>/<name>`: sealed under the master key; `last4` of long ones, so that people recognize it. */
  secret: z.object({
    version: z.int().min(1),
    sealed: z.string(),
    last4: z.string().max(4).optional(),
    /** Addresses that it may be sent to; absent = those of the operator's providers. */
    origins: z.array(baseAddress).min(1).optional(),
    /** The same value, sealed by a new master key. */
    is_rotated: z.boolean().optional(),
  }),
  /** `hold/<id>`: what it names is not removed. */
  hold: z.object({
    scope: z.string().min(1),
    call_ids: ids,
    trace_ids: ids,
    thread_ids: ids,
    all: z.boolean().optional(),
    reason: z.string().max(1_000),
    until: time.optional(),
  }),
} as const satisfies Record<string, z.ZodType>

export type Kind = keyof typeof values
export type Value<Of extends Kind> = z.output<(typeof values)[Of]>
export type KeyValue = Value<'key'>
export type UserValue = Value<'user'>

/** Kinds of items about a key, the key itself first. */
export const keyKinds = ['key', 'key-end', 'key-revoked', 'key-limits', 'key-used'] as const satisfies Kind[]

/** A mask with the defaults of missing members. */
export const maskOf = (value: unknown): Value<'mask'> => values.mask.parse(value)

/** A line of the log: the last one of a key counts, null removes it. */
export type Item = { key: string; at: string; by: string; value: unknown }

export const maxItemBytes = 64 * 1024

/** Ids of users may hold anything; in keys of items no slash of theirs parts words. */
export const itemKey = (kind: Kind, ...words: string[]): string =>
  [kind, ...words.map((word, index) => (index === 0 ? encodeURIComponent(word) : word))].join('/')

/** The key of an item that belongs to a scope: `mask/acme/app`, `secret/acme/OPENAI_KEY`. */
export const scopedKey = (
  kind: 'entity' | 'project' | 'project-removed' | 'mask' | 'secret',
  scope: string,
  ...words: string[]
): string => {
  const slash = scope.indexOf('/')
  const [entity, project] = slash === -1 ? [scope, []] : [scope.slice(0, slash), [scope.slice(slash + 1)]]
  return itemKey(kind, entity, ...project, ...words)
}

/** The parts of an item's key. */
export type Words = { kind: Kind; id: string; rest: string }

/** The kind of an item of this version, and the words behind it; undefined for those of later ones. */
export function wordsOf(key: string): Words | undefined {
  const [, kind = '', id = '', rest = ''] = /^([^/]+)\/([^/]*)(?:\/(.*))?$/s.exec(key) ?? []
  return Object.hasOwn(values, kind) ? { kind: kind as Kind, id: decodeURIComponent(id), rest } : undefined
}

/**
 * An item as it was written, checked.
 * @throws Error that names the key and the member, and quotes no value
 */
export function parseItem(value: unknown): Item {
  const { key, at, by, value: content = null } = (value ?? {}) as Record<string, unknown>
  if (typeof key !== 'string' || key === '' || typeof at !== 'string' || typeof by !== 'string')
    throw new Error('not an item')
  const item = { key, at, by, value: content }
  const words = wordsOf(item.key)
  if (words === undefined || item.value === null) return item
  const checked = values[words.kind].safeParse(item.value)
  // The item stays as it was written: members of later versions stay.
  if (checked.success) return item
  const [issue] = checked.error.issues
  throw new Error(`${item.key}: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(' ')}`)
}
