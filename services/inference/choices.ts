// Choices that ended with a failure though the answer has the form of a success.
import { isObject } from '../core/json/objects.ts'

/** Reasons of an end that are failures of the provider. */
const failures = new Set([
  'error',
  'network_error',
  'internal_error',
  'server_error',
  'model_error',
  'insufficient_system_resource',
])

/**
 * The error of the first choice that failed; undefined when none did.
 * @param nativeReason the reason of the end as the answer tells it beside its choices
 */
export function failedChoice(choices: unknown, nativeReason?: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices) {
    if (!isObject(choice)) continue
    const { error, finish_reason: reason, native_finish_reason: native = nativeReason } = choice
    const isSaid = typeof error === 'string' ? error !== '' : isObject(error) && Object.keys(error).length > 0
    if (isSaid) return error
    if (typeof reason !== 'string' || !failures.has(reason)) continue
    const more = typeof native === 'string' && native !== '' && native !== reason ? ` (${native})` : ''
    return { message: `The provider ended the answer with "${reason}"${more}` }
  }
  return undefined
}
