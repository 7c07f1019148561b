// Checks the summary of an end: token counts per model and status counts must be integers, all else is the caller's own.

import { spelled, type usageSpellings } from '../../content/usage-names.ts'
import { isRawNumber, parseLossless, rawNumber, stringifyLossless } from '../../core/json/lossless.ts'
import { isObject } from '../../core/json/objects.ts'
import { rewriteJson } from '../../core/json/rewrite.ts'
import type { UsageEntry } from '../../events/calls.ts'
import { coerceInteger, type Findings, type Json, misfit } from './field-checks.ts'

export type Summary = {
  errorCount: number
  usage: UsageEntry[]
  /** Some count is a string or a boolean: the stored text holds it as an integer. */
  coerced: boolean
}

export const countNames = [
  'prompt_tokens',
  'input_tokens',
  'completion_tokens',
  'output_tokens',
  'requests',
  'total_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
] as const

const checked = new Set<string>(countNames)

/** A count under a name that is not checked: whole numbers alone are any. */
const plainCount = (value: unknown): number => {
  const count = isRawNumber(value) ? Number(value.rawJSON) : value
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : 0
}

export const statusNames = ['error', 'success', 'running', 'descendant_error']
const statuses = new Set(statusNames)
const uint32Max = 2 ** 32 - 1

function usageCount(found: Findings, model: string, entry: Json, key: string, summary: Summary): number {
  const value = entry[key]
  if (value === undefined || value === null) return 0
  if (typeof value === 'boolean') {
    summary.coerced = true
    return value ? 1 : 0
  }
  const count = coerceInteger(value)
  if (count === null) {
    const type = typeof value === 'string' ? 'int_parsing' : 'int_type'
    misfit(found, ['summary', 'usage', model, key], type, 'Input should be a valid integer')
    return 0
  }
  if (typeof value === 'string') summary.coerced = true
  return count
}

function checkUsage(found: Findings, usage: Json, summary: Summary): void {
  for (const model in usage) {
    const entry = usage[model]
    if (!isObject(entry)) {
      misfit(found, ['summary', 'usage', model], 'dict_type', 'Input should be a valid object')
      continue
    }
    const count = (key: string) => usageCount(found, model, entry, key, summary)
    const all = (of: keyof typeof usageSpellings) =>
      spelled(of, (name) => (checked.has(name) ? count(name) : plainCount(entry[name])))
    const [input, output] = [all('input'), all('output')]
    summary.usage.push({
      model,
      requests: count('requests'),
      input,
      output,
      total: all('total'),
      cacheRead: count('cache_read_input_tokens'),
      cacheWrite: count('cache_creation_input_tokens'),
    })
  }
}

function checkStatusCounts(found: Findings, counts: Json, summary: Summary): void {
  for (const status in counts) {
    const value = counts[status]
    const count = coerceInteger(value)
    if (!statuses.has(status)) misfit(found, ['summary', 'status_counts', status], 'enum', 'Unknown status')
    else if (count === null) {
      const type = typeof value === 'string' ? 'int_parsing' : 'int_type'
      misfit(found, ['summary', 'status_counts', status], type, 'Input should be a valid integer')
    } else {
      if (typeof value === 'string') summary.coerced = true
      if (status === 'error') summary.errorCount = Math.min(Math.max(count, 0), uint32Max)
    }
  }
}

/** Reads what is counted in a summary; faults go to `found`. */
export function checkSummary(found: Findings, value: Json): Summary {
  const summary: Summary = { errorCount: 0, usage: [], coerced: false }
  const { usage, status_counts: counts } = value
  if (isObject(usage)) checkUsage(found, usage, summary)
  else if (usage !== undefined) misfit(found, ['summary', 'usage'], 'dict_type', 'Input should be a valid object')
  if (isObject(counts)) checkStatusCounts(found, counts, summary)
  else if (counts !== undefined)
    misfit(found, ['summary', 'status_counts'], 'dict_type', 'Input should be a valid object')
  return summary
}

function integerOf(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value !== 'string') return value
  const [digits = '0'] = value.trim().replace('+', '').split('.')
  return rawNumber(String(BigInt(digits)))
}

/** The JSON text of a checked summary with every count as an integer. */
export function coerceSummary(text: string): string {
  const summary = parseLossless(text) as Json
  if (isObject(summary.usage))
    for (const entry of Object.values(summary.usage) as Json[])
      for (const key of countNames)
        if (Object.hasOwn(entry, key) && !isRawNumber(entry[key])) entry[key] = integerOf(entry[key])
  if (isObject(summary.status_counts)) {
    const counts = summary.status_counts
    for (const status of Object.keys(counts)) counts[status] = integerOf(counts[status])
  }
  return rewriteJson(stringifyLossless(summary))
}
