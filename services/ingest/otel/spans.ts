// Decoded OTLP data, the same from both encodings; ids are lower-case hex as received, of any length.
import type { TextBytes } from '../../events/logs.ts'
import { cost, type DecodeBudget, spend } from './budget.ts'
import type { Faults } from './faults.ts'
import type { Branch, Value } from './values.ts'

/** Nanoseconds since 1970 as whole microseconds and the rest, 0 to 999: exact where a double is not. */
export type Nanos = { us: number; rest: number }

/** Flat attributes in the order received: keys[i] has values[i]. Unset values are left out. */
export type Attributes = { keys: string[]; values: Value[] }

/** Attributes whose long texts may still be bytes of the body. */
export type LogAttributes = { keys: string[]; values: (Value | TextBytes)[] }

export type OtlpEvent = {
  /** Nanoseconds as decimal text. */
  time: string
  name: string
  attributes: Attributes
  dropped: number
}

export type OtlpLink = {
  traceId: string
  spanId: string
  traceState: string
  attributes: Attributes
  dropped: number
  flags: number
}

export type OtlpSpan = {
  traceId: string
  spanId: string
  traceState: string
  parentSpanId: string
  name: string
  kind: number
  start: Nanos
  end: Nanos
  attributes: Attributes
  events: OtlpEvent[]
  links: OtlpLink[]
  statusCode: number
  statusMessage: string
  faults: Faults | null
}

export type OtlpLogRecord = {
  time: Nanos
  observed: Nanos
  traceId: string
  spanId: string
  severity: number
  severityText: string
  eventName: string
  /** undefined = none is set. */
  body: Value | TextBytes | undefined
  attributes: LogAttributes
  faults: Faults | null
}

/** An item that cannot be read: it is refused alone. */
export class UnreadableItem {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export type OtlpScope = { name: string; version: string; attributes: Attributes }

/** The items of one instrumentation library: spans or log records. */
export type OtlpScoped<Item> = {
  scope: OtlpScope
  items: Iterable<Item | UnreadableItem> & { readonly length: number }
}

export type OtlpResource<Item> = {
  resource: Attributes
  droppedResource: number
  scopes: OtlpScoped<Item>[]
  /** Faults of the resource and its scopes. */
  faults: Faults | null
}

/** The body is not the request that it should be: 400, nothing of it is stored. */
export class DecodeError extends Error {}

/** Deepest nesting of lists and maps inside one attribute value; what lies deeper is null. */
export const maxValueDepth = 100

export function newResource<Item>(budget: DecodeBudget): OtlpResource<Item> {
  spend(budget, cost.message)
  return { resource: { keys: [], values: [] }, droppedResource: 0, scopes: [], faults: null }
}

export function newScoped<Item>(budget: DecodeBudget): OtlpScoped<Item> {
  spend(budget, cost.message)
  return { scope: { name: '', version: '', attributes: { keys: [], values: [] } }, items: [] }
}

export function newLogRecord(budget: DecodeBudget): OtlpLogRecord {
  spend(budget, cost.message)
  return {
    time: { us: 0, rest: 0 },
    observed: { us: 0, rest: 0 },
    traceId: '',
    spanId: '',
    severity: 0,
    severityText: '',
    eventName: '',
    body: undefined,
    attributes: { keys: [], values: [] },
    faults: null,
  }
}

export function newSpan(budget: DecodeBudget): OtlpSpan {
  spend(budget, cost.message)
  return {
    traceId: '',
    spanId: '',
    traceState: '',
    parentSpanId: '',
    name: '',
    kind: 0,
    start: { us: 0, rest: 0 },
    end: { us: 0, rest: 0 },
    attributes: { keys: [], values: [] },
    events: [],
    links: [],
    statusCode: 0,
    statusMessage: '',
    faults: null,
  }
}

export function newEvent(budget: DecodeBudget): OtlpEvent {
  spend(budget, cost.message)
  return { time: '0', name: '', attributes: { keys: [], values: [] }, dropped: 0 }
}

export function newLink(budget: DecodeBudget): OtlpLink {
  spend(budget, cost.message)
  return { traceId: '', spanId: '', traceState: '', attributes: { keys: [], values: [] }, dropped: 0, flags: 0 }
}

export function addAttribute<V>(
  into: { keys: string[]; values: V[] },
  key: string,
  value: V,
  budget: DecodeBudget,
): void {
  spend(budget, cost.member)
  into.keys.push(key)
  into.values.push(value)
}

export function addItem(items: Value[], value: Value, budget: DecodeBudget): void {
  spend(budget, cost.item)
  items.push(value)
}

export function newMap(budget: DecodeBudget): Branch {
  spend(budget, cost.map)
  return new Map()
}

export function setMember(branch: Branch, key: string, value: Value, budget: DecodeBudget): void {
  spend(budget, cost.member)
  branch.set(key, value)
}

/** Doubles that JSON cannot hold become text. */
export function finite(value: number): number | string {
  if (Number.isFinite(value)) return value
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
}

export const deepText = `a value nests deeper than ${maxValueDepth} levels, and is cut there`

/** Times that differ from the nearest microsecond by less than half of it. */
export const roundedUs = (time: Nanos): number => (time.rest >= 500 ? time.us + 1 : time.us)

/** Decimal digits of nanoseconds; beyond 2^53 microseconds the nearest double's. */
export function nanosText({ us, rest }: Nanos): string {
  const seconds = Math.floor(us / 1e6)
  // String() takes a slow path for integers above 2^31, which all times are.
  if (seconds > 0 && seconds < 2 ** 31)
    return `${seconds}${String(1_000_000_000 + (us - seconds * 1e6) * 1000 + rest).slice(1)}`
  return us === 0 ? String(rest) : `${us}${String(rest).padStart(3, '0')}`
}

/** The same, exact up to 2^64 nanoseconds. */
export const exactNanosText = (time: Nanos): string =>
  time.us > Number.MAX_SAFE_INTEGER ? String(BigInt(time.us) * 1000n + BigInt(time.rest)) : nanosText(time)

const notDigit = /\D/

/** Nanoseconds from decimal digits, null when it is none or beyond 64 bits. */
export function nanosOf(digits: string): Nanos | null {
  if (digits === '' || digits.length > 20 || notDigit.test(digits)) return null
  if (digits.length <= 3) return { us: 0, rest: Number(digits) }
  return { us: Number(digits.slice(0, -3)), rest: Number(digits.slice(-3)) }
}
