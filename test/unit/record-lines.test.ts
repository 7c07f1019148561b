// Lines of calls go out as they are found, while the search for the next ones goes on.
import { expect, it } from 'vitest'
import type { ProjectId } from '../../services/core/ids.ts'
import { recordLines } from '../../services/query/calls/stream.ts'
import { callHeader } from '../fixtures/call-header.ts'

function linesOf(pages: Parameters<typeof recordLines>[0]) {
  return recordLines(pages, {
    store: { bytes: async () => expect.unreachable() },
    projectId: 'e/p' as ProjectId,
    documents: [],
    shape: {
      projectId: 'e/p',
      prefix: 'platform',
      columns: new Set(['id']),
      storageSize: false,
      usernames: false,
      totalSizes: null,
      costs: null,
      payloadsFromUs: 0,
      feedback: null,
      areRoots: false,
    },
    totalSize: false,
    feedback: false,
    expansion: null,
    isLong: false,
    options: {},
  })
}
const pageOf = (id: string) => ({ rows: [callHeader({ id })], spread: 'scattered' as const })

it('the first ones before the next ones are found', async () => {
  const { promise: found, resolve: find } = Promise.withResolvers<void>()
  async function* pages() {
    yield pageOf('a')
    await found
    yield pageOf('b')
  }
  const lines = linesOf(pages())
  expect(String((await lines.next()).value)).toContain('"id":"a"')
  const next = lines.next()
  find()
  expect(String((await next).value)).toContain('"id":"b"')
  expect((await lines.next()).done).toBe(true)
})

it('and a search that fails later says so after them', async () => {
  async function* pages() {
    yield pageOf('a')
    throw new Error('the next ones')
  }
  const lines = linesOf(pages())
  expect(String((await lines.next()).value)).toContain('"id":"a"')
  await expect(lines.next()).rejects.toThrow('the next ones')
})

it('a reader who has enough ends the search', async () => {
  let hasEnded = false
  async function* pages() {
    try {
      for (let n = 0; ; n++) yield pageOf(`c${n}`)
    } finally {
      hasEnded = true
    }
  }
  for await (const _ of linesOf(pages())) break
  expect(hasEnded).toBe(true)
})
