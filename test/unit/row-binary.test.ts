// Answers in the engine's own row format: integers at their limits, texts of every length of a length.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rowBinary } from '../../services/core/store/row-binary.ts'

function lengthOf(n: number): Buffer {
  const bytes: number[] = []
  for (let rest = n; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest])
    bytes.push((rest % 128) + 128)
  }
}
const encoded = (text: string): Buffer => Buffer.concat([lengthOf(Buffer.byteLength(text)), Buffer.from(text)])
const integer = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}

it('the decoder of RowBinary reads back rows of times, versions and texts', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.nat(20_000).map((n) => 'x'.repeat(n)),
  )
  const row = fc.record({ us: fc.maxSafeInteger(), version: fc.bigInt(0n, 2n ** 64n - 1n), kind: fc.nat(255), text })
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const answer = Buffer.concat(
        rows.flatMap(({ us, version, kind, text }) => [
          integer(BigInt(us)),
          integer(BigInt.asIntN(64, version)),
          Buffer.from([kind]),
          encoded(text),
        ]),
      )
      const read = rowBinary(answer)
      const found: unknown[] = []
      while (!read.isAtEnd())
        found.push({ us: read.int64(), version: read.uint64(), kind: read.uint8(), text: read.text() })
      expect(found).toEqual(rows)
    }),
  )
})
