// Reads payload rows from the engine's RowBinary answer.
import { rowBinary } from '../../core/store/row-binary.ts'

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

/** Rows of `field-index-payloads.sql`; the texts are slices of the answer. */
export function* decodePayloadRows(answer: Buffer): Generator<PayloadRow> {
  const read = rowBinary(answer)
  while (!read.isAtEnd())
    yield {
      us: read.int64(),
      id: read.text(),
      side: read.uint8(),
      clock: read.uint64(),
      isLeftOut: read.uint8() === 1,
      attributes: read.bytes(),
      inputs: read.bytes(),
      output: read.bytes(),
      summary: read.bytes(),
    }
}
