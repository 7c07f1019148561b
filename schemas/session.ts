// Wire shapes of signing in to the web page.
import { z } from 'zod'

export const keyRequest = z.object({ key: z.string().max(4096) })

/** Without a valid key or cookie there is no user, and no more of the server than its version. */
export const sessionResponse = z.object({
  user_id: z.string().nullable(),
  entity: z.string().optional(),
  role: z.string().optional(),
  grants: z.union([z.literal('*'), z.array(z.string())]).optional(),
  expires_at: z.iso.datetime().nullable().optional(),
  server: z.object({
    version: z.string(),
    commit: z.string().optional(),
    wire_prefix: z.string().optional(),
    feedback_prefix: z.string().optional(),
    time_zone: z.string().optional(),
    limits: z.object({ max_body_bytes: z.int(), max_file_bytes: z.int() }).optional(),
    has: z.object({ engine: z.boolean(), evaluations: z.boolean(), word_index: z.boolean() }).optional(),
  }),
})

export const logoutResponse = z.object({})

export const ownSessionResponse = z.object({
  user_id: z.string(),
  is_current: z.boolean(),
  expires_at: z.iso.datetime(),
})

/** Sign-in providers beside keys. */
export const providersResponse = z.object({ providers: z.array(z.object({ name: z.string() })) })
