// Rules by which values are masked before they are stored, of everything, an entity or a project.
import { z } from 'zod'
import { list } from './collections.ts'

/** Sources of stored text; the first word of a rule's path. */
export const maskedFields = [
  'inputs',
  'output',
  'attributes',
  'summary',
  'otel_dump',
  'exception',
  'display_name',
  'op_name',
  'thread_id',
  'turn_id',
  'feedback',
  'logs',
  'objects',
] as const

/** Detectors that find values by their form. */
export const maskDetectors = ['email', 'card', 'token', 'phone', 'iban', 'ip', 'us_ssn'] as const

export const maskSetNames = ['@credentials', '@payment', '@contact'] as const

export const maxPatternLength = 500
const maxPatterns = 20

const ways = { keys: list(z.string().min(1).max(200)).min(1).max(100), path: z.string().min(1).max(500) }
const pattern = z.string().min(1).max(maxPatternLength)

const maskRule = z
  .object({
    id: z.string().min(1).max(100),
    /** The finder of the value: one of these four. */
    detect: z.string().max(50).optional(),
    keys: ways.keys.optional(),
    path: ways.path.optional(),
    pattern: pattern.optional(),
    /** Parts of the call that are looked at; absent = all. */
    in: list(z.string()).max(20).optional(),
    action: z.enum(['mask', 'drop', 'hash']),
  })
  .refine((rule) => [rule.detect, rule.keys, rule.path, rule.pattern].filter((way) => way !== undefined).length === 1, {
    error: 'needs one of detect, keys, path and pattern',
  })

/** Rules in their stored form: names that this version does not know find nothing. */
export const maskRules = z.object({
  mode: z.enum(['on', 'dry_run', 'off']).default('on'),
  sets: list(z.string().regex(/^@\w+$/))
    .max(20)
    .default([]),
  content: z.enum(['keep', 'drop']).default('keep'),
  /** Whether the rules reach objects and rows of tables, whose digests are then those of what is left. */
  objects: z.boolean().default(false),
  /** Patterns of values that are left as they are. */
  allow: list(pattern).max(100).default([]),
  rules: list(maskRule).max(100).default([]),
})

export type MaskedField = (typeof maskedFields)[number]
export type MaskRules = z.output<typeof maskRules>

/** Fields whose value is an object always: no rule can put a string in its place. */
const objectFields = ['inputs', 'attributes', 'summary', 'otel_dump', 'feedback', 'logs', 'objects']

function isPath(path: string): boolean {
  const [first = '', ...rest] = path.split('.')
  if (first === '' || rest.includes('')) return false
  if (first === '**') return rest.length > 0
  return (maskedFields as readonly string[]).includes(first) && (rest.length > 0 || !objectFields.includes(first))
}

const newRule = z
  .strictObject({
    id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be 1 to 64 letters, digits, _ and -' }),
    detect: z.enum(maskDetectors).optional(),
    keys: ways.keys.optional(),
    path: ways.path
      .refine(isPath, { error: `must begin with one of ${maskedFields.join(', ')} or **, and name a value in it` })
      .optional(),
    pattern: pattern.optional(),
    in: list(z.enum(maskedFields)).min(1).optional(),
    action: z.enum(['mask', 'drop', 'hash']),
  })
  .refine((rule) => [rule.detect, rule.keys, rule.path, rule.pattern].filter((way) => way !== undefined).length === 1, {
    error: 'needs one of detect, keys, path and pattern',
  })

/** Rules in a request: misspelled ones are refused. */
export const newMaskRules = z.strictObject({
  mode: z.enum(['on', 'dry_run', 'off']).default('on'),
  sets: list(z.enum(maskSetNames)).max(10).default([]),
  content: z.enum(['keep', 'drop']).default('keep'),
  objects: z.boolean().default(false),
  allow: list(pattern).max(20).default([]),
  rules: list(newRule)
    .max(100)
    .refine((rules) => new Set(rules.map(({ id }) => id)).size === rules.length, {
      error: 'each rule has an id of its own',
    })
    .refine((rules) => rules.filter((rule) => rule.pattern !== undefined).length <= maxPatterns, {
      error: `at most ${maxPatterns} rules with a pattern`,
    })
    .default([]),
})

const scopeName = z.string().min(1).max(500).describe('`*`, an entity or `<entity>/<project>`')

/** Rules of any scope; rules that are absent have their defaults, as in those of a project. */
export const scopeMaskRules = newMaskRules.extend({ scope: scopeName })
export const maskingQuery = z.object({ scope: scopeName })

export const maskingResponse = z.object({
  scope: scopeName,
  version: z.int(),
  rules: maskRules,
  /** Sets that are always on here, whatever the rules say. */
  floor: list(z.string()),
  /** Version that new calls of the project show as `masking.version`; 0 = nothing is masked. */
  rows_version: z.int().optional(),
})

export const maskingPreviewRequest = z.strictObject({
  project_id: z.string(),
  /** Rules to try; absent: those that the project has. */
  rules: newMaskRules.optional(),
  field: z.enum(maskedFields).default('inputs'),
  /** A text, or any value of JSON. */
  text: z
    .string()
    .max(32 * 1024)
    .optional(),
  value: z.unknown().optional(),
  call_ids: list(z.string()).max(100).optional(),
})

export const maskingPreviewResponse = z.object({
  hits: z.record(z.string(), z.int()),
  text: z.string().optional(),
  value: z.unknown().optional(),
  calls: list(z.record(z.string(), z.unknown())).optional(),
})
