// Token usage of a span: what the conventions call it, as integers (specification: OTLP, section 6).
import type { UsageEntry } from '../../core/call-rows.ts'
import { isRawNumber } from '../../core/json-lossless.ts'
import type { Conventions, UsageField } from './conventions.ts'
import { present } from './find.ts'
import type { Branch, Value } from './values.ts'

type Integer = number | bigint

export type Usage = {
  /** Some usage key is set, whether or not its value is an integer. */
  isPresent: boolean
  counts: Map<UsageField, Integer>
}

const exact = (value: bigint): Integer =>
  value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value

/** Integer of a value: numbers lose their fraction, texts must be whole. null when it is none within 64 bits. */
function integerOf(value: Value): Integer | null {
  if (typeof value === 'bigint') return value
  if (typeof value === 'string') {
    return /^\s*[+-]?\d{1,18}\s*$/.test(value) ? exact(BigInt(value.trim().replace('+', ''))) : null
  }
  const number = isRawNumber(value) ? Number(value.rawJSON) : value
  return typeof number === 'number' && Math.abs(number) < 2 ** 63 ? exact(BigInt(Math.trunc(number))) : null
}

const sum = (a: Integer, b: Integer): Integer => exact(BigInt(a) + BigInt(b))

export function usageOf(root: Branch, conventions: Conventions): Usage {
  const counts = new Map<UsageField, Integer>()
  let isPresent = false
  for (const { field, sources } of conventions.usage) {
    const found = present(root, sources, true)
    if (found === null) continue
    isPresent = true
    const count = integerOf(found.value)
    if (count !== null) counts.set(field, count)
  }
  if (!counts.has('total_tokens')) {
    const total =
      totalOf(counts, 'prompt_tokens', 'completion_tokens') ?? totalOf(counts, 'input_tokens', 'output_tokens')
    if (total !== null) counts.set('total_tokens', total)
  }
  return { isPresent, counts }
}

function totalOf(counts: Map<UsageField, Integer>, one: UsageField, other: UsageField): Integer | null {
  const a = counts.get(one)
  const b = counts.get(other)
  return a === undefined || b === undefined ? null : sum(a, b)
}

/** The summary of a call with this usage. */
export function summaryText(usage: Usage, model: string): string {
  if (usage.counts.size === 0) return '{"usage":{}}'
  let fields = ''
  for (const [field, count] of usage.counts) fields += `${fields === '' ? '' : ','}"${field}":${count}`
  return `{"usage":{${JSON.stringify(model)}:{${fields}}}}`
}

/** The usage columns of a call. */
export function usageEntry(usage: Usage, model: string): UsageEntry[] {
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
