// Values of one path and kind, with the payload rows that they are of: one row of the table payload_leaves.
import type { Buffer } from 'node:buffer'
import { TextBuffer } from '../../core/memory/text-buffer.ts'
import type { RowTimes } from './row-times.ts'

/** Those of the table payload_leaves; the first three have a value. */
const kindNames = ['number', 'numeral', 'text', 'long', 'hollow', 'opaque'] as const
/** The place of each among them. */
export const fieldKinds = { number: 0, numeral: 1, text: 2, long: 3, hollow: 4, opaque: 5 } as const

const comma = 44
const firstRows = 8

export class ValueColumn {
  readonly path: string
  readonly kind: number
  /** Places of the rows in their group, `count` of them. */
  #rows = new Int32Array(firstRows)
  #count = 0
  /** JSON texts with a comma after each. */
  readonly #values = new TextBuffer()

  constructor(path: string, kind: number) {
    this.path = path
    this.kind = kind
  }

  addRow(row: number): void {
    if (this.#count === this.#rows.length) this.#grow(2 * this.#count)
    this.#rows[this.#count++] = row
  }

  /** Adds bytes start..end or, where it is given, a text; returns how many bytes the column has grown by. */
  addValue(bytes: Buffer, start: number, end: number, text: string | null): number {
    const values = this.#values
    const before = values.length
    if (text === null) values.addBytes(bytes, start, end)
    else values.add(text)
    values.addByte(comma)
    return values.length - before
  }

  /** @param rowsBefore how many rows the group had before those of the other's group */
  addAll(other: ValueColumn, rowsBefore: number): void {
    const count = this.#count + other.#count
    if (count > this.#rows.length) this.#grow(Math.max(count, 2 * this.#count))
    for (let n = 0; n < other.#count; n++) this.#rows[this.#count + n] = (other.#rows[n] as number) + rowsBefore
    this.#count = count
    this.#values.addAll(other.#values)
  }

  /** Members of a JSON object. */
  json(times: RowTimes): string {
    const values = this.#values
    const name = this.kind === fieldKinds.number ? 'num' : 'str'
    const valueText = values.length > 0 ? `,"${name}":[${values.text(1)}]` : ''
    const at = times.json(this.#rows.subarray(0, this.#count))
    return `"path":${JSON.stringify(this.path)},"kind":"${kindNames[this.kind]}",${at}${valueText}`
  }

  #grow(length: number): void {
    const rows = new Int32Array(length)
    rows.set(this.#rows)
    this.#rows = rows
  }
}
