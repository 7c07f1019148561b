// Tells whether a JSON value is a well-formed JSON Schema: each known keyword has a value of the kind it needs.
import { isObject } from '../../core/json/objects.ts'
import { isPattern } from '../feedback/patterns.ts'

type Check = (value: unknown) => boolean

const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

const text: Check = (v) => typeof v === 'string'
const truth: Check = (v) => typeof v === 'boolean'
const number: Check = (v) => typeof v === 'number'
const positive: Check = (v) => typeof v === 'number' && v > 0
const count: Check = (v) => Number.isInteger(v) && (v as number) >= 0
const list =
  (check: Check): Check =>
  (v) =>
    Array.isArray(v) && v.every(check)
const map =
  (check: Check): Check =>
  (v) =>
    isObject(v) && Object.values(v).every(check)
const schemaOrList: Check = (v) => isJsonSchema(v) || (Array.isArray(v) && v.length > 0 && v.every(isJsonSchema))
const pattern: Check = (v) => typeof v === 'string' && isPattern(v)
const typeName: Check = (v) => typeof v === 'string' && types.has(v)
const typeNames: Check = (v) =>
  typeName(v) || (Array.isArray(v) && v.length > 0 && new Set(v).size === v.length && v.every(typeName))

/** Keywords of the drafts 6 to 2020-12 (json-schema.org, core and validation vocabularies); others are annotations. */
const keywords = new Map<string, Check>([
  ...[
    '$id',
    '$schema',
    '$ref',
    '$comment',
    '$anchor',
    '$dynamicRef',
    'title',
    'description',
    'format',
    'contentEncoding',
    'contentMediaType',
  ].map((k) => [k, text] as const),
  ...['readOnly', 'writeOnly', 'deprecated', 'uniqueItems'].map((k) => [k, truth] as const),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((k) => [k, number] as const),
  ...[
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
    'minProperties',
    'maxProperties',
    'minContains',
    'maxContains',
  ].map((k) => [k, count] as const),
  ...[
    'not',
    'if',
    'then',
    'else',
    'contains',
    'propertyNames',
    'additionalProperties',
    'additionalItems',
    'unevaluatedItems',
    'unevaluatedProperties',
  ].map((k) => [k, isJsonSchema] as const),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map(
    (k) => [k, ((v) => Array.isArray(v) && v.length > 0 && v.every(isJsonSchema)) as Check] as const,
  ),
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'].map(
    (k) => [k, map(isJsonSchema)] as const,
  ),
  ['dependencies', map((v) => isJsonSchema(v) || list(text)(v))],
  ['dependentRequired', map(list(text))],
  ['required', list(text)],
  ['enum', Array.isArray],
  ['examples', Array.isArray],
  ['items', schemaOrList],
  ['multipleOf', positive],
  ['pattern', pattern],
  ['type', typeNames],
])

export function isJsonSchema(value: unknown): boolean {
  if (typeof value === 'boolean') return true
  if (!isObject(value)) return false
  return Object.entries(value).every(([key, sent]) => keywords.get(key)?.(sent) ?? true)
}
