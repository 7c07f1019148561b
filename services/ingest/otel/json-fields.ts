// Fields of OTLP/JSON: 64-bit integers as text or number, enums as number or name, both spellings of names. A value of
// another type is converted as far as possible, and the fault is noted.
import { parseTimestamp } from '../../core/clock/timestamps.ts'
import { isRawNumber } from '../../core/json/lossless.ts'
import { type FaultKind, type Faults, withFault } from './faults.ts'
import { type Nanos, nanosOf } from './spans.ts'

export type JsonMembers = Record<string, unknown>

/** Thrown when a number needs its token: the body is parsed again with exact numbers. */
export class NeedsToken extends Error {}

/** Field by its camel case or its snake case name; null counts as absent. */
export function field(object: JsonMembers, camel: string, snake: string): unknown {
  const value = object[camel]
  return value === undefined || value === null ? (object[snake] ?? undefined) : value
}

export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null

/** An object with members. */
export const isMembers = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value)

const isUnsafe = (value: unknown): boolean => typeof value === 'number' && !Number.isSafeInteger(value)

const nothing: JsonMembers = {}

/** Stands for a time that is none: it is put right like one that no call may have. */
const noTime = { text: '0', nanos: { us: -1, rest: 0 } }

/** Reads fields with the state of one body: whether its strings need repair, and whether its numbers are exact. */
export function createFields(mayHoldSurrogates: boolean, isExact: boolean) {
  const state: { faults: Faults | null } = { faults: null }
  const note = (kind: FaultKind, detail: string): void => {
    state.faults = withFault(state.faults, kind, detail)
  }
  const wrong = (name: string, expected: string): void => note('type', `${name} is no ${expected}`)

  const wellFormed = (value: string): string => (mayHoldSurrogates ? value.toWellFormed() : value)

  function text(value: unknown, name: string): string {
    if (isAbsent(value)) return ''
    if (typeof value === 'string') return wellFormed(value)
    wrong(name, 'text')
    return isRawNumber(value) ? value.rawJSON : typeof value === 'object' ? '' : String(value)
  }

  /** Empty where there is none; one object stands for a list of it. */
  function listOf(value: unknown, name: string): unknown[] {
    if (isAbsent(value)) return []
    if (Array.isArray(value)) return value
    wrong(name, 'list')
    return isMembers(value) ? [value] : []
  }

  /** Without members where there is none. */
  function objectOf(value: unknown, name: string): JsonMembers {
    if (isMembers(value)) return value
    if (!isAbsent(value)) wrong(name, 'object')
    return nothing
  }

  /** Decimal text of an integer that may have come as number or text, null when it is none. */
  function integerText(value: unknown): string | null {
    if (typeof value === 'string') return value.trim()
    if (isRawNumber(value)) {
      const number = Number(value.rawJSON)
      if (/^-?\d+$/.test(value.rawJSON)) return value.rawJSON
      return Number.isSafeInteger(number) ? String(number) : null
    }
    if (typeof value !== 'number') return null
    if (!isUnsafe(value)) return String(value)
    if (!isExact) throw new NeedsToken()
    // Sent just as it prints: digits, a fraction or an exponent.
    return /^-?\d+$/.test(String(value)) ? String(value) : null
  }

  /** null when it is no integer of 64 bits. */
  function int64(value: unknown): number | bigint | null {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    const digits = integerText(value)
    if (digits === null || !/^[+-]?\d{1,20}$/.test(digits)) return null
    const number = Number(digits)
    if (Number.isSafeInteger(number)) return number
    const exact = BigInt(digits)
    return BigInt.asIntN(64, exact) === exact ? exact : null
  }

  function uint32(value: unknown, name: string): number {
    if (isAbsent(value)) return 0
    const number = int64(value)
    if (number !== null && number >= 0 && number <= 0xffffffff) return Number(number)
    wrong(name, 'unsigned 32-bit integer')
    return 0
  }

  function enumOf(value: unknown, names: readonly string[], name: string): number {
    if (isAbsent(value)) return 0
    if (typeof value === 'string' && !/^-?\d+$/.test(value)) return Math.max(0, names.indexOf(value))
    const number = int64(value)
    if (number !== null) return Number(number)
    wrong(name, 'number or name')
    return 0
  }

  /** Digits of nanoseconds, null when they are none. */
  function nanosDigits(value: unknown): string | null {
    if (isAbsent(value) || value === '') return '0'
    const digits = integerText(value)
    if (digits === null || nanosOf(digits) === null || BigInt(digits) > 0xffffffffffffffffn) return null
    return digits.length > 1 && digits.startsWith('0') ? String(BigInt(digits)) : digits
  }

  function nanosText(value: unknown, name: string): string {
    const digits = nanosDigits(value)
    if (digits !== null) return digits
    note('time', `${name} is no time in nanoseconds`)
    return noTime.text
  }

  /** Nanoseconds; written in another way they are read where that is certain. */
  function nanos(value: unknown, name: string): Nanos {
    const digits = nanosDigits(value)
    if (digits !== null) return nanosOf(digits) as Nanos
    note('time', `${name} is no time in nanoseconds`)
    const number = isRawNumber(value) ? Number(value.rawJSON) : value
    if (typeof number === 'number' && number > 0 && number < 2 ** 64)
      return { us: Math.floor(number / 1000), rest: Math.floor(number % 1000) }
    const us = typeof value === 'string' && value.charCodeAt(4) === 45 ? parseTimestamp(value) : null
    return us === null ? noTime.nanos : { us, rest: 0 }
  }

  return { state, note, wrong, wellFormed, text, listOf, objectOf, int64, uint32, enumOf, nanosText, nanos }
}

export type FieldReaders = ReturnType<typeof createFields>
