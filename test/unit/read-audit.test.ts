// Requests that read, in the audit log: told of with the projects that their handlers opened, before they are answered.
import { expect, it } from 'vitest'
import { createAudit } from '../../services/core/audit/audit.ts'
import type { SealedEvent } from '../../services/core/audit/chain.ts'
import { actionsOf } from '../../services/core/directory/roles.ts'
import { runHandler } from '../../services/core/http/handler.ts'
import { holderOf } from '../../services/core/http/holder.ts'
import type { Route, RouteContext } from '../../services/core/http/route.ts'

const holder = holderOf({ userId: 'ann', entity: 'acme', access: { acme: actionsOf('writer', 'acme') } }, 'k1')
const requested = { requestId: 'r1', headers: {}, params: {}, url: '/', clientIp: () => '192.0.2.77' }

async function run(right: 'read' | 'write', input: { project_id: string }, { fails = false, audited = true } = {}) {
  const stored: SealedEvent[] = []
  const sink = async (events: readonly SealedEvent[]) => {
    if (fails) throw new Error('the log is away')
    stored.push(...events)
  }
  const route = {
    ...{ name: 'test.read', right },
    async handle({ project }: RouteContext) {
      project(input.project_id)
      return { json: 'answered' }
    },
  } as unknown as Route
  const by = {
    ...{ holder, maxJsonDepth: 9, mayTakeLong: true, signal: () => new AbortController().signal },
    ...(audited && { readAudit: createAudit({ sink, kind: 'server' }) }),
  }
  const read = { input, body: { bytes: Buffer.alloc(0), contentType: '' } }
  const answer = await runHandler(route, requested, read, by).catch((error: Error) => error.message)
  return { answer, stored }
}

it('a read is told of with who asked, where, and which ids', async () => {
  const call_ids = Array.from({ length: 30 }, (_, n) => `c${n}`)
  const { answer, stored } = await run('read', { project_id: 'acme/app', ...{ call_ids } })
  expect(answer).toEqual({ json: 'answered' })
  expect(stored.map((one) => [one.action, one.scope, one.actor, one.key_id, one.address, one.request_id])).toEqual([
    ['data.read', 'acme/app', 'ann', 'k1', '192.0.2.77', 'r1'],
  ])
  expect(JSON.parse(stored[0]?.details ?? '')).toEqual({
    ...{ route: 'test.read', call_ids: { count: 30, first: call_ids.slice(0, 10) } },
  })
})

it('a read that cannot be told of is not answered', async () => {
  expect((await run('read', { project_id: 'acme/app' }, { fails: true })).answer).toBe('the log is away')
})

it('what was not read leaves nothing: foreign projects, writes, and everything while reads are not told of', async () => {
  expect((await run('read', { project_id: 'other/app' })).stored).toEqual([])
  expect((await run('write', { project_id: 'acme/app' })).stored).toEqual([])
  expect((await run('read', { project_id: 'acme/app' }, { audited: false })).stored).toEqual([])
})
