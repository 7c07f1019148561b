// Requests that read, in the audit log: told of with the projects that their handlers opened, before they are answered.
import { describe, expect, it } from 'vitest'
import { createAudit } from '../../services/core/audit/audit.ts'
import type { SealedEvent } from '../../services/core/audit/chain.ts'
import { actionsOf } from '../../services/core/directory/roles.ts'
import { runHandler } from '../../services/core/http/handler.ts'
import { holderOf } from '../../services/core/http/holder.ts'
import { createReadAudit } from '../../services/core/http/read-audit.ts'
import type { Route, RouteContext } from '../../services/core/http/route.ts'

const holder = holderOf({ userId: 'ann', entity: 'acme', access: { acme: actionsOf('writer', 'acme') } }, 'k1')
const requested = { requestId: 'r1', headers: {}, params: {}, url: '/', clientIp: () => '192.0.2.77' }

/** Texts and buffers by turns, ten lines each. */
async function* chunks(lines: number): AsyncGenerator<string | Buffer> {
  for (let n = 0; n < lines; n += 10) yield n % 20 === 0 ? '{}\n'.repeat(10) : Buffer.from('{}\n'.repeat(10))
}

async function run(
  right: 'read' | 'write',
  input: { project_id: string; [member: string]: unknown },
  { fails = false, audited = true, reads = true, lines = 0, isCsv = false } = {},
) {
  const stored: SealedEvent[] = []
  const sink = async (events: readonly SealedEvent[]) => {
    if (fails) throw new Error('the log is away')
    stored.push(...events)
  }
  const lost: string[] = []
  const audit = createAudit({ sink, kind: 'server' })
  const route = {
    name: 'test.read',
    right,
    async handle({ project }: RouteContext) {
      project(input.project_id)
      if (lines === 0) return { json: 'answered' }
      if (isCsv) return { bytes: chunks(lines), contentType: 'text/csv; charset=utf-8' }
      return { lines: chunks(lines), contentType: 'application/jsonl' }
    },
  } as unknown as Route
  const by = {
    holder,
    maxJsonDepth: 9,
    mayTakeLong: true,
    signal: () => new AbortController().signal,
    ...(audited && { readAudit: createReadAudit(audit, { reads, onLost: (error) => lost.push(error.message) }) }),
  }
  const read = { input, body: { bytes: Buffer.alloc(0), contentType: '' } }
  const answer = await runHandler(route, requested, read, by).catch((error: Error) => error.message)
  return { answer, stored, lost }
}

it('a read is told of with who asked, where, and which ids', async () => {
  const call_ids = Array.from({ length: 30 }, (_, n) => `c${n}`)
  const filter = { thread_ids: ['t1', 't2'], op_names: ['op'], trace_roots_only: true }
  const { answer, stored } = await run('read', { project_id: 'acme/app', call_ids, filter })
  expect(answer).toEqual({ json: 'answered' })
  expect(stored.map((one) => [one.action, one.scope, one.actor, one.key_id, one.address, one.request_id])).toEqual([
    ['data.read', 'acme/app', 'ann', 'k1', '192.0.2.77', 'r1'],
  ])
  expect(JSON.parse(stored[0]?.details ?? '')).toEqual({
    route: 'test.read',
    call_ids: { count: 30, first: call_ids.slice(0, 10) },
    'filter.thread_ids': { count: 2, first: ['t1', 't2'] },
  })
})

it('of ids that are too long for an event as many are told as fit, with how many there were', async () => {
  const ids = (lead: string, length: number) =>
    Array.from({ length: 10 }, (_, n) => lead + String(n).padEnd(length, '-'))
  const [call_ids, trace_ids] = [ids('c', 300), ids('t', 20)]
  const { stored } = await run('read', { project_id: 'acme/app', call_ids, trace_ids })
  const { details = '' } = stored[0] ?? {}
  expect(Buffer.byteLength(details)).toBeLessThanOrEqual(2_048)
  expect(JSON.parse(details)).toEqual({
    route: 'test.read',
    call_ids: { count: 10, first: call_ids.slice(0, 5) },
    trace_ids: { count: 10, first: trace_ids },
  })
  const long = await run('read', { project_id: 'acme/app', call_ids: ['c'.repeat(3_000)] })
  expect(JSON.parse(long.stored[0]?.details ?? '')).toEqual({ route: 'test.read', call_ids: { count: 1, first: [] } })
})

it('a read that cannot be told of is not answered', async () => {
  expect((await run('read', { project_id: 'acme/app' }, { fails: true })).answer).toBe('the log is away')
})

it('nothing is recorded without a read: foreign projects, writes, and everything while reads are not told of', async () => {
  expect((await run('read', { project_id: 'other/app' })).stored).toEqual([])
  expect((await run('write', { project_id: 'acme/app' })).stored).toEqual([])
  expect((await run('read', { project_id: 'acme/app' }, { audited: false })).stored).toEqual([])
})

describe('a stream', () => {
  const read = async (answer: unknown, upTo = Number.POSITIVE_INFINITY) => {
    let count = 0
    const { lines, bytes = lines } = answer as Record<'lines' | 'bytes', AsyncIterable<string | Buffer>>
    for await (const chunk of bytes) {
      count += String(chunk).split('\n').length - 1
      if (count >= upTo) break
    }
    return count
  }
  const events = (stored: SealedEvent[]) =>
    stored.map(({ action, scope, outcome, details }) => [action, scope, outcome, JSON.parse(details)])

  it.each([false, true])('of more than ten thousand lines is an export, with how many; CSV: %s', async (isCsv) => {
    const { answer, stored } = await run('read', { project_id: 'acme/app' }, { reads: false, lines: 10_010, isCsv })
    expect(await read(answer)).toBe(10_010)
    expect(events(stored)).toEqual([
      ['export.started', 'acme/app', 'done', { route: 'test.read' }],
      ['export.ended', 'acme/app', 'done', { route: 'test.read', rows: 10_010 }],
    ])
  })

  it('that its reader leaves is one that failed; a shorter one is none', async () => {
    const left = await run('read', { project_id: 'acme/app' }, { reads: false, lines: 20_000 })
    await read(left.answer, 15_000)
    expect(events(left.stored).at(-1)).toEqual([
      'export.ended',
      'acme/app',
      'failed',
      { route: 'test.read', rows: 15_000 },
    ])
    const short = await run('read', { project_id: 'acme/app' }, { reads: false, lines: 10_000 })
    expect([await read(short.answer), short.stored]).toEqual([10_000, []])
  })

  it('goes on while the log takes no events', async () => {
    const { answer, lost } = await run('read', { project_id: 'acme/app' }, { reads: false, lines: 10_010, fails: true })
    expect(await read(answer)).toBe(10_010)
    expect(lost).toEqual(['the log is away', 'the log is away'])
  })
})
