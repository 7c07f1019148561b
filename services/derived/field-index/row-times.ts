// Times of the payload rows of a group as JSON: of all, and of those that a column has values of.
import { Buffer } from 'node:buffer'

const comma = 44

export type RowTimes = {
  /** Members of a JSON object: the times, and their bounds. @param rows places of some rows, each once; absent: of all */
  json(rows?: Int32Array): string
}

/** @param times of all rows, in microseconds */
export function createRowTimes(times: readonly number[]): RowTimes {
  const texts = Buffer.from(`${times},`, 'latin1')
  const starts = new Int32Array(times.length + 1)
  let row = 0
  for (let i = 0; i < texts.length; i++) if (texts[i] === comma) starts[++row] = i + 1
  const some = Buffer.allocUnsafe(texts.length)

  const ofSome = (rows: Int32Array): string => {
    let min = Number.POSITIVE_INFINITY
    let max = Number.NEGATIVE_INFINITY
    let at = 0
    for (let n = 0; n < rows.length; n++) {
      const row = rows[n] as number
      const us = times[row] as number
      if (us < min) min = us
      if (us > max) max = us
      const end = starts[row + 1] as number
      for (let i = starts[row] as number; i < end; i++) some[at++] = texts[i] as number
    }
    return `"least":${min},"most":${max},"at":[${some.toString('latin1', 0, at - 1)}]`
  }
  const ofAll = ofSome(Int32Array.from(times.keys()))

  // Many columns have values of every row.
  return { json: (rows) => (rows === undefined || rows.length === times.length ? ofAll : ofSome(rows)) }
}
