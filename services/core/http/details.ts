// Turns zod issues into the entries of a 422 answer.
import type { z } from 'zod'
import { maxFaults } from '../../../schemas/collections.ts'
import { type Detail, invalid, shownKey } from './errors.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

const nouns: Record<string, { type: string; noun: string }> = {
  string: { type: 'string_type', noun: 'string' },
  number: { type: 'float_type', noun: 'number' },
  int: { type: 'int_type', noun: 'integer' },
  boolean: { type: 'bool_type', noun: 'boolean' },
  array: { type: 'list_type', noun: 'list' },
  object: { type: 'dict_type', noun: 'dictionary' },
  record: { type: 'dict_type', noun: 'dictionary' },
}

/** The value at the path of the input; undefined when there is none. */
function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

function wrongType(expected: string, value: unknown): Omit<Detail, 'loc'> {
  const known = nouns[expected]
  if (known === undefined) return { type: 'value_error', msg: `Input should be a valid ${expected}` }
  const msg = `Input should be a valid ${known.noun}`
  if (typeof value === 'string' && expected !== 'string' && /^(int|float|bool)_/.test(known.type))
    return { type: known.type.replace('_type', '_parsing'), msg: `${msg}, unable to parse string` }
  if (expected === 'int' && typeof value === 'number')
    return { type: 'int_from_float', msg: `${msg}, got a number with a fractional part` }
  return { type: known.type, msg }
}

function outOfBounds(issue: Issue & { code: 'too_small' | 'too_big' }): Omit<Detail, 'loc'> {
  const small = issue.code === 'too_small'
  const bound = small ? issue.minimum : issue.maximum
  if (issue.origin === 'string') {
    const msg = `String should have at ${small ? 'least' : 'most'} ${bound} characters`
    return { type: small ? 'string_too_short' : 'string_too_long', msg }
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    const msg = `List should have at ${small ? 'least' : 'most'} ${bound} items`
    return { type: small ? 'too_short' : 'too_long', msg }
  }
  const orEqual = issue.inclusive !== false
  return {
    type: `${small ? 'greater' : 'less'}_than${orEqual ? '_equal' : ''}`,
    msg: `Input should be ${small ? 'greater' : 'less'} than ${orEqual ? 'or equal to ' : ''}${bound}`,
  }
}

const depthOf = (issues: readonly Issue[]) => issues.reduce((depth, { path }) => Math.max(depth, path.length), -1)

function toDetails(issue: Issue, input: unknown, above: Path, loc: (string | number)[]): Detail[] {
  const path = [...above, ...issue.path]
  const at = [...loc, ...path.map(shownKey)]
  const value = valueAt(input, path)
  const one = (rest: Omit<Detail, 'loc'>): Detail[] => [{ loc: at, msg: rest.msg, type: rest.type }]
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, maxFaults).map((key) => ({
      loc: [...at, shownKey(key)],
      msg: 'Extra inputs are not permitted',
      type: 'extra_forbidden',
    }))
  if (value === undefined) return one({ type: 'missing', msg: 'Field required' })
  switch (issue.code) {
    case 'invalid_type':
      return one(wrongType(issue.expected, value))
    case 'invalid_value': {
      const allowed = issue.values.map((word) => (typeof word === 'string' ? `'${word}'` : String(word))).join(' or ')
      return one({ type: 'literal_error', msg: `Input should be ${allowed}` })
    }
    case 'too_small':
    case 'too_big':
      return one(outOfBounds(issue))
    case 'invalid_format':
      if (issue.format === 'uuid' || issue.format === 'guid')
        return one({ type: 'uuid_parsing', msg: 'Input should be a valid UUID' })
      if (issue.format === 'datetime' || issue.format === 'date')
        return one({ type: 'datetime_from_date_parsing', msg: 'Input should be a valid datetime or date' })
      return one({ type: 'value_error', msg: issue.message })
    case 'invalid_union': {
      // The alternative whose faults lie deepest is the one that was meant; a tie goes to the first.
      const meant = issue.errors.reduce<readonly Issue[]>(
        (best, branch) => (depthOf(branch) > depthOf(best) ? branch : best),
        [],
      )
      return meant.length === 0
        ? one({ type: 'value_error', msg: issue.message })
        : meant.flatMap((inner) => toDetails(inner, input, path, loc))
    }
    case 'custom': {
      const type = issue.params?.type
      return one({ type: typeof type === 'string' ? type : 'value_error', msg: issue.message })
    }
    default:
      return one({ type: 'value_error', msg: issue.message })
  }
}

function detailsOf(issues: readonly Issue[], input: unknown): Detail[] {
  const details: Detail[] = []
  for (const issue of issues) {
    details.push(...toDetails(issue, input, [], ['body']))
    if (details.length >= maxFaults) break
  }
  return details
}

/**
 * Parses a body with a schema.
 * @throws Fault 422 when it does not fit, with its first faults
 */
export function checkedBody<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw invalid(detailsOf(parsed.error.issues, value))
}
