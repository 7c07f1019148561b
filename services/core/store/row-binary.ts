// Reads answers of the engine in its format RowBinary: little-endian integers, texts behind their LEB128 lengths.

export type RowBinary = {
  isAtEnd(): boolean
  uint8(): number
  uint64(): bigint
  /** An Int64 that is a safe integer: times in microseconds. */
  int64(): number
  /** A part of the answer, not a copy. */
  bytes(): Buffer
  text(): string
}

export function rowBinary(answer: Buffer): RowBinary {
  let i = 0
  const bytes = (): Buffer => {
    let length = 0
    let shift = 1
    for (;;) {
      const byte = answer[i++] as number
      length += (byte & 127) * shift
      if (byte < 128) break
      shift *= 128
    }
    i += length
    return answer.subarray(i - length, i)
  }
  return {
    isAtEnd: () => i >= answer.length,
    uint8: () => answer[i++] as number,
    uint64() {
      i += 8
      return answer.readBigUInt64LE(i - 8)
    },
    int64() {
      i += 8
      return answer.readInt32LE(i - 4) * 2 ** 32 + answer.readUInt32LE(i - 8)
    },
    bytes,
    text: () => bytes().toString('utf8'),
  }
}
