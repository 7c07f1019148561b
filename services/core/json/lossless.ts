// JSON in and out without losing how numbers were written: 1.0, integers of any size and 1e400 survive.

import { throwUnlessRoomForJson } from '../memory/heap-room.ts'
import { isObject } from './objects.ts'

/** A number that a double would not print back as it was sent. */
export type RawNumber = { readonly rawJSON: string }

type JsonWithSource = {
  rawJSON(text: string): RawNumber
  isRawJSON(value: unknown): value is RawNumber
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
}

const json = JSON as unknown as JsonWithSource

/** True when the value is a number that is kept as its token (`rawJSON`). */
export const isRawNumber = (value: unknown): value is RawNumber => json.isRawJSON(value)

/** True for an object as `parseLossless` gives them, of which numbers are none. */
export const isLosslessObject = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && !isRawNumber(value)

/** A number as the given token, for use inside values that `stringifyLossless` writes. */
export const rawNumber = (token: string): RawNumber => json.rawJSON(token)

// A number token, or what may be one inside a string, that String(Number(token)) might not give back.
const suspicious =
  /(?:^|[\s:,[])-?(?:\d+(?:\.\d+)?[eE]|(?=[\d.]{16})\d+\.?\d*|\d+\.\d*0(?![\d.])|0\.000000|0(?=[\s,\]}]|$)(?<=-0))/

/** False when no number of the text can lose anything through JSON.parse; true may be a false alarm. */
export const needsLossless = (text: string): boolean => suspicious.test(text)

/**
 * JSON.parse, except that numbers which JavaScript would print differently become `RawNumber`s. The last of repeated
 * keys wins. Throws SyntaxError like JSON.parse, and 503 when there is no room in the heap.
 */
export function parseLossless(text: string): unknown {
  throwUnlessRoomForJson(text)
  if (!needsLossless(text)) return JSON.parse(text)
  return json.parse(text, (_key, value, context) =>
    typeof value === 'number' && context.source !== undefined && context.source !== String(value)
      ? json.rawJSON(context.source)
      : value,
  )
}

/** JSON.stringify that writes `RawNumber`s as their tokens. Lone surrogates come out as escapes. */
export const stringifyLossless = (value: unknown): string => JSON.stringify(value)
