// tier: deep crash
// The engine ends while it inserts: everything is applied afterwards, and rows that make it end are found and set aside.
import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { uuidv7 } from '../../services/core/ids.ts'
import type { Batch } from '../../services/core/log/log.ts'
import { createProgress } from '../../services/core/log/progress.ts'
import { openFileDeadLetters } from '../../services/worker/dead-letters/dead-letters-file.ts'
import { startWorker } from '../../services/worker/run.ts'
import { type CrashProbe, probeInChild } from '../../services/worker/split/child-probe.ts'
import { withoutCrashingRows } from '../../services/worker/split/crashing-rows.ts'
import { createInFlight } from '../../services/worker/split/in-flight.ts'
import { type ChildServer, post, startChildServer } from '../fixtures/child-server.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { openLog, temporaryFolder } from '../fixtures/log.ts'
import { createTestStore } from '../fixtures/store.ts'

const markOf = (dir: string) => join(dir, 'in-flight-calls-0.json')
const project = 'crash/engine'
const { signal } = new AbortController()

/** Kills the server as soon as it says that it is working on a batch of calls, and has acknowledged what it holds. */
function killWhileInserting(server: ChildServer, dir: string, acknowledged: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(dir, (_, name) => {
      if (name !== 'in-flight-calls-0.json' || !existsSync(markOf(dir))) return
      watcher.close()
      resolve(acknowledged.then(() => server.kill()))
    })
  })
}

async function sendCalls(url: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidv7())
  const at = new Date().toISOString()
  const text = 'x'.repeat(2_000)
  const batch = ids.flatMap((id) => [
    { req: { start: { project_id: project, id, op_name: 'o', started_at: at, attributes: {}, inputs: { text } } } },
    { req: { end: { project_id: project, id, ended_at: at, summary: {}, output: text } } },
  ])
  expect((await post(url, '/call/upsert_batch', { batch })).status).toBe(200)
  return ids
}

const rowOf = (id: string) =>
  JSON.stringify({
    kind: 'complete',
    project_id: project,
    id,
    clock: 5,
    started_us: 1.7e15,
    ended_us: 1.7e15,
    trace_id: id,
    op_name: 'o',
    inputs: { id },
  })

describe('a process that ends in the middle of an insert', () => {
  it('leaves a mark, and the next start applies everything', async () => {
    const dir = await temporaryFolder()
    const sent: string[] = []
    let server = await startChildServer(dir)
    let tries = 0
    // The kill may come after the end of the insert; then the mark is gone, and the next one is tried.
    while (!existsSync(markOf(dir)) && tries++ < 20) {
      if (tries > 1) server = await startChildServer(dir)
      const taken = Promise.withResolvers<void>()
      const killed = killWhileInserting(server, dir, taken.promise)
      sent.push(...(await sendCalls(server.url, 2_000)))
      taken.resolve()
      await killed
    }
    const mark = JSON.parse(readFileSync(markOf(dir), 'utf8')) as { attempts: number; firstOffset: number }
    expect(mark).toMatchObject({ topic: 'calls', partition: 0, attempts: 1 })

    // As if the engine had ended itself in one more start: now the rows are tried in a child process first.
    writeFileSync(markOf(dir), JSON.stringify({ ...mark, attempts: 2 }))
    server = await startChildServer(dir)
    const { text } = await post(server.url, '/calls/query_stats', { project_id: project })
    expect(JSON.parse(text).count).toBe(sent.length)
    const lines = (await post(server.url, '/calls/stream_query', { project_id: project, columns: ['id'] })).text
    expect(new Set(lines.match(/"id":"[^"]+"/g)).size).toBe(sent.length)
    expect(await server.stop()).toBe(0)
    expect(existsSync(markOf(dir))).toBe(false)
    const letters = await openFileDeadLetters(dir)
    expect(await letters.list()).toEqual([])
    await letters.close()
  })
})

describe('rows that make the engine end', () => {
  async function batchOf(ids: string[]): Promise<Batch> {
    const file = join(await temporaryFolder(), 'segment.jsonl')
    await writeFile(file, ids.map((id) => `${rowOf(id)}\n`).join(''))
    const record = { version: 1, patchCount: 0, clock: 5n, sizeBytes: 1 }
    const half = ids.length >> 1
    const records = [
      { ...record, offset: 1, rowCount: half },
      { ...record, offset: 2, rowCount: ids.length - half },
    ]
    return {
      topic: 'calls',
      partition: 0,
      firstOffset: 1,
      lastOffset: 2,
      records,
      patchCount: 0,
      rowCount: ids.length,
      source: { file },
      oldestMs: 0,
    }
  }
  const crashingOn =
    (word: string, tried: string[] = []): CrashProbe =>
    async (_, file) => {
      const text = await readFile(file, 'utf8')
      tried.push(text)
      return text.includes(word) ? 'ended' : 'survived'
    }

  it('are found by halving the batch, wherever they stand, and the others keep their order', async () => {
    const ids = Array.from({ length: 1_000 }, (_, n) => ([0, 400, 401, 999].includes(n) ? `poison-${n}` : `sound-${n}`))
    const letters = await openFileDeadLetters(await temporaryFolder())
    const tried: string[] = []
    const batch = await batchOf(ids)
    const findings = createInFlight(await temporaryFolder()).findings(batch)
    const probe = crashingOn('poison', tried)
    const groups = await withoutCrashingRows(batch, { deadLetters: letters, findings, probe })
    expect(groups.flat().map(({ text }) => JSON.parse(text.toString()).id)).toEqual(
      ids.filter((id) => id.startsWith('sound')),
    )
    expect((await letters.list()).map(({ offset, rowIndex }) => [offset, rowIndex])).toEqual([
      [1, 0],
      [1, 400],
      [1, 401],
      [2, 499],
    ])
    // Two tries per halving and poison row, and a second look at each; far from one per row.
    expect(tried.length).toBeLessThan(90)
    // Rows that are applied together were tried together, without others.
    const text = (rows: { text: Buffer }[]) => rows.map((row) => `${row.text}\n`).join('')
    for (const group of groups) expect(tried).toContain(text(group))
    await letters.close()
  })

  it('are told from sound rows by trying them in a child process', async () => {
    const batch = await batchOf(['a', 'b'])
    const { file } = batch.source as { file: string }
    expect(await probeInChild()('calls', file, signal)).toBe('survived')
    // Rows that are refused do not crash it either: they are set aside by the insert.
    await writeFile(file, '{"kind":"unknown"}\n')
    expect(await probeInChild()('calls', file, signal)).toBe('survived')
  })

  it('are recognised by fault signals only: a child that is killed, ended or delayed from outside says nothing about rows', async () => {
    const dir = await temporaryFolder()
    const outcomeOf = async (ending: string, timeoutMs = 60_000) => {
      const script = join(dir, 'ending.mjs')
      await writeFile(script, ending)
      return probeInChild({ script, timeoutMs })('calls', '', signal)
    }
    const goesOn = 'setInterval(() => {}, 1000)'
    const killed = (name: string) => outcomeOf(`process.kill(process.pid, '${name}'); ${goesOn}`)
    for (const name of ['SIGABRT', 'SIGSEGV', 'SIGILL', 'SIGBUS']) expect(await killed(name)).toBe('ended')
    expect(await outcomeOf('process.exit(134)')).toBe('ended')
    expect(await outcomeOf('process.exit(3)')).toBe('too-much')
    for (const name of ['SIGKILL', 'SIGTERM', 'SIGINT'])
      expect(await killed(name)).toMatchObject({ undecided: `a child process was ended by ${name}` })
    expect(await outcomeOf('process.exit(137)')).toMatchObject({ undecided: 'a child process was ended by SIGKILL' })
    expect(await outcomeOf('console.error("why"); process.exit(1)')).toEqual({
      undecided: 'a child process ended with 1',
      detail: 'why\n',
    })
    expect(await outcomeOf(goesOn, 300)).toMatchObject({
      undecided: 'a child process took more than 0.3 s',
    })
  })

  describe('a batch that has ended the process twice', () => {
    /** A log with one batch of four sound rows, of which two starts have ended the process. */
    async function world() {
      const dir = await temporaryFolder()
      const log = await openLog(join(dir, 'log'))
      const { store, remove } = await createTestStore()
      onTestFinished(remove)
      const letters = await openFileDeadLetters(dir)
      onTestFinished(() => letters.close())
      const texts = ['one', 'two', 'three', 'four'].map(rowOf)
      await log.append('calls', [
        { rows: Buffer.from(`${texts.join('\n')}\n`), rowCount: 4, patchCount: 0, clock: 5n, key: '' },
      ])
      const batch = { topic: 'calls', partition: 0, firstOffset: 1 } as Batch
      const inFlight = createInFlight(dir)
      expect([inFlight.begin(batch), inFlight.begin(batch)]).toEqual([0, 1])
      const start = (probe: CrashProbe) =>
        startWorker({
          log,
          store,
          progress: createProgress(),
          deadLetters: letters,
          inFlight: createInFlight(dir),
          probe,
          onFatal: fail,
        })
      const ids = async () =>
        (
          await store.rows<{ id: string }>({
            name: 'ids',
            sql: 'SELECT id FROM callhouse.calls FINAL ORDER BY id',
            params: {},
          })
        ).map(({ id }) => id)
      return { dir, letters, start, ids }
    }

    it('waits while its children are killed, says so, and is applied whole once one of them may end by itself', async () => {
      const { dir, letters, start, ids } = await world()
      // As an engine's child where memory is short: killed with rows and without, twice.
      const script = join(dir, 'short-of-memory.mjs')
      const count = join(dir, 'count')
      await writeFile(
        script,
        `import { appendFileSync, readFileSync } from 'node:fs'
        appendFileSync('${count}', '.')
        if (readFileSync('${count}').length <= 2) process.kill(process.pid, 'SIGKILL')
        await import('${new URL('../../services/worker/probe-process.ts', import.meta.url).pathname}')`,
      )
      const worker = start(probeInChild({ script }))
      // A start does not wait for it: someone has to be able to ask.
      await worker.caughtUp()
      expect(worker.status()).toEqual({
        status: 'down',
        reason: 'calls: rows that ended the engine cannot be told: a child process was ended by SIGKILL; rows wait',
      })
      expect(await ids()).toEqual([])
      await expectSoon(ids, { withinMs: 60_000 }).toEqual(['four', 'one', 'three', 'two'])
      expect(await letters.list()).toEqual([])
      await worker.stop()
      expect(readdirSync(dir).filter((name) => name.startsWith('in-flight'))).toEqual([])
    })

    it('waits when a child that has none of its rows ends as well', async () => {
      const { letters, start, ids } = await world()
      const worker = start(async () => 'ended')
      await worker.caughtUp()
      expect(worker.status()).toMatchObject({ status: 'down', reason: expect.stringContaining('without any row') })
      await worker.stop()
      expect(await ids()).toEqual([])
      expect(await letters.list()).toEqual([])
    })

    it('goes on after another start with what it found out before', async () => {
      const { dir, letters, start, ids } = await world()
      const tried: string[] = []
      const crashing = crashingOn('three', tried)
      const probe: CrashProbe = async (topic, file) =>
        tried.length === 5 ? { undecided: 'killed' } : crashing(topic, file, signal)
      let worker = start(probe)
      await worker.caughtUp()
      // An end in order: the starts that ended in a crash still count.
      await worker.stop()
      expect(JSON.parse(readFileSync(markOf(dir), 'utf8'))).toMatchObject({ attempts: 2 })
      expect(tried).toHaveLength(5)
      tried.length = 0
      worker = start(crashing)
      await worker.caughtUp()
      await worker.stop()
      expect(await ids()).toEqual(['four', 'one', 'two'])
      expect(await letters.list()).toMatchObject([{ rowIndex: 2 }])
      // The control, the second look at the row, the control before it, and the row that was not reached.
      expect(tried.map((text) => (text === '' ? '' : JSON.parse(text).id))).toEqual(['', 'three', 'four'])
      expect(existsSync(markOf(dir))).toBe(false)
    })
  })

  it('do not become dead letters when they are too many: then the engine is at fault', async () => {
    const batch = await batchOf(Array.from({ length: 1_000 }, (_, n) => `poison-${n}`))
    const letters = await openFileDeadLetters(await temporaryFolder())
    const findings = createInFlight(await temporaryFolder()).findings(batch)
    const tried: string[] = []
    const deps = { deadLetters: letters, findings, probe: crashingOn('poison', tried) }
    await expect(withoutCrashingRows(batch, deps)).rejects.toThrow('more than 20 rows of one batch end the engine')
    expect(tried.length).toBeLessThan(120)
    tried.length = 0
    // The next attempt asks no child about a row again.
    await expect(withoutCrashingRows(batch, deps)).rejects.toThrow('more than 20 rows')
    expect(tried).toEqual([])
    expect(await letters.list()).toEqual([])

    // Where each of many rows takes long to find, the children are counted.
    const scattered = await batchOf(
      Array.from({ length: 10_000 }, (_, n) => (n % 500 === 0 ? `poison-${n}` : `sound-${n}`)),
    )
    const counted = createInFlight(await temporaryFolder()).findings(scattered)
    await expect(withoutCrashingRows(scattered, { ...deps, findings: counted })).rejects.toThrow(
      '400 child processes did not tell which rows end the engine',
    )
    expect(tried.length).toBeLessThan(450)
    expect(await letters.list()).toEqual([])
    await letters.close()
  })

  it('are set aside after two crashed starts, next to rows that are refused', async () => {
    const dir = await temporaryFolder()
    const log = await openLog(join(dir, 'log'))
    const { store, remove } = await createTestStore()
    onTestFinished(remove)
    const letters = await openFileDeadLetters(dir)
    const refused = rowOf('refused').replace('"complete"', '"burst"')
    const texts = [rowOf('one'), rowOf('poison'), refused, rowOf('two')]
    await log.append('calls', [
      { rows: Buffer.from(`${texts.join('\n')}\n`), rowCount: 4, patchCount: 0, clock: 5n, key: '' },
    ])
    const [batch] = [{ topic: 'calls', partition: 0, firstOffset: 1 } as Batch]
    const inFlight = createInFlight(dir)
    expect([inFlight.begin(batch), inFlight.begin(batch)]).toEqual([0, 1])

    const progress = createProgress()
    const reports: { deadLetters: number }[] = []
    const probed: string[] = []
    const probe = crashingOn('poison', probed)
    const deps = { log, store, progress, deadLetters: letters, inFlight: createInFlight(dir), probe }
    const worker = startWorker({ ...deps, onBatch: (report) => reports.push(report), onFatal: fail })
    await worker.caughtUp()
    const rows = await store.rows<{ id: string }>({
      name: 'ids',
      sql: 'SELECT id FROM callhouse.calls ORDER BY id',
      params: {},
    })
    expect(rows.map(({ id }) => id)).toEqual(['one', 'two'])
    expect((await letters.list()).map(({ rowIndex }) => rowIndex)).toEqual([1, 2])
    await worker.stop()
    expect(reports).toMatchObject([{ rows: 4, deadLetters: 2 }])
    expect(probed.length).toBeGreaterThan(2)
    expect(existsSync(markOf(dir))).toBe(false)
    await letters.close()
  })

  const fail = (error: Error): void => {
    throw error
  }

  it('are not searched after a single crash, or when another batch comes first', async () => {
    const dir = await temporaryFolder()
    const at = (firstOffset: number) => ({ topic: 'calls', partition: 0, firstOffset }) as Batch
    expect(createInFlight(dir).begin(at(7))).toBe(0)
    expect(createInFlight(dir).begin(at(7))).toBe(1)
    expect(createInFlight(dir).begin(at(8))).toBe(0)
    expect(createInFlight(dir).begin(at(8))).toBe(1)
    createInFlight(dir).end(at(8))
    expect(createInFlight(dir).begin(at(8))).toBe(0)
    // A mark that was cut short says nothing.
    await writeFile(markOf(dir), '{"topic":"calls","par')
    expect(createInFlight(dir).begin(at(8))).toBe(0)
    const objects = { topic: 'objects', partition: 0, firstOffset: 8 } as Batch
    expect(createInFlight(dir).begin(objects)).toBe(0)
  })
})
