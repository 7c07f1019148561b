// Work whose answer of the store is long begins anew in a thread: once, with that answer, and never after a write.
import { expect, it } from 'vitest'
import { TooLongHere } from '../../services/core/errors.ts'
import { runHandler } from '../../services/core/http/handler.ts'
import type { KeyHolder } from '../../services/core/http/holder.ts'
import type { Reply, Route, RouteContext } from '../../services/core/http/route.ts'
import { openedOnly, writtenOnce } from '../../services/core/store/opened.ts'
import type { Query } from '../../services/core/store/store.ts'

const holder: KeyHolder = { userId: 'u', entity: '', holds: () => true, may: () => true }
const long: Query = { name: 'long', sql: 'SELECT 1', params: { of: 2n }, projectId: 'a/b' as never }
const row = `{"a":"${'x'.repeat(2 ** 20)}"}`
const store = openedOnly({ bytes: async ({ name }) => Buffer.from(name === 'long' ? row : '{"a":"short"}') })
let appended = 0
const log = writtenOnce({
  flush() {},
  async append() {
    appended++
    return { topic: 'calls', partition: 0, offset: 0 }
  },
})

function run(handle: (context: RouteContext) => Promise<Reply>, mayTakeLong = false): Promise<Reply> {
  const route = { name: 'x', right: 'read', handle } as unknown as Route
  const requested = { requestId: '', headers: {}, params: {}, url: '', clientIp: () => '' }
  const read = { input: undefined, body: { bytes: Buffer.alloc(0), contentType: '' } }
  const signal = () => new AbortController().signal
  return runHandler(route, requested, read, { holder, maxJsonDepth: 10, mayTakeLong, signal })
}
const outcome = (handle: (context: RouteContext) => Promise<Reply>, mayTakeLong?: boolean) =>
  run(handle, mayTakeLong).catch((error: unknown) => error)
const readLong = async ({ project }: RouteContext): Promise<Reply> => {
  project('a/b')
  return { json: (await store.rows<{ a: string }>(long)).length }
}

it('a long answer is handed on, once; a short one and one that is not parsed stay', async () => {
  const error = await outcome(readLong)
  expect(error).toBeInstanceOf(TooLongHere)
  expect((error as TooLongHere).takeAnswer()?.bytes.toString()).toBe(row)
  // Several requests may have waited for the same read, and its bytes are moved.
  expect((error as TooLongHere).takeAnswer()).toBeUndefined()
  const short = { ...long, name: 'short' }
  expect(await outcome(async ({ project }) => project('a/b') && { json: await store.rows(short) })).toEqual({
    json: [{ a: 'short' }],
  })
  const raw = async ({ project }: RouteContext) =>
    project('a/b') && { bytes: await store.bytes(long, 'RawBLOB'), contentType: '' }
  expect(await outcome(raw)).toMatchObject({ bytes: expect.any(Buffer) })
})

it('in a thread a long answer is read', async () => {
  expect(await outcome(readLong, true)).toEqual({ json: 1 })
})

it('a handler that catches it begins anew all the same, and cannot write any more', async () => {
  appended = 0
  const caught = async (context: RouteContext): Promise<Reply> => {
    await readLong(context).catch(() => undefined)
    await log.append('calls', []).catch(() => undefined)
    return { json: 'caught' }
  }
  expect(await outcome(caught)).toBeInstanceOf(TooLongHere)
  expect(appended).toBe(0)
  const failed = async (context: RouteContext): Promise<Reply> => {
    await readLong(context).catch(() => Promise.reject(new Error('no values')))
    return { json: null }
  }
  expect(await outcome(failed)).toBeInstanceOf(TooLongHere)
})

it('work that has written stays where it is', async () => {
  appended = 0
  const wrote = async (context: RouteContext): Promise<Reply> => {
    await log.append('calls', [])
    return readLong(context)
  }
  expect(await outcome(wrote)).toEqual({ json: 1 })
  expect(appended).toBe(1)
})

it('reads of a streamed answer that has begun are not handed on to a thread', async () => {
  const reply = await run(async ({ project }) => {
    project('a/b')
    async function* lines() {
      yield String((await store.rows(long)).length)
    }
    return { lines: lines(), contentType: 'application/jsonl' }
  })
  const got: string[] = []
  for await (const line of (reply as { lines: AsyncIterable<string> }).lines) got.push(line)
  expect(got).toEqual(['1'])
})
