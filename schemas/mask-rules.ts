// Rules by which values are masked before they are stored, of everything, an entity or a project.
import { z } from 'zod'

const maskRule = z
  .object({
    id: z.string().min(1).max(100),
    /** What finds the value: one of these four. */
    detect: z.string().max(50).optional(),
    keys: z.array(z.string().min(1).max(200)).max(100).optional(),
    path: z.string().min(1).max(500).optional(),
    pattern: z.string().min(1).max(500).optional(),
    /** Parts of the call that are looked at; absent = all. */
    in: z.array(z.string()).max(20).optional(),
    action: z.enum(['mask', 'drop', 'hash']),
  })
  .refine((rule) => [rule.detect, rule.keys, rule.path, rule.pattern].filter((way) => way !== undefined).length === 1, {
    error: 'needs one of detect, keys, path and pattern',
  })

export const maskRules = z.object({
  mode: z.enum(['on', 'dry_run', 'off']).default('on'),
  sets: z
    .array(z.string().regex(/^@\w+$/))
    .max(20)
    .default([]),
  /** Whether objects and tables are masked, too, which changes their digests. */
  objects: z.boolean().default(false),
  content: z.enum(['keep', 'drop']).default('keep'),
  /** Patterns of values that are left as they are. */
  allow: z.array(z.string().min(1).max(500)).max(100).default([]),
  rules: z.array(maskRule).max(100).default([]),
})
