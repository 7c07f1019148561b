// The pieces of a body as one buffer, which costs what its bytes cost, however small the pieces are that they come in.
import { type BufferPool, freshBuffers } from './buffer-pool.ts'

export type Gathering = {
  /** Announces the number of bytes, as the sender says. */
  expect(bytes: number): void
  add(piece: Buffer): void
  /** Everything that was added, in order. */
  whole(): Buffer
  /** Bytes that are held in memory for it. */
  heldBytes(): number
}

const leastBytes = 1024

/** A piece as it came keeps everything alive that was read with it: only one that is a good part of that is kept so. */
const keepsLittleElse = ({ buffer, length }: Buffer): boolean => length >= buffer.byteLength / 4

/** A size that was said is believed once so much of it has come: what is taken before its bytes come is not touched. */
const believedFrom = 1 / 16

/**
 * Holds at most four bytes for each one that came, beyond the first thousand, or as much as was said once a sixteenth of
 * it has come: senders choose the sizes of pieces.
 */
export function createGathering(pool: BufferPool = freshBuffers): Gathering {
  let said = 0
  let only: Buffer | undefined
  let gathered: Buffer | undefined
  let total = 0

  function append(piece: Buffer): void {
    const needed = total + piece.length
    if (gathered === undefined || gathered.length < needed) {
      const believed = needed >= said * believedFrom ? said : 0
      const larger = pool.take(Math.max(leastBytes, believed > needed ? believed : 2 * total, needed))
      gathered?.copy(larger, 0, 0, total)
      if (gathered !== undefined) pool.give(gathered)
      gathered = larger
    }
    piece.copy(gathered, total)
    total = needed
  }

  return {
    expect(bytes) {
      said = bytes
    },
    add(piece) {
      if (piece.length === 0) return
      if (total === 0 && keepsLittleElse(piece)) {
        only = piece
        total = piece.length
        return
      }
      if (only !== undefined) {
        const first = only
        only = undefined
        total = 0
        append(first)
      }
      append(piece)
    },
    whole: () => only ?? gathered?.subarray(0, total) ?? Buffer.alloc(0),
    heldBytes: () => (only ?? gathered)?.buffer.byteLength ?? 0,
  }
}
