// Finds the usage in answers and chunks of providers.
import { isLosslessObject, isRawNumber } from '../core/json/lossless.ts'

type Json = Record<string, unknown>

const isCounts = (value: unknown): value is Json =>
  isLosslessObject(value) && Object.values(value).some((one) => typeof one === 'number' || isRawNumber(one))

const usagesIn = (value: unknown): unknown[] =>
  isLosslessObject(value)
    ? [
        value.usage,
        ...Object.values(value)
          .filter(isLosslessObject)
          .map(({ usage }) => usage),
      ]
    : []

/**
 * The usage of an answer or a chunk: its own, or that of a member (`x_groq`, the `response` of an event), or of its first
 * choice that has one.
 */
export function usageIn(value: unknown): unknown {
  if (!isLosslessObject(value)) return undefined
  const { usage, choices } = value
  if (usage !== undefined && usage !== null && (!isLosslessObject(usage) || Object.keys(usage).length > 0)) return usage
  return [...usagesIn(value), ...(Array.isArray(choices) ? choices.flatMap(usagesIn) : [])].find(isCounts)
}
