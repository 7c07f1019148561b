// Token usage of a span: what the conventions call it, as integers (specification: OTLP, section 6).

import { isRawNumber } from '../../core/json/lossless.ts'
import type { UsageEntry } from '../../events/calls.ts'
import type { UsageField } from './convention-keys.ts'
import type { Conventions } from './conventions.ts'
import { present, textOf } from './find.ts'
import type { Branch, Value } from './values.ts'

type Integer = number | bigint

export type SpanUsage = {
  /** Some usage key is set, whether or not its value is an integer. */
  isPresent: boolean
  counts: Map<UsageField, Integer>
}

const exact = (value: bigint): Integer =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value

/** Integer of a value: numbers lose their fraction, texts must be whole. null when it is none within 64 bits. */
export function integerOf(value: Value): Integer | null {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string') {
    return /^\s*[+-]?\d{1,18}\s*$/.test(value) ? exact(BigInt(value.trim().replace('+', ''))) : null
  }
  const number = isRawNumber(value) ? Number(value.rawJSON) : value
  return typeof number === 'number' && Math.abs(number) < 2 ** 63 ? exact(BigInt(Math.trunc(number))) : null
}

export const sum = (a: Integer, b: Integer): Integer => exact(BigInt(a) + BigInt(b))

type Counts = Map<UsageField, Integer>

function read(root: Branch, fields: Conventions['usage'], counts: Counts): boolean {
  let isPresent = false
  for (const { field, sources } of fields) {
    const found = counts.has(field) ? null : present(root, sources, true)
    if (found === null) continue
    isPresent = true
    const count = integerOf(found.value)
    if (count !== null) counts.set(field, count)
  }
  return isPresent
}

/**
 * Libraries whose input count leaves out what was cached, as the APIs of Anthropic and Bedrock do; everywhere else the
 * count includes it (read in their releases of November 2026). By the name of the instrumentation scope.
 */
const excludesCached: readonly {
  scope: RegExp
  test: (root: Branch, conventions: Conventions, input: Integer) => boolean
}[] = [
  { scope: /^@traceloop\/instrumentation-anthropic$/, test: () => true },
  {
    scope: /^openlit\b/,
    test: (root, { counting }) => /anthropic|bedrock/.test(textOf(present(root, counting.provider)?.value)),
  },
  // Vercel AI SDK 4 and 5 pass the providers' count on; 6 adds the cached tokens, and mostly says what they are.
  {
    scope: /^ai$/,
    test(root, { counting }, input) {
      if (!/anthropic|bedrock/.test(textOf(present(root, counting.vercelProvider)?.value))) return false
      if (present(root, counting.vercelDetails) !== null) return false
      const reported = present(root, counting.vercelReported)
      return reported === null || integerOf(reported.value) === input
    },
  },
]

/**
 * @param scope name of the instrumentation scope
 * @param fields where the counts lie
 */
export function spanUsage(
  root: Branch,
  conventions: Conventions,
  scope: string,
  fields = conventions.usage,
): SpanUsage {
  const counts: Counts = new Map()
  const isPresent = read(root, fields, counts)
  // Two names of one count: libraries write both while they change from one to the other.
  for (const [name, older] of [
    ['input_tokens', 'prompt_tokens'],
    ['output_tokens', 'completion_tokens'],
  ] as const)
    if (counts.get(name)) counts.delete(older)
  const input = counts.get('input_tokens') ?? counts.get('prompt_tokens')
  let isAdded = false
  if (input !== undefined) {
    read(root, conventions.further, counts)
    const cached = sum(counts.get('cache_read_input_tokens') ?? 0, counts.get('cache_creation_input_tokens') ?? 0)
    if (cached > 0 && excludesCached.some((one) => one.scope.test(scope) && one.test(root, conventions, input))) {
      counts.delete('input_tokens')
      counts.set('prompt_tokens', sum(input, cached))
      isAdded = true
    }
  }
  if (!counts.has('total_tokens')) {
    const total =
      totalOf(counts, 'prompt_tokens', 'completion_tokens') ??
      totalOf(counts, 'input_tokens', 'output_tokens') ??
      (isAdded ? totalOf(counts, 'prompt_tokens', 'output_tokens') : null)
    if (total !== null) counts.set('total_tokens', total)
  }
  addReasoning(root, conventions, counts)
  return { isPresent, counts }
}

/** Reasoning that the total counts beside the output: without it the bill would lack it. */
function addReasoning(root: Branch, { counting }: Conventions, counts: Counts): void {
  const total = counts.get('total_tokens')
  const reasoning = integerOf(present(root, counting.reasoning)?.value ?? null)
  if (total === undefined || reasoning === null || reasoning <= 0) return
  const both = (['prompt_tokens', 'input_tokens', 'completion_tokens', 'output_tokens'] as const).reduce<Integer>(
    (all, field) => sum(all, counts.get(field) ?? 0),
    0,
  )
  if (total === sum(both, reasoning)) counts.set('reasoning_tokens', reasoning)
}

function totalOf(counts: Counts, one: UsageField, other: UsageField): Integer | null {
  const a = counts.get(one)
  const b = counts.get(other)
  return a === undefined || b === undefined ? null : sum(a, b)
}

/** The summary of a call with this usage. */
export function summaryText(usage: SpanUsage, model: string): string {
  if (usage.counts.size === 0) return '{"usage":{}}'
  let fields = ''
  for (const [field, count] of usage.counts) fields += `${fields === '' ? '' : ','}"${field}":${count}`
  return `{"usage":{${JSON.stringify(model)}:{${fields}}}}`
}

/** The usage columns of a call. */
export function usageEntry(usage: SpanUsage, model: string): UsageEntry[] {
  if (usage.counts.size === 0) return []
  const count = (field: UsageField): number => Number(usage.counts.get(field) ?? 0)
  return [
    {
      model,
      requests: 0,
      input: count('prompt_tokens') + count('input_tokens'),
      output: count('completion_tokens') + count('output_tokens'),
      total: count('total_tokens'),
      cacheRead: count('cache_read_input_tokens'),
      cacheWrite: count('cache_creation_input_tokens'),
    },
  ]
}
