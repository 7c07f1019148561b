// The casts of the query language on string forms, in JS; `compile.ts` says the same in SQL.
import { doubleText } from '../../core/json/number-text.ts'
import type { Scalar } from './types.ts'

export { stringToDouble } from '../../core/json/number-text.ts'

const integer = /^[+-]?\d+$/
const int64Max = 2n ** 63n - 1n

export function stringToInt(text: string): bigint | null {
  if (!integer.test(text)) return null
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return value > int64Max || value < -int64Max - 1n ? null : value
}

/** true, false, or an integer text 0..255. */
export function stringToBool(text: string): number | null {
  if (text === 'true') return 1
  if (text === 'false') return 0
  if (!integer.test(text) || text.startsWith('-')) return null
  const value = Number(text)
  return value <= 255 ? value : null
}

/** Text form of a number or boolean. */
export function numberText(value: number | bigint | boolean): string {
  return typeof value === 'number' ? doubleText(value) : String(value)
}

/** An integral number as a 64-bit integer, else null. */
export function numberToInt(value: number | bigint): bigint | null {
  return typeof value === 'bigint' ? value : stringToInt(doubleText(value))
}

/** Value in a condition's place: numbers are true when not 0, texts when not empty. */
export function truthOf(value: Scalar): boolean | null {
  if (value === null) return null
  if (typeof value === 'boolean') return value
  return typeof value === 'string' ? value !== '' : Number(value) !== 0
}
