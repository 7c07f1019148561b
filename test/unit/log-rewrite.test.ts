// Rows of the kept log are exchanged for those that hide what they were about: numbers, clocks and age stay.
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readSegments } from '../../services/core/log/segments/read.ts'
import type { EmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { type Erased, rewriteLog, spanKey } from '../../services/removal/kept-log.ts'
import { applyRows, openLog, recordOf, temporaryFolder } from '../fixtures/log.ts'

const rowOf = (kind: string, project: string, id: string, clock: number, word: string): string =>
  `{"kind":"${kind}","project_id":"${project}","id":"${id}","clock":${clock},"inputs":{"\\"id\\":\\"b\\"":"${word}"}}\n`

const ver = 9n
const deletesOf = (ids: readonly string[] = []) => new Map(ids.map((id) => [id, ver]))
type Named = {
  spans?: string[]
  traces?: string[]
  records?: string[]
  feedback?: [string, bigint][]
  untilVer?: bigint
}
const erasedOf = (calls: string[], { spans, traces, records, feedback, untilVer = 0n }: Named = {}): Erased =>
  new Map([
    [
      'p',
      {
        calls: deletesOf(calls),
        spans: deletesOf(spans),
        traces: deletesOf(traces),
        records: deletesOf(records),
        feedback: new Map(feedback),
        untilVer,
      },
    ],
  ])
const counted = (...counts: [ver: bigint, count: number][]) => ({
  counts: new Map([['p', new Map(counts)]]),
  places: [],
})

async function append(log: EmbeddedLog, topic: string, ...rows: string[]): Promise<void> {
  const patchCount = topic === 'calls' ? rows.filter((row) => !row.startsWith('{"kind":"complete"')).length : 0
  await log.append(topic, [{ ...recordOf(['x']), rows: Buffer.from(rows.join('')), rowCount: rows.length, patchCount }])
}

async function texts(dir: string, topic: string): Promise<string> {
  const folder = join(dir, topic)
  const names = (await readdir(folder)).filter((name) => /\.jsonl(\.zst)?$/.test(name))
  const all = await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(folder, name))
      return (name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes).toString()
    }),
  )
  return all.join('')
}

async function headers(dir: string, topic: string) {
  const found = []
  for await (const { header, rows } of readSegments({ dir, topic }))
    found.push({ ...header, sizeBytes: 0, clock: String(header.clock), lines: rows.toString().split('\n').length - 1 })
  return found
}

test('rows of erased calls become deletes in archives and plain segments, all others stay as they are', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  await append(log, 'calls', rowOf('start', 'p', 'a', 5, 'gone'), rowOf('complete', 'p', 'b', 6, 'stays'))
  await applyRows(log, 'calls', 2)
  await append(log, 'calls', rowOf('complete', 'p', 'a', 7, 'gone'), rowOf('end', 'q', 'a', 8, 'stays'))
  await applyRows(log, 'calls', 2)
  await log.tidy()
  await append(log, 'calls', rowOf('end', 'p', 'a', 9, 'gone'))
  await applyRows(log, 'calls', 1)
  const before = await headers(dir, 'calls')
  const others = (await texts(dir, 'calls')).match(/\{[^{]*"stays"\}\}/g)
  const [file] = (await readdir(join(dir, 'calls'))).filter((name) => name.endsWith('.zst'))
  const old = new Date(Date.now() - 1_000_000)
  await utimes(join(dir, 'calls', file as string), old, old)

  expect(await rewriteLog(log, erasedOf(['a', 'none']))).toEqual(counted([ver, 3]))
  const now = await texts(dir, 'calls')
  expect(now).not.toContain('gone')
  expect(now.match(/\{[^{]*"stays"\}\}/g)).toEqual(others)
  expect(now.match(/"kind":"delete","project_id":"p","id":"a","clock":\d+/g)).toEqual(
    [5, 7, 9].map((clock) => `"kind":"delete","project_id":"p","id":"a","clock":${clock}`),
  )
  // A whole call has become a part of one.
  expect(await headers(dir, 'calls')).toEqual(
    before.map((header) => (header.offset === 2 ? { ...header, patchCount: header.patchCount + 1 } : header)),
  )
  expect((await stat(join(dir, 'calls', file as string))).mtimeMs).toBe(old.getTime())
  expect(await rewriteLog(log, erasedOf(['a']))).toEqual({ counts: new Map(), places: [] })
  await log.close()
  const again = await openLog(dir)
  expect(await headers(dir, 'calls')).toHaveLength(3)
  await again.close()
})

test('feedback about them becomes its purge, and their log records lose what they say', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  const head = (id: string, clock: number) => `{"project_id":"p","id":"${id}","clock":${clock}`
  const said = (id: string, of: string, word: string) =>
    `${head(id, 5)},"event":"created","weave_ref":"weave:///p/call/${of}","payload":{"note":"${word}"}}\n`
  await append(log, 'feedback', said('f1', 'a', 'gone'), said('f2', 'b', 'stays'), said('f3', 'a/b', 'stays'))
  // Purged by themselves: one that was made anew since stays.
  await append(log, 'feedback', said('f4', 'c', 'gone'), said('f5', 'c', 'stays'))
  await applyRows(log, 'feedback', 5)
  const record = (id: string, span: string, word: string, trace = 't') =>
    `${head(id, 12345678901234)},"at_ns":1767614400000000001,"trace_id":"${trace}","span_id":"${span}","body":"${word}"}\n`
  await append(log, 'logs', record('l1', 'a', 'gone'), record('l2', 'b', 'stays'), record('a', '', 'gone'))
  await append(log, 'logs', record('l3', 'a', 'stays', 'other'), record('l4', '', 'gone', 'gone-trace'))
  await append(log, 'logs', record('l5', '', 'gone', ''))
  await applyRows(log, 'logs', 6)
  const erased = erasedOf(['a'], {
    spans: [spanKey('t', 'a')],
    traces: ['gone-trace'],
    records: ['l5'],
    feedback: [
      ['f4', 5n],
      ['f5', 4n],
    ],
  })
  // Each is told to the delete that asked for it.
  expect(await rewriteLog(log, erased)).toEqual(counted([ver, 5], [5n, 1]))
  const all = (await texts(dir, 'feedback')) + (await texts(dir, 'logs'))
  expect(all).not.toContain('gone')
  expect(all.match(/stays/g)).toHaveLength(5)
  expect(all).toContain('"id":"f1","clock":5,"event":"purged"}')
  expect(all).toContain('"id":"l1","clock":12345678901234,"at_ns":1767614400000000001,"deleted":1}')
  await log.close()
})

test('feedback that the log says was purged goes, though it was made anew under its id since', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  const row = (id: string, clock: number, event: string, word = '') =>
    `{"project_id":"p","id":"${id}","clock":${clock},"event":"${event}","weave_ref":"r","payload":{"note":"${word}"}}\n`
  await append(log, 'feedback', row('f1', 5, 'created', 'gone'), row('f2', 5, 'created', 'stays'))
  await append(log, 'feedback', row('f1', 6, 'purged'), row('f1', 7, 'created', 'stays'), row('f2', 9, 'purged'))
  await applyRows(log, 'feedback', 5)
  expect(await rewriteLog(log, erasedOf([], { untilVer: 8n }))).toEqual(counted([6n, 1]))
  const all = await texts(dir, 'feedback')
  expect(all).not.toContain('gone')
  expect(all.match(/stays/g)).toHaveLength(2)
  await log.close()
})

test('rows that are not applied yet are left alone, and however old the rest is, it is exchanged', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  await append(log, 'calls', rowOf('start', 'p', 'a', 5, 'applied'))
  await applyRows(log, 'calls', 1)
  await append(log, 'calls', rowOf('end', 'p', 'a', 6, 'waits'))
  const erased = erasedOf(['a'])
  const old = new Date(Date.now() - 1_000_000)
  for (const name of (await readdir(join(dir, 'calls'))).filter((one) => one.endsWith('.jsonl')))
    await utimes(join(dir, 'calls', name), old, old)
  expect(await texts(dir, 'calls')).toContain('applied')
  await rewriteLog(log, erased)
  expect(await texts(dir, 'calls')).not.toContain('applied')
  expect(await texts(dir, 'calls')).toContain('waits')
  expect(await rewriteLog({}, erased)).toBeUndefined()
  await log.close()
})

test('a damaged segment is named and left alone, all others are rewritten, and it goes when it is too old', async () => {
  const dir = await temporaryFolder()
  const log = await openLog(dir)
  for (const [n, word] of ['gone-first', 'damaged', 'gone-last', 'newest'].entries()) {
    await append(log, 'calls', rowOf('complete', 'p', n === 3 ? 'b' : 'a', 5 + n, word))
    await applyRows(log, 'calls', 1)
  }
  const folder = join(dir, 'calls')
  const holding = async (word: string): Promise<string[]> => {
    const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
    const files = await Promise.all(
      names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
    )
    return files.filter(({ text }) => text.includes(word)).map(({ name }) => name)
  }
  const [name = ''] = await holding('damaged')
  const path = join(folder, name)
  await writeFile(path, (await readFile(path, 'utf8')).replace('damaged', 'dAmaged'))
  const place = `log segment calls/${name} is damaged at byte 0`
  for (const when of ['as it is', 'after a merge']) {
    const { places } = (await rewriteLog(log, erasedOf(['a']))) ?? {}
    expect([when, places]).toEqual([when, [place]])
    expect(await texts(dir, 'calls')).not.toContain('gone')
    expect(await texts(dir, 'calls')).toContain('dAmaged')
    await log.tidy()
  }
  // An operator took it away.
  await rm(path)
  expect(await rewriteLog(log, erasedOf(['a']))).toEqual({ counts: new Map(), places: [] })
  await log.close()
})
