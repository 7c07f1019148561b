// Rows of records that are larger than a message may be: they lie in blob storage, and the message says where.
import { createHash, randomBytes } from 'node:crypto'
import type { Blobs } from '../../blobs/blobs.ts'
import type { ProjectId } from '../../ids.ts'

/**
 * MUST: rows that are kept stay readable at least as long as the log holds records.
 * MUST: each keeping makes a content of its own; one that is as old as the log never stands for a new record.
 */
export type LargeRecords = {
  /** Stores rows durably; resolves to the text that goes into the message. @throws Fault 503 */
  keep(rows: Buffer): Promise<Buffer>
  /** @throws Error when the rows are not there, cannot be read now, or are not the ones that were kept */
  load(pointer: Buffer, sizeBytes: number): Promise<Buffer>
}

/**
 * Time that they are kept longer than records: the newest segment of a topic without a rule of its own ends up to a
 * week after its first record, and clocks may differ by a day.
 */
export const largeRecordsLongerMs = 8 * 86_400_000

/** All records share a folder: which projects' rows they hold does not matter here. */
const owner = 'log/records' as ProjectId
/** Lets others run between pieces, and bounds what the disk is given at once. */
const pieceBytes = 2 ** 20

/** @param blobs a place of its own, whose contents can be removed by age */
export function createLargeRecords(blobs: Blobs): LargeRecords {
  return {
    async keep(rows) {
      const upload = await blobs.upload()
      const hash = createHash('sha256')
      try {
        for (let at = 0; at < rows.length; at += pieceBytes) {
          const piece = rows.subarray(at, at + pieceBytes)
          hash.update(piece)
          await upload.write(piece)
        }
      } catch (error) {
        await upload.discard()
        throw error
      }
      const location = await upload.commit(owner, randomBytes(32).toString('hex'))
      return Buffer.from(`${hash.digest('hex')} ${location}`)
    },
    async load(pointer, sizeBytes) {
      const text = pointer.toString('utf8')
      const location = text.slice(65)
      const rows = Buffer.allocUnsafe(sizeBytes)
      const hash = createHash('sha256')
      let size = 0
      try {
        for await (const piece of blobs.read(location)) {
          size += piece.length
          if (size > sizeBytes) break
          piece.copy(rows, size - piece.length)
          hash.update(piece)
        }
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        throw new Error(`A record's rows cannot be read from blob storage (${location}): ${reason}`)
      }
      if (size !== sizeBytes || hash.digest('hex') !== text.slice(0, 64))
        throw new Error(`What lies in blob storage (${location}) is not the rows of the record`)
      return rows
    },
  }
}
