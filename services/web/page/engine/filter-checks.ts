// Finds terms of a filter that cannot match: unknown fields, and values and units that a field does not have; and
// suggests others.
import {
  fieldFault,
  isOfTracesAlone,
  kindOfField,
  nearest,
  type RowsOf,
  statusValues,
  statusWords,
} from './filter-fields.ts'
import {
  type Expression,
  type Literal,
  type Operator,
  parseQuery,
  queryText,
  type Term,
  termText,
} from './query-text.ts'

export type Fix = { label: string; q: string }
/**
 * @property fixes lines of the filter that say what may be meant, the likeliest first.
 * @property unknown a name that no field of the line is near to, and the fix by a field that calls have.
 */
export type Problem = {
  term: Term
  message: string
  fixes: readonly Fix[]
  unknown?: { name: string; by(field: string): Fix[] } | undefined
}

/**
 * `terms`: each what may be meant in place of the term; `isOfTraces`: it would be one where rows are traces;
 * `unknown`: the name that nothing is near to.
 */
type Found = {
  message: string
  terms: readonly (Term | readonly Term[])[]
  isOfTraces?: boolean | undefined
  unknown?: string | undefined
}
type Cond = Extract<Term, { type: 'cond' }>

const listed = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
const order: readonly Operator[] = [':', '=', '>', '>=', '<', '<=']
/** Values of a list that are offered one by one. */
const maxOffered = 3
const comparing: ReadonlySet<Operator> = new Set(['>', '>=', '<', '<='])
const forms = {
  text: { operators: [':', '=', '~'], example: '' },
  list: { operators: [':', '=', '~'], example: '' },
  status: { operators: [':', '='], example: '' },
  number: { operators: order, example: 'a number, such as tokens>1000 or tokens>1k' },
  money: { operators: order, example: 'an amount in dollars, such as cost>0.01' },
  duration: { operators: order, example: 'a duration with ms, s, m or h, such as latency>2s' },
  time: { operators: ['>', '>=', '<', '<='], example: 'a time, such as started>2026-01-05T12:00' },
} as const

type Units = readonly (readonly [form: RegExp, size: number])[]
const counts: Units = [
  [/^(?:k|thousand)$/, 1e3],
  [/^m(?:io|illions?)?$/, 1e6],
  [/^(?:g|bn?|billions?)$/, 1e9],
]
/** Units as people write them. A time without one is in milliseconds, as in the line of the filter. */
const unitWords: Partial<Record<keyof typeof forms, Units>> = {
  number: counts,
  money: [...counts, [/^cents?$/, 0.01]],
  duration: [
    [/^(?:ns|nano.*)$/, 1e-6],
    [/^(?:[uµμ]s|micro.*)$/, 1e-3],
    [/^(?:ms|msecs?|milli.*)?$/, 1],
    [/^m(?:ins?|inutes?)?$/, 60_000],
    [/^h(?:rs?|ours?)?$/, 3_600_000],
    [/^d(?:ays?)?$/, 86_400_000],
    [/^s(?:ecs?|econds?)?$/, 1_000],
  ],
}

const sizeOfUnit = (kind: keyof typeof forms, unit: string): number | undefined =>
  unitWords[kind]?.find(([form]) => form.test(unit.toLowerCase()))?.[1]

/** A value as a field writes it; undefined where it cannot be guessed. */
function meantValue(kind: keyof typeof forms, value: Literal): Literal | undefined {
  const text = String(value).trim()
  if (kind === 'status') {
    const low = text.toLowerCase().replaceAll(/[\s-]/g, '_')
    return statusWords[low] ?? nearest(low, statusValues) ?? statusWords[nearest(low, Object.keys(statusWords)) ?? '']
  }
  const number = /^[$€]?\s*(-?\d[\d,_]*(?:\.\d+)?)\s*(\p{L}*)/u.exec(text)
  if (number === null) return undefined
  const amount = Number((number[1] as string).replaceAll(/[,_]/g, ''))
  // Seconds are likely where a unit of time is unknown.
  const size = sizeOfUnit(kind, number[2] ?? '') ?? (kind === 'duration' ? 1_000 : 1)
  return Number((amount * size).toPrecision(15))
}

/** Times of days that their month has: engines read 30 February as one of March. */
export function isTime(text: string): boolean {
  const [, year, month, day = 1] = /^(\d{4})-(\d{1,2})(?:-(\d{1,2}))?/.exec(text) ?? []
  if (year === undefined || Number.isNaN(Date.parse(text))) return false
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

function isValue(kind: keyof typeof forms, value: Literal): boolean {
  switch (kind) {
    case 'text':
    case 'list':
      return true
    case 'status':
      return (statusValues as readonly unknown[]).includes(value)
    case 'time':
      return typeof value === 'string' && isTime(value)
    default:
      return Number.isFinite(value)
  }
}

/** The term with values as another field reads them: `2s` may be a time now. */
function reread(term: Cond): Cond {
  const values = term.values.map((value): Literal => {
    if (typeof value !== 'string' || !/^[\w.$-]+$/.test(value)) return value
    const again = parseQuery(`${term.field}:${value}`)[0]?.[0]
    return again?.type === 'cond' ? (again.values[0] ?? value) : value
  })
  return { ...term, values }
}

/** The condition of a time without the word behind it, where that is no unit, and a search for the word. */
function withWord(term: Cond): (readonly Term[])[] {
  const [, number, text] = /^(\S+) (\p{L}+)$/u.exec(String(term.values[0])) ?? []
  const value = Number(number)
  if (text === undefined || Number.isNaN(value) || sizeOfUnit('duration', text) !== undefined) return []
  return [
    [
      { ...term, values: [value] },
      { type: 'word', not: false, text },
    ],
  ]
}

const failed = ({ not }: Cond): Term => ({ type: 'cond', not, field: 'status', operator: ':', values: ['error'] })

/** Message for a field that does not exist, or exists for traces only. */
const missing = (field: string, isOfTraces: boolean | undefined): string =>
  isOfTraces ? `${field} is a field of traces` : `Unknown field ${field}`

type Fault = NonNullable<ReturnType<typeof fieldFault>>
/** A link is no field of one word. */
const unknownIn = (field: string, { meant, isOfTraces }: Fault, first?: Literal): { unknown?: string } =>
  meant === undefined && !isOfTraces && /^[a-z_][\w-]*$/i.test(field) && !String(first).startsWith('//')
    ? { unknown: field }
    : {}

function ofCondition(term: Cond, rows: RowsOf): Found | undefined {
  const { field, operator, values } = term
  const fault = fieldFault(field, rows)
  if (fault) {
    const list = values.map(String).join(', ')
    const text = `${field}${operator}${values.length === 1 ? list : `(${list})`}`
    return {
      message: missing(field, fault.isOfTraces),
      isOfTraces: fault.isOfTraces,
      ...unknownIn(field, fault, values[0]),
      terms: [
        ...(fault.meant === undefined ? [] : withOneValue(reread({ ...term, field: fault.meant }))),
        // A call that failed is what one error is.
        ...(fault.isOfTraces && field === 'errors' ? [failed(term)] : []),
        ...(fault.isOfTraces ? [] : [{ type: 'word', not: term.not, text } as const]),
      ],
    }
  }
  const kind = kindOfField(field)
  return (kind && ofValues(term, kind)) ?? ofComparison(term)
}

const isListed = ({ operator, values }: Cond): boolean => comparing.has(operator) && values.length > 1

/** Comparisons with one value each in place of one with several: which of them is meant is not known. */
const withOneValue = (term: Cond): Cond[] =>
  isListed(term) ? [...new Set(term.values)].slice(0, maxOffered).map((one) => ({ ...term, values: [one] })) : [term]

function ofComparison(term: Cond): Found | undefined {
  if (!isListed(term)) return undefined
  const terms = withOneValue(term)
  const texts = terms.map(termText)
  return {
    message: `${term.field}${term.operator} takes one value, as in ${texts.length === 1 ? texts[0] : listed(texts)}`,
    terms,
  }
}

/** An operator that a field does not have, and values that it never has. */
function ofValues(term: Cond, kind: keyof typeof forms): Found | undefined {
  const { field, operator, values } = term
  const { operators, example } = forms[kind]
  if (!(operators as readonly Operator[]).includes(operator))
    return {
      message: `${field} supports ${listed(operators)}, not ${operator}`,
      terms: kind === 'time' ? [] : [{ ...term, operator: ':' }],
    }
  const wrong = values.find((value) => !isValue(kind, value))
  if (wrong === undefined) return undefined
  const meant = values.map((value) => (isValue(kind, value) ? value : meantValue(kind, value)))
  return {
    message: `${field} must be ${kind === 'status' ? listed(statusValues) : example}, not ${String(wrong).slice(0, 60)}`,
    terms: [
      ...(meant.includes(undefined) ? [] : [{ ...term, values: meant as Literal[] }]),
      ...(kind === 'duration' && values.length === 1 ? withWord(term) : []),
    ],
  }
}

function found(term: Term, rows: RowsOf): Found | undefined {
  if (term.type === 'cond') return ofCondition(term, rows)
  if (term.type !== 'has') return undefined
  const { field, not } = term
  const fault = fieldFault(field, rows)
  if (fault)
    return {
      message: missing(field, fault.isOfTraces),
      isOfTraces: fault.isOfTraces,
      ...unknownIn(field, fault),
      terms: fault.meant === undefined ? [] : [{ ...term, field: fault.meant }],
    }
  if (!isOfTracesAlone(field)) return undefined
  return {
    message: `Every trace has ${field}`,
    terms: [{ type: 'cond', not, field, operator: '>', values: [0] }],
  }
}

const replaced = (any: Expression, old: Term, by: readonly Term[]): Expression =>
  any.map((all) =>
    all.flatMap((one) => (one === old ? by : one.type === 'group' ? { ...one, any: replaced(one.any, old, by) } : one)),
  )

/**
 * All problems of an expression, in the order of its terms.
 * @param advice how its place counts traces, where a field is one of traces
 */
export function problemsOf(expression: Expression, rows: RowsOf, advice: string): Problem[] {
  const walk = (any: Expression): Problem[] =>
    any.flat().flatMap((term): Problem[] => {
      if (term.type === 'group') return walk(term.any)
      const one = found(term, rows)
      if (one === undefined) return []
      // A fix that would be refused as well is not offered.
      const fixed = (by: Term[]): Fix[] =>
        by.every((each) => found(each, rows) === undefined)
          ? [{ label: queryText([by]), q: queryText(replaced(expression, term, by)) }]
          : []
      const { message, isOfTraces, unknown } = one
      return [
        {
          term,
          message: isOfTraces ? `${message}: ${advice}` : message,
          fixes: one.terms.flatMap((by) => fixed([by].flat())),
          ...(unknown !== undefined && {
            unknown: { name: unknown, by: (field) => fixed([{ ...(term as Cond), field }]) },
          }),
        },
      ]
    })
  return walk(expression)
}
