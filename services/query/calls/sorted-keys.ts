// Keys of a sorted answer, kept as the bytes that the engine sent: an export of millions stays small.
import type { Key } from './scope.ts'

export type Keys = { next(count: number): Key[] }

/** Reads RowBinary rows (Int64, String) one portion at a time. */
export function decodeKeys(answer: Buffer): Keys {
  let i = 0
  return {
    next(count) {
      const keys: Key[] = []
      while (keys.length < count && i < answer.length) {
        const startedUs = answer.readInt32LE(i + 4) * 2 ** 32 + answer.readUInt32LE(i)
        i += 8
        let length = 0
        let shift = 1
        for (;;) {
          const byte = answer[i++] as number
          length += (byte & 127) * shift
          if (byte < 128) break
          shift *= 128
        }
        keys.push({ startedUs, id: answer.toString('utf8', i, i + length) })
        i += length
      }
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

/** Reads RowBinary rows of one Int64: times in microseconds. */
export function decodeTimes(answer: Buffer): number[] {
  const times: number[] = []
  for (let i = 0; i < answer.length; i += 8) times.push(answer.readInt32LE(i + 4) * 2 ** 32 + answer.readUInt32LE(i))
  return times
}
