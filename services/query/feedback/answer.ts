// Writes the answer of a feedback query, in pieces, so that a long one neither fills the memory nor holds up others.
import type { Reply } from '../../core/http/route.ts'
import { compactRows } from '../calls/light.ts'
import { type Member, rowText } from './select.ts'

/** Bytes of the engine's answer that are written at once. */
export const pieceBytes = 256 * 1024

/** Cuts lines into pieces of whole lines. */
export function* pieces(lines: Buffer): Generator<Buffer> {
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf(10, Math.min(start + pieceBytes, lines.length - 1)) + 1
    yield lines.subarray(start, end === 0 ? lines.length : end)
    start = end === 0 ? lines.length : end
  }
}

const rowsOf = (piece: Buffer, members: readonly Member[]): string[] =>
  compactRows<unknown[]>(piece).map((values) => rowText(members, values))

function countLines(lines: Buffer): number {
  let count = 0
  for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) count++
  return count
}

/** Lets others have their turn. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/**
 * @param lines rows in the format JSONCompactEachRow, each ended by a line feed
 * @param counted number of all matches; null = those that are in the lines
 */
export function answerOf(
  lines: Buffer,
  members: readonly Member[],
  counted: number | null,
  headers: Record<string, string>,
): Reply {
  const tail = `],"total_count":${counted ?? countLines(lines)}}`
  if (lines.length <= pieceBytes) return { jsonText: `{"result":[${rowsOf(lines, members).join(',')}${tail}`, headers }
  async function* bytes(): AsyncGenerator<Buffer> {
    let before = '{"result":['
    for (const piece of pieces(lines)) {
      yield Buffer.from(before + rowsOf(piece, members).join(','))
      before = ','
      await turn()
    }
    yield Buffer.from(tail)
  }
  return { bytes: bytes(), contentType: 'application/json', headers }
}
