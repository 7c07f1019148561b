// Keys of a sorted answer, kept as the bytes that the engine sent: an export of millions stays small.
import { rowBinary } from '../../../core/store/row-binary.ts'
import type { Key } from './scope.ts'

export type Keys = { next(count: number): Key[] }

/** Reads rows (Int64, String) one portion at a time. */
export function decodeKeys(answer: Buffer): Keys {
  const read = rowBinary(answer)
  return {
    next(count) {
      const keys: Key[] = []
      while (keys.length < count && !read.isAtEnd()) keys.push({ startedUs: read.int64(), id: read.text() })
      return keys
    },
  }
}

/** Keys that are known already. */
export function listed(all: readonly Key[]): Keys {
  let i = 0
  return {
    next(count) {
      i += count
      return all.slice(i - count, i)
    },
  }
}

/** Reads rows of one Int64: times in microseconds. */
export function decodeTimes(answer: Buffer): number[] {
  const read = rowBinary(answer)
  const times: number[] = []
  while (!read.isAtEnd()) times.push(read.int64())
  return times
}
