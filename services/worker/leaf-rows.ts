// Reads payload rows out of the engine's RowBinary answer.

export type PayloadRow = {
  us: number
  id: string
  side: number
  clock: bigint
  isLeftOut: boolean
  attributes: Buffer
  inputs: Buffer
  output: Buffer
  summary: Buffer
}

/** Rows of `leaves-rows.sql`: LEB128 lengths, little-endian integers; the texts are parts of the answer. */
export function* payloadRows(answer: Buffer): Generator<PayloadRow> {
  let i = 0
  const text = (): Buffer => {
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
  while (i < answer.length) {
    const us = answer.readInt32LE(i + 4) * 2 ** 32 + answer.readUInt32LE(i)
    i += 8
    const id = text().toString('utf8')
    const side = answer[i++] as number
    const clock = answer.readBigUInt64LE(i)
    i += 8
    const isLeftOut = answer[i++] === 1
    yield { us, id, side, clock, isLeftOut, attributes: text(), inputs: text(), output: text(), summary: text() }
  }
}
