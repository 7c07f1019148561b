// Wire shapes of users, grants and keys.
import { z } from 'zod'
import { list } from './collections.ts'
import { keyLimits } from './project-settings.ts'

const time = z.iso.datetime({ offset: true })
const userId = z.string().min(1).max(200)
const scope = z.string().min(1).max(500)
const role = z.enum(['reader', 'annotator', 'ingest', 'writer', 'admin', 'owner'])
const action = z.enum(['read', 'ingest', 'annotate', 'write', 'delete', 'infer', 'admin', 'owner', 'metrics'])
const kind = z.enum(['person', 'service'])

/** Lists go on behind the id that the last line had. */
export const pageQuery = z.object({ limit: z.int().min(1).max(1000).optional(), after: z.string().optional() })
export const grantsQuery = pageQuery.extend({ scope })

export const userRequest = z.strictObject({
  id: userId,
  kind: kind.default('person'),
  name: z.string().max(200).optional(),
  entity: z.string().min(1).max(200).optional(),
})
export const userResponse = z.object({
  id: userId,
  kind,
  name: z.string().optional(),
  email: z.string().optional(),
  entity: z.string(),
  is_off: z.boolean(),
  grants: z.array(z.object({ scope, role, source: z.enum(['manual', 'oidc']) })),
})

export const grantRequest = z.strictObject({ user_id: userId, scope, role: role.nullable() })
export const grantResponse = grantRequest.extend({ source: z.enum(['manual', 'oidc']).optional() })

export const ownKeyRequest = z.strictObject({
  name: z.string().max(100).default(''),
  actions: list(action).min(1).max(20),
  scopes: list(scope).min(1).max(100),
  expires_at: time.optional(),
  /** Ranges of addresses (CIDR) from which it counts. */
  addresses: list(z.string().max(50)).max(100).optional(),
})
export const newKeyRequest = ownKeyRequest.extend({
  user_id: userId,
  limits: z.strictObject(keyLimits.shape).optional(),
})
/** A name that is not known is a mistake, and must not count as no limit. */
export const keyLimitsRequest = z.strictObject(keyLimits.shape)
export const keyLimitsResponse = keyLimits
export const rotateRequest = z.strictObject({ overlap_hours: z.number().min(0).max(168).default(24) })
/** The key's text is shown here and never again. */
export const madeKeyResponse = z.object({ id: z.string(), key: z.string(), expires_at: time.optional() })
export const revokedResponse = z.object({ revoked_at: time })
export const keyResponse = z.object({
  id: z.string(),
  name: z.string(),
  user_id: z.string(),
  actions: z.array(action),
  scopes: z.array(scope),
  created_at: time,
  created_by: z.string(),
  expires_at: time.optional(),
  ends_at: time.optional(),
  successor: z.string().optional(),
  revoked_at: time.optional(),
  last_used_at: time.optional(),
  addresses: z.array(z.string()).optional(),
  limits: keyLimits.optional(),
})

export const nothingResponse = z.object({})
