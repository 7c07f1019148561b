// Checks of single fields of call writes: what is wrong is collected, so that one answer names every fault of an item.

import { integerIn } from '../../../schemas/coerce.ts'
import { maxFaults } from '../../../schemas/collections.ts'
import { isPlausible, parseTimestamp } from '../../core/clock/timestamps.ts'
import { type Detail, type Fault, type FaultStatus, fault, invalid, shownKey } from '../../core/http/errors.ts'
import { isObject } from '../../core/json/objects.ts'

export type Json = Record<string, unknown>

/**
 * Faults of one item. `details` are the first wrong types and missing keys (422), `reason` the first bad value (400, or
 * what `status` says).
 */
export type Findings = { loc: (string | number)[]; details: Detail[]; reason: string | null; status: FaultStatus }

export const findingsAt = (...loc: (string | number)[]): Findings => ({ loc, details: [], reason: null, status: 400 })

export function misfit(found: Findings, path: (string | number)[], type: string, msg: string): void {
  if (found.details.length < maxFaults) found.details.push({ loc: [...found.loc, ...path.map(shownKey)], msg, type })
}

export function refuse(found: Findings, reason: string, status: FaultStatus = 400): void {
  if (found.reason !== null) return
  found.reason = reason
  found.status = status
}

export const isSound = ({ details, reason }: Findings): boolean => details.length === 0 && reason === null

/** The fault of an item, null when nothing is wrong with it. */
export function faultOf(found: Findings): Fault | null {
  if (found.details.length > 0) return invalid(found.details)
  return found.reason === null ? null : fault(found.status, found.reason)
}

const maxReasonLength = 1000

/** The faults of an item of a batch in one line. */
export const reasonOf = ({ details, reason }: Findings): string =>
  details.length === 0
    ? (reason ?? '')
    : details
        .map(({ loc, msg }) => `${loc.slice(3).join('.')}: ${msg}`)
        .join('; ')
        .slice(0, maxReasonLength)

/** The faults of an item as 422 details: a bad value counts as one when nothing else is wrong. */
export const detailsOf = (found: Findings): Detail[] =>
  found.details.length > 0 || found.reason === null
    ? found.details
    : [{ loc: found.loc, msg: found.reason, type: 'value_error' }]

export const missing = (found: Findings, key: string): void => misfit(found, [key], 'missing', 'Field required')

/** A required string; '' stands in when it is at fault. */
export function requiredText(found: Findings, from: Json, key: string): string {
  const value = from[key]
  if (typeof value === 'string') return value
  if (value === undefined) missing(found, key)
  else misfit(found, [key], 'string_type', 'Input should be a valid string')
  return ''
}

/** An optional string; null when it is absent. */
export function optionalText(found: Findings, from: Json, key: string): string | null {
  const value = from[key]
  if (typeof value === 'string') return value
  if (value !== undefined && value !== null) misfit(found, [key], 'string_type', 'Input should be a valid string')
  return null
}

export function requiredObject(found: Findings, from: Json, key: string): Json {
  const value = from[key]
  if (isObject(value)) return value
  if (value === undefined) missing(found, key)
  else misfit(found, [key], 'dict_type', 'Input should be a valid object')
  return {}
}

/** True when an optional object is there. */
export function hasObject(found: Findings, from: Json, key: string): boolean {
  const value = from[key]
  if (value === undefined || value === null) return false
  if (isObject(value)) return true
  misfit(found, [key], 'dict_type', 'Input should be a valid object')
  return false
}

/** The integer that a JSON value stands for (integral number or numeric string), null when it is none. */
export function coerceInteger(value: unknown): number | null {
  if (typeof value === 'number') return Number.isInteger(value) ? value : null
  return typeof value === 'string' ? integerIn(value) : null
}

/** An optional count of at least 0 that fits into 64 bits; null when it is absent. */
export function optionalCount(found: Findings, value: unknown, key: string): number | null {
  if (value === undefined || value === null) return null
  const integer = coerceInteger(value)
  if (integer === null) {
    const type = typeof value === 'string' ? 'int_parsing' : 'int_type'
    misfit(found, [key], type, 'Input should be a valid integer')
    return null
  }
  if (integer < 0 || integer >= 2 ** 63) refuse(found, `Invalid ${key}: must be between 0 and 2^63 - 1`)
  return integer
}

/** A required time in microseconds, within the bounds of what can be stored. */
export function requiredTime(found: Findings, from: Json, key: string, nowMs: number): number {
  const value = from[key]
  const us = parseTimestamp(value)
  if (us === null) {
    if (value === undefined) missing(found, key)
    else misfit(found, [key], 'datetime_from_date_parsing', 'Input should be a valid timestamp')
    return 0
  }
  if (!isPlausible(us, nowMs)) refuse(found, `Invalid ${key}: must lie between 2000-01-01 and one day from now`)
  return us
}
