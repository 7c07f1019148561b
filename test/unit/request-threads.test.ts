// Threads for long requests: what they are given and answer, and that nothing of one that ended stays behind.
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { createKeyedLock } from '../../services/core/concurrency/keyed-lock.ts'
import { Refusal } from '../../services/core/errors.ts'
import type { RequestThreads } from '../../services/core/http/long-requests.ts'
import type { Reply } from '../../services/core/http/route.ts'
import { heapLimitMb } from '../../services/core/memory/heap-room.ts'
import { StoreError } from '../../services/core/store/store.ts'
import { createRequestThreads } from '../../services/core/threads/pool.ts'
import type { Ports } from '../../services/core/threads/ports.ts'
import { eventually } from '../fixtures/eventually.ts'

const appended: { topic: string; rows: string }[] = []
const flushed: string[] = []
const reads: AbortSignal[] = []
const lock = createKeyedLock()
const ports = {
  log: {
    async append(topic: string, [record]: { rows: Buffer }[]) {
      appended.push({ topic, rows: String(record?.rows) })
      return { topic, partition: 0, offset: 4 }
    },
    flush: (topic: string) => flushed.push(topic),
  },
  store: {
    async bytes({ sql }: { sql: string }, _: string, { signal }: { signal: AbortSignal }) {
      reads.push(signal)
      return Buffer.from(`answer to ${sql}`)
    },
  },
  lock,
  clock: { check() {} },
} as unknown as Ports

let threads: RequestThreads | undefined
afterEach(() => threads?.close())
const misbehaving = new URL('../fixtures/misbehaving-thread.ts', import.meta.url)
const open = (idleMs = 60_000, program = misbehaving, data: unknown = null): RequestThreads => {
  threads = createRequestThreads({ program, data, ports, heapMb: heapLimitMb(2 ** 20), idleMs })
  return threads
}
const key = {}
const never = new AbortController().signal
const run = (route: string, body: Buffer | string = '', signal = never, by: object = key): Promise<Reply> => {
  const request = {
    route,
    requestId: '',
    headers: {},
    params: {},
    url: '',
    clientIp: '',
    contentType: '',
    entry: undefined,
    heapPerByte: undefined,
    maxJsonDepth: 64,
  }
  return (threads as RequestThreads).run(request, { body: Buffer.from(body as string) }, by, signal)
}

it('bodies of any size go to a thread and come back as they are', async () => {
  open()
  for (const body of [Buffer.alloc(0), Buffer.from('short'), Buffer.alloc(300_000, 'long')])
    expect(await run('echo', body)).toEqual({ bytes: body, contentType: 'x/y', headers: { a: 'b' } })
})

it('a thread is ended once its modules have run: V8 aborts the process otherwise', async () => {
  const hasRun = new SharedArrayBuffer(4)
  const opened = open(60_000, new URL('../fixtures/slow-thread.ts', import.meta.url), hasRun)
  const settled = run('any').catch(() => undefined)
  await eventually(() => expect(opened.counts().threads).toBe(1))
  await opened.close()
  expect(new Int32Array(hasRun)[0]).toBe(1)
  await settled
})

it('errors keep what answers are made of', async () => {
  open()
  const fault = await run('fault').catch((error: unknown) => error)
  expect(fault).toBeInstanceOf(Refusal)
  expect(fault).toMatchObject({ kind: 'over_limit', policy: 'bodies', retryAfterSeconds: 1, message: 'too many' })
  const refused = await run('store').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(StoreError)
  expect(refused).toMatchObject({ kind: 'memory', code: 241 })
  await expect(run('bug')).rejects.toMatchObject({ name: 'TypeError', message: 'a bug', stack: expect.any(String) })
})

it('appends and reads of a handler go through the ports, its reads with the signal of the request', async () => {
  open()
  expect(await run('append', 'rows')).toMatchObject({
    jsonText: Buffer.from('{"topic":"calls","partition":0,"offset":4}'),
  })
  expect(appended).toEqual([{ topic: 'calls', rows: 'rows' }])
  expect(await run('read', 'a question')).toMatchObject({ bytes: Buffer.from('answer to a question') })
  expect(reads).toHaveLength(1)
})

it('a topic that a handler flushes is flushed before the request is answered', async () => {
  open()
  await run('flush', 'logs')
  expect(flushed).toEqual(['logs'])
})

it('a streamed answer is asked for piece by piece, and left', async () => {
  const { counts } = open()
  const reply = await run('lines')
  const got: string[] = []
  for await (const line of (reply as { lines: AsyncIterable<Buffer> }).lines) {
    got.push(String(line))
    expect(counts().running).toBe(1)
    if (got.length === 3) break
  }
  expect(got).toEqual(['0\n', '1\n', '2\n'])
  expect(counts().running).toBe(0)
})

it('an abort reaches the handler, and what waits for a thread is given up', async () => {
  const { counts } = open()
  const controller = new AbortController()
  const running = run('aborted', '', controller.signal)
  await eventually(() => expect(counts().running).toBe(1))
  controller.abort(new Error('enough'))
  await expect(running).rejects.toThrow('enough')
  expect(counts()).toMatchObject({ running: 0, waiting: 0 })
  await expect(run('echo', '', controller.signal)).rejects.toThrow('enough')
})

it('a thread that ends, or takes too much memory, fails its requests alone and gives back its locks', async () => {
  open()
  await expect(run('exit')).rejects.toThrow('a request thread ended')
  expect(await run('echo')).toBeDefined()
  await expect(run('memory')).rejects.toMatchObject({ kind: 'too_large' })
  expect(await run('echo')).toBeDefined()
  const held = run('hold')
  held.catch(() => undefined)
  await eventually(() => expect(appended.at(-1)?.rows).toBe('held'))
  let isFree = false
  const next = lock.run('key', async () => {
    isFree = true
  })
  // A free lock would have been taken before the thread answers.
  await run('echo')
  expect(isFree).toBe(false)
  await threads?.close()
  await expect(held).rejects.toMatchObject({ kind: 'unavailable' })
  await next
  expect(isFree).toBe(true)
})

it('a thread with nothing to do ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { counts } = open(50)
  await run('echo')
  vi.advanceTimersByTime(49)
  expect(counts().threads).toBe(1)
  vi.advanceTimersByTime(1)
  expect(counts().threads).toBe(0)
  expect(await run('echo')).toBeDefined()
})

it('while one key takes a thread and more of it wait, another one finds a thread', async () => {
  open()
  const slow = Array.from({ length: 3 }, () => run('busy'))
  for (const one of slow) one.catch(() => undefined)
  expect(await run('echo', '', never, {})).toBeDefined()
  await threads?.close()
  for (const one of slow) await expect(one).rejects.toBeInstanceOf(Refusal)
})
