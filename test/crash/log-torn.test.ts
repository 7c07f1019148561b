// Starts of the embedded log on folders that a crash or a bad disk left: unfinished writes are cut off, damage is refused.
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { encodeHead, type StoredHeader, walk } from '../../services/core/log/record.ts'
import { readSegments } from '../../services/core/log/segments/read.ts'
import { createEmbeddedLog, type EmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { applyRows, defaults, recordOf, temporaryFolder, unsyncedFs } from '../fixtures/log.ts'

const open = (dir: string, options = {}): Promise<EmbeddedLog> =>
  createEmbeddedLog({ dir, fs: unsyncedFs, ...defaults, ...options })

async function readAll(dir: string): Promise<{ offset: number; text: string }[]> {
  const found: { offset: number; text: string }[] = []
  for await (const { header, rows } of readSegments({ dir, topic: 'calls' }))
    found.push({ offset: header.offset, text: rows.toString() })
  return found
}

/** A closed log whose segments hold the given records, and the bytes of the last segment. */
async function closedLog(segments: string[][]) {
  const dir = await temporaryFolder()
  for (const ids of segments) {
    const log = await open(dir)
    await Promise.all(ids.map((id) => log.append('calls', [recordOf([`${id}1`, `${id}2`])])))
    await log.close()
  }
  const folder = join(dir, 'calls')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()
  const file = join(folder, names.at(-1) as string)
  return { dir, folder, names, file, bytes: await readFile(file) }
}

const startOf = (bytes: Buffer, index: number): number => {
  const { records } = walk(bytes, Number(/"_record":"(\d+)/.exec(bytes.toString('latin1', 0, 40))?.[1]))
  return records.slice(0, index).reduce((at, { sizeBytes }) => at + sizeBytes, 0)
}

describe('an unfinished last write', () => {
  test('cut at every byte of the last record: the records before stay, and the offset is used again', async () => {
    const { dir, file, bytes } = await closedLog([['a', 'b', 'c']])
    const begin = startOf(bytes, 2)
    for (let end = begin; end < bytes.length; end++) {
      await writeFile(file, bytes.subarray(0, end))
      const log = await open(dir)
      expect((await log.end('calls'))[0]?.offset, `cut at ${end}`).toBe(2)
      await log.close()
      expect(await readFile(file)).toEqual(bytes.subarray(0, begin))
    }
    const log = await open(dir)
    expect((await log.append('calls', [recordOf(['d'])])).offset).toBe(3)
    expect((await applyRows(log, 'calls', 5)).ids).toEqual(['a1', 'a2', 'b1', 'b2', 'd'])
    await log.close()
  })

  test('zeros from any byte of the last record on are cut off, as blocks that were allocated and never written', async () => {
    const { dir, file, bytes } = await closedLog([['a', 'b', 'c']])
    const begin = startOf(bytes, 2)
    for (let from = begin; from < bytes.length; from++)
      for (const size of from % 16 === 0 ? [bytes.length, 4096, 8192] : [bytes.length]) {
        await writeFile(file, Buffer.concat([bytes.subarray(0, from)], Math.max(size, bytes.length)))
        const log = await open(dir)
        expect((await log.end('calls'))[0]?.offset, `zeros from ${from}`).toBe(2)
        await log.close()
      }
    await writeFile(file, Buffer.concat([bytes], 8192))
    const log = await open(dir)
    expect((await log.end('calls'))[0]?.offset).toBe(3)
    await log.close()
  })

  test('a hole in the last write goes with what the same write put behind it', async () => {
    const { dir, file, bytes } = await closedLog([['a']])
    const rows = (id: string): Buffer => recordOf([id], { text: 'y'.repeat(500) }).rows
    const record = (offset: number, groupIndex: number): Buffer => {
      const fields = { version: 1, rowCount: 1, patchCount: 0, clock: 1n, highClock: 1n, appendedMs: 1 }
      const body = rows(`r${offset}`)
      return Buffer.concat([encodeHead({ offset, groupIndex, ...fields }, body), body.subarray(1)])
    }
    const holed = record(2, 0).fill(0, 200, 400)
    await writeFile(file, Buffer.concat([bytes, holed, record(3, 1), record(4, 2)]))
    let log = await open(dir)
    expect((await log.end('calls'))[0]?.offset).toBe(1)
    await log.close()

    // The write of record 4 began after that of record 2 was synced: record 2 was acknowledged.
    await writeFile(file, Buffer.concat([bytes, holed, record(3, 1), record(4, 0)]))
    await expect(open(dir)).rejects.toThrow(`${file} is damaged at byte ${bytes.length}: checksum of record 2 differs`)
    await writeFile(file, bytes)
    log = await open(dir)
    await log.close()
  })

  test('an empty last file, or one without a whole record, is removed and its offset used again', async () => {
    for (const content of ['', '{"_rec', '\0'.repeat(4096)]) {
      const { dir, folder, names } = await closedLog([['a'], ['b']])
      expect(names).toHaveLength(2)
      await writeFile(join(folder, '0000000000000003.jsonl'), content)
      const log = await open(dir)
      expect((await log.append('calls', [recordOf(['c'])])).offset).toBe(3)
      expect((await applyRows(log, 'calls', 5)).ids).toEqual(['a1', 'a2', 'b1', 'b2', 'c'])
      await log.close()
    }
    const dir = await temporaryFolder()
    await mkdir(join(dir, 'calls'), { recursive: true })
    await writeFile(join(dir, 'calls', '0000000000000001.jsonl'), '')
    const log = await open(dir)
    expect((await log.append('calls', [recordOf(['first'])])).offset).toBe(1)
    await log.close()
  })

  test('a segment that ends in the zeros of its spare is delivered without them, whether it is the last or not', async () => {
    const { dir, folder, names } = await closedLog([['a', 'b'], ['c']])
    for (const name of names) {
      const bytes = await readFile(join(folder, name))
      await writeFile(join(folder, name), Buffer.concat([bytes], 65_536))
    }
    const log = await open(dir)
    expect((await applyRows(log, 'calls', 6)).ids).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2'])
    await log.close()
  })

  test('a segment whose name was not durable yet is found in its spare, and an unused or unfinished spare goes', async () => {
    for (const lost of [0, 1, 2]) {
      const { dir, folder, names } = await closedLog([['a', 'b'], ['c'], ['d']])
      const bytes = await readFile(join(folder, names[lost] as string))
      await rm(join(folder, names[lost] as string))
      await writeFile(join(folder, '0.spare'), Buffer.concat([bytes], 65_536))
      await writeFile(join(folder, '1.spare'), Buffer.alloc(65_536))
      await writeFile(join(folder, '2.spare'), Buffer.concat([Buffer.alloc(512), bytes.subarray(512)], 65_536))
      const log = await open(dir)
      expect((await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort()).toEqual(names)
      expect(await readdir(folder)).not.toContain('0.spare')
      expect((await applyRows(log, 'calls', 8)).ids).toEqual(['a1', 'a2', 'b1', 'b2', 'c1', 'c2', 'd1', 'd2'])
      await log.close()
      expect((await readdir(folder)).filter((name) => name.endsWith('.spare'))).toEqual([])
    }
  })

  test('left-over temporary files disappear', async () => {
    const { dir, folder } = await closedLog([['a']])
    await writeFile(join(folder, '0000000000000001-0000000000000001.jsonl.zst.tmp'), 'half')
    await (await open(dir)).close()
    expect((await readdir(folder)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

describe('damage', () => {
  test('every flipped bit is found', async () => {
    const { bytes } = await closedLog([['a', 'b']])
    expect(walk(bytes, 1).problem).toBeNull()
    for (let at = 0; at < bytes.length; at++)
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(bytes)
        flipped[at] = (bytes[at] as number) ^ (1 << bit)
        expect(walk(flipped, 1).problem, `byte ${at} bit ${bit}`).toMatchObject({ torn: false })
      }
  })

  test('a flipped bit stops the start with file and byte, in the last record too', async () => {
    const { dir, file, bytes } = await closedLog([['a', 'b', 'c']])
    for (let at = 0; at < bytes.length; at += 7) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (bytes[at] as number) ^ 4
      await writeFile(file, flipped)
      const record = [1, 2, 3].findLast((number) => startOf(bytes, number - 1) <= at) as number
      await expect(open(dir)).rejects.toThrow(`Log segment ${file} is damaged at byte ${startOf(bytes, record - 1)}`)
    }
    await writeFile(file, bytes)
    await (await open(dir)).close()
  })

  test('a flipped bit in the first header of a segment without its name stops the start', async () => {
    const { dir, folder, file, bytes } = await closedLog([['a', 'b']])
    await rm(file)
    for (const tail of [bytes.length, 65_536]) {
      const flipped = Buffer.concat([bytes], tail)
      flipped[20] = (bytes[20] as number) ^ 4
      await writeFile(join(folder, '0.spare'), flipped)
      await expect(open(dir)).rejects.toThrow(`Log segment ${join(folder, '0.spare')} is damaged at byte 0`)
    }
    // The write of the second record began after the first was synced.
    const [first, second] = [bytes.subarray(0, startOf(bytes, 1)), bytes.subarray(startOf(bytes, 1))]
    const { records } = walk(bytes, 1)
    const head = encodeHead({ ...(records[1] as StoredHeader), groupIndex: 0 }, recordOf(['b1', 'b2']).rows)
    const later = Buffer.concat([head, second.subarray(head.length)])
    await writeFile(join(folder, '0.spare'), Buffer.concat([Buffer.alloc(first.length), later], 65_536))
    await expect(open(dir)).rejects.toThrow('0.spare is damaged at byte 0')
  })

  test('only the last segment may end early', async () => {
    const { dir, folder, names } = await closedLog([['a', 'b'], ['c'], ['d']])
    const first = join(folder, names[0] as string)
    const bytes = await readFile(first)
    await truncate(first, bytes.length - 1)
    await expect(open(dir)).rejects.toThrow(`${first} is damaged at byte ${startOf(bytes, 1)}`)
    await truncate(first, startOf(bytes, 1))
    await expect(open(dir)).rejects.toThrow(/Records 2 to 2 are missing/)
    await writeFile(first, bytes)
    // The last file was created after the one before was complete, even when it holds nothing itself.
    const before = join(folder, names[1] as string)
    await truncate(join(folder, names[2] as string), 0)
    await truncate(before, 100)
    await expect(open(dir)).rejects.toThrow(`${before} is damaged at byte 0`)
  })

  test('an empty last file tells how many records there were', async () => {
    const { dir, folder } = await closedLog([['a'], ['b']])
    await writeFile(join(folder, '0000000000000005.jsonl'), '')
    await expect(open(dir)).rejects.toThrow(/records 3 to 4 are missing/)
  })

  test('a missing segment stops the start', async () => {
    const { dir, folder, names } = await closedLog([['a'], ['b'], ['c']])
    const middle = join(folder, names[1] as string)
    const bytes = await readFile(middle)
    await rm(middle)
    await expect(open(dir)).rejects.toThrow(/Records 2 to 2 are missing/)
    await writeFile(middle, bytes)
    const first = join(folder, names[0] as string)
    await rm(first)
    await expect(open(dir)).rejects.toThrow(/Records 1 to 1 are missing/)
  })

  test('a log that ends before the committed position stops the start', async () => {
    const { dir, folder, names } = await closedLog([['a'], ['b']])
    const log = await open(dir)
    await applyRows(log, 'calls', 4)
    await log.close()
    await rm(join(folder, names[1] as string))
    await expect(open(dir)).rejects.toThrow(/position 2 is applied, but the log ends at 1/)
  })

  test('applied segments are not read again at the start, unapplied ones are', async () => {
    const { dir, folder, names } = await closedLog([['a'], ['b'], ['c']])
    let log = await open(dir)
    await applyRows(log, 'calls', 2)
    await log.close()
    await writeFile(join(folder, names[0] as string), 'damaged')
    log = await open(dir)
    expect((await applyRows(log, 'calls', 4)).ids).toEqual(['b1', 'b2', 'c1', 'c2'])
    await log.close()
    await expect(readAll(dir)).rejects.toThrow(/damaged at byte 0/)
  })

  test('a failed start releases the lock', async () => {
    const { dir, file, bytes } = await closedLog([['a']])
    await writeFile(file, Buffer.from(bytes).fill('x', 200, 201))
    await expect(open(dir)).rejects.toThrow(/damaged/)
    await writeFile(file, bytes)
    await (await open(dir)).close()
    expect(await readAll(dir)).toEqual([{ offset: 1, text: recordOf(['a1', 'a2']).rows.toString() }])
  })
})

describe('the position file', () => {
  test('a commit that a crash cut short costs at most that commit', async () => {
    const { dir, folder } = await closedLog([['a'], ['b'], ['c']])
    let log = await open(dir)
    await applyRows(log, 'calls', 4)
    await log.close()
    const path = join(folder, 'position')
    const bytes = await readFile(path)
    const torn = Buffer.from(bytes)
    const newest = torn.indexOf('0000000000000002')
    torn.fill(0, newest + 5, newest + 30)
    await writeFile(path, torn)
    log = await open(dir)
    expect((await applyRows(log, 'calls', 4)).ids).toEqual(['b1', 'b2', 'c1', 'c2'])
    await log.close()
    await writeFile(path, Buffer.alloc(bytes.length))
    await expect(open(dir)).rejects.toThrow(`${path} is damaged`)
    await rm(path)
    log = await open(dir)
    expect((await applyRows(log, 'calls', 6)).ids).toHaveLength(6)
    await log.close()
  })
})
