// Checks a value against a JSON Schema of a client: in this thread, and in the one for what may take long.

import { type Schema, Validator } from '@cfworker/json-schema'
import { isObject } from '../../core/json/objects.ts'
import { unicodePattern } from './patterns.ts'

/** Null = the value fits; otherwise why it does not, or why the schema cannot be applied. */
export type Verdict = string | null

const maps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
const data = new Set(['enum', 'const', 'default', 'examples'])

type Members = [name: string, value: unknown][]

/** A pattern that cannot be checked takes every name. */
const patternMember = ([pattern, schema]: Members[number]): Members[number] => {
  const source = unicodePattern(pattern)
  return source === null ? ['', true] : [source, withPatterns(schema)]
}

function member([key, value]: Members[number]): Members {
  if (data.has(key)) return [[key, value]]
  if (key === 'pattern' && typeof value === 'string') {
    const source = unicodePattern(value)
    return source === null ? [] : [[key, source]]
  }
  if (!maps.has(key) || !isObject(value)) return [[key, withPatterns(value)]]
  const below: Members = Object.entries(value)
  const changed = below.map((one): Members[number] =>
    key === 'patternProperties' ? patternMember(one) : [one[0], withPatterns(one[1])],
  )
  return [[key, Object.fromEntries(changed)]]
}

/** The schema with its patterns as the validator takes them; those that it cannot check are left out. */
function withPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withPatterns)
  return isObject(schema) ? Object.fromEntries(Object.entries(schema).flatMap(member)) : schema
}

export function verdictOf(schema: unknown, value: unknown): Verdict {
  try {
    const { valid, errors } = new Validator(withPatterns(schema) as Schema | boolean, '2020-12').validate(value)
    if (valid) return null
    return `payload.value does not fit the annotation's schema: ${errors.at(-1)?.error.slice(0, 300) ?? ''}`
  } catch (error) {
    return `The annotation's schema cannot be applied: ${String(error).slice(0, 300)}`
  }
}
