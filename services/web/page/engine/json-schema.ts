// Whether an answer of a model keeps to the JSON Schema that it was asked for: the words of it that providers take.

type Schema = Record<string, unknown>
type Fault = { path: string; reason: string }

type Wrong = (reason: string) => void

const maxFaults = 20
const maxDepth = 64

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}

const fits = (type: string, wanted: unknown): boolean => wanted === type || (wanted === 'number' && type === 'integer')

/** `#/$defs/name` and the like. */
function resolved(schema: unknown, root: Schema): unknown {
  if (!isObject(schema) || typeof schema.$ref !== 'string') return schema
  if (!schema.$ref.startsWith('#')) return true
  let at: unknown = root
  for (const name of schema.$ref
    .slice(1)
    .split('/')
    .filter((one) => one !== ''))
    at = isObject(at) ? at[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return at
}

function checkNumber(value: number, schema: Schema, wrong: Wrong): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  if (typeof minimum === 'number' && value < minimum) wrong(`is less than ${minimum}`)
  if (typeof maximum === 'number' && value > maximum) wrong(`is more than ${maximum}`)
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) wrong(`is not more than ${exclusiveMinimum}`)
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) wrong(`is not less than ${exclusiveMaximum}`)
}

function checkLength(length: number, least: unknown, most: unknown, what: string, wrong: Wrong): void {
  if (typeof least === 'number' && length < least) wrong(`has fewer than ${least} ${what}`)
  if (typeof most === 'number' && length > most) wrong(`has more than ${most} ${what}`)
}

/** Checks a value by itself, without its parts. */
function checkAlone(value: unknown, schema: Schema, wrong: Wrong): void {
  const same = (one: unknown) => JSON.stringify(one) === JSON.stringify(value)
  if (Array.isArray(schema.enum) && !schema.enum.some(same)) wrong('is not one of the allowed values')
  if ('const' in schema && !same(schema.const)) wrong('is not the expected value')
  if (typeof value === 'number') checkNumber(value, schema, wrong)
  if (typeof value === 'string') checkLength([...value].length, schema.minLength, schema.maxLength, 'characters', wrong)
  if (Array.isArray(value)) checkLength(value.length, schema.minItems, schema.maxItems, 'elements', wrong)
}

function checkMembers(value: unknown, { required }: Schema, wrong: Wrong): void {
  if (!isObject(value) || !Array.isArray(required)) return
  for (const name of required) if (!Object.hasOwn(value, String(name))) wrong(`is missing ${String(name).slice(0, 80)}`)
}

/** The parts of a value, with the schema of each and its path below. */
function* partsOf(value: unknown, schema: Schema): Generator<[part: unknown, of: unknown, path: string]> {
  if (Array.isArray(value)) for (const [n, one] of value.entries()) yield [one, schema.items, `[${n}]`]
  else if (isObject(value)) {
    const known = isObject(schema.properties) ? schema.properties : {}
    for (const [name, one] of Object.entries(value))
      yield [one, Object.hasOwn(known, name) ? known[name] : schema.additionalProperties, `.${name}`]
  }
}

/** Places of an answer that are not as the schema says; none = it keeps to it. */
export function schemaFaults(answer: unknown, schema: unknown): Fault[] {
  const faults: Fault[] = []
  const root = isObject(schema) ? schema : {}
  const fails = (value: unknown, of: unknown, depth: number): boolean => {
    const before = faults.length
    check(value, of, '', depth + 1)
    return faults.splice(before).length > 0
  }
  const checkChoices = (value: unknown, now: Schema, depth: number, wrong: Wrong): void => {
    for (const word of ['anyOf', 'oneOf'] as const) {
      const choices = now[word]
      if (Array.isArray(choices) && choices.every((one) => fails(value, one, depth)))
        wrong('matches none of the alternatives')
    }
  }
  function check(value: unknown, of: unknown, path: string, depth: number): void {
    const now = resolved(of, root)
    const wrong = (reason: string): void => {
      if (faults.length < maxFaults) faults.push({ path: path.replace(/^\./, ''), reason })
    }
    if (now === false) wrong('is not allowed')
    if (!isObject(now) || depth > maxDepth) return
    const type = typeOf(value)
    const types = [now.type].flat().filter((one) => one !== undefined)
    if (types.length > 0 && !types.some((one) => fits(type, one))) {
      wrong(`is ${type}, not ${types.join(' or ')}`)
      return
    }
    checkAlone(value, now, wrong)
    checkChoices(value, now, depth, wrong)
    if (Array.isArray(now.allOf)) for (const one of now.allOf) check(value, one, path, depth + 1)
    checkMembers(value, now, wrong)
    for (const [part, own, below] of partsOf(value, now)) check(part, own, path + below, depth + 1)
  }
  check(answer, schema, '', 0)
  return faults
}
