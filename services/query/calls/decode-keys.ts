// Keys and start times of calls, decoded from the bytes that the engine sent: an export of millions stays small.
import { rowBinary } from '../../core/store/row-binary.ts'
import type { CallKey } from './scope.ts'

/** Reads rows (Int64, String) some at a time. */
export function decodeKeys(answer: Buffer): { next(count: number): CallKey[] } {
  const read = rowBinary(answer)
  return {
    next(count) {
      const keys: CallKey[] = []
      while (keys.length < count && !read.isAtEnd()) keys.push({ startedUs: read.int64(), id: read.text() })
      return keys
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
