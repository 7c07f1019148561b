// Secrets of projects and entities: what is sent to set one, and what is told of it, which is never its value.
import { z } from 'zod'
import { list } from './collections.ts'

/** An address without query, fragment and user; a path bounds what lies below it. */
export const baseAddress = z.string().refine(
  (text) => {
    const url = URL.parse(text)
    return url !== null && /^https?:\/\/[^/?#]+[^?#]*$/i.test(text) && url.username + url.password === ''
  },
  { error: 'must be an http or https address without user, query and fragment' },
)

export const secretName = z
  .string()
  .regex(/^\w{1,100}$/, { error: 'must be the name of a secret: letters, digits and _' })

export const newSecret = z.strictObject({
  /** Goes into a header: one line. */
  value: z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^\P{Cc}+$/u, { error: 'must be one line without control characters' }),
  /** Addresses that it may be sent to, by Providers of the project too; absent = those of the operator's providers. */
  origins: list(baseAddress.max(1_000)).min(1).max(20).optional(),
})

export const shownSecret = z.object({
  name: z.string(),
  version: z.int(),
  updated_at: z.string(),
  updated_by: z.string(),
  /** The end of a long one, so that people recognize it. */
  last4: z.string().optional(),
  origins: z.array(z.string()).optional(),
})

export const secretsResponse = z.object({ secrets: z.array(shownSecret) })
export const removedSecret = z.object({ removed: z.boolean() })
