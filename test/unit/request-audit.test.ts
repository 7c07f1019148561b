// What requests leave in the audit log.
import { describe, expect, it } from 'vitest'
import { createAudit } from '../../services/core/audit/audit.ts'
import type { SealedEvent } from '../../services/core/audit/chain.ts'
import { actionsOf } from '../../services/core/directory/roles.ts'
import { fault } from '../../services/core/http/errors.ts'
import { holderOf } from '../../services/core/http/holder.ts'
import { createRequestAudit } from '../../services/core/http/request-audit.ts'

const holder = holderOf({ userId: 'ann', entity: 'acme', access: { acme: actionsOf('writer', 'acme') } }, 'k1')
const by = (address = '192.0.2.77', keyId?: string) => ({
  requestId: 'r1',
  userId: 'ann',
  keyId,
  address: () => address,
})
const asked = (name: string, right: 'delete' | 'read' | 'write', body: unknown, params = {}) => ({
  ...{ route: { name, right }, holder, by: by('192.0.2.77', 'k1'), params, body: Buffer.from(JSON.stringify(body)) },
})

function world(reads = false) {
  const stored: SealedEvent[] = []
  const audit = createAudit({ sink: async (events) => void stored.push(...events), kind: 'server' })
  const lost: Error[] = []
  return { stored, lost, requests: createRequestAudit(audit, { reads, onLost: (error) => lost.push(error) }) }
}

describe('deletes', () => {
  it('are recorded before they are done, with how many and which', async () => {
    const { stored, requests } = world()
    const call_ids = Array.from({ length: 30 }, (_, n) => `c${n}`)
    const seen = await requests.run(
      asked('calls.delete', 'delete', { project_id: 'acme/app', call_ids }),
      async () => stored.length,
    )
    expect(seen).toBe(1)
    expect(stored.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['calls.deleted', 'begun'],
      ['audit.ended', 'done'],
    ])
    const [{ scope, actor, key_id, address, request_id, details }] = stored as [SealedEvent]
    expect([scope, actor, key_id, address, request_id]).toEqual(['acme/app', 'ann', 'k1', '192.0.2.77', 'r1'])
    expect(JSON.parse(details)).toEqual({
      route: 'calls.delete',
      call_ids: { count: 30, first: call_ids.slice(0, 10) },
    })
    const failing = requests.run(
      asked('objects.delete', 'delete', {}, { entity: 'acme', project: 'app', object_id: 'o' }),
      () => Promise.reject(new Error('no')),
    )
    await expect(failing).rejects.toThrow('no')
    expect(stored.slice(2).map(({ action, target, outcome }) => [action, target, outcome])).toEqual([
      ['objects.deleted', 'o', 'begun'],
      ['audit.ended', '', 'failed'],
    ])
  })

  it('of projects that the caller does not open leave nothing in the events of others', async () => {
    const { stored, requests } = world(true)
    for (const project_id of ['other/app', 'acme', 7, undefined])
      await requests.run(asked('calls.delete', 'delete', { project_id, call_ids: ['a'] }), async () => undefined)
    await requests.run(asked('calls.read', 'read', { project_id: 'other/app' }), async () => undefined)
    expect(stored).toEqual([])
  })
})

it('reads are recorded when they are to be, and nothing else is', async () => {
  for (const [reads, actions] of [
    [false, []],
    [true, ['data.read']],
  ] as const) {
    const { stored, requests } = world(reads)
    await requests.run(asked('calls.read', 'read', { project_id: 'acme/app', id: 'c1' }), async () => undefined)
    await requests.run(asked('calls.update', 'write', { project_id: 'acme/app', call_id: 'c1' }), async () => undefined)
    expect(stored.map(({ action }) => action)).toEqual(actions)
  }
})

describe('refusals', () => {
  it('are summed by code, key and network', async () => {
    const { stored, requests } = world()
    const unknown = fault(401, 'no', { code: 'key_unknown' })
    for (let n = 0; n < 50; n++) requests.onFault(unknown, by(`192.0.2.${n}`))
    for (let n = 0; n < 3; n++) requests.onFault(unknown, by(`2001:db8:7::${n}`))
    requests.onFault(unknown, by('2001:db8:8:1:2:3:4:5'))
    requests.onFault(fault(403, 'no'), by('192.0.2.1', 'k1'))
    requests.onFault(fault(404, 'no'), by())
    requests.onFault(new Error('no'), by())
    await requests.close()
    expect(
      stored.map(({ action, outcome, key_id, address, details }) => [
        action,
        outcome,
        key_id,
        address,
        JSON.parse(details),
      ]),
    ).toEqual([
      ['auth.refused', 'refused', '', '192.0.2.0/24', { status: 401, code: 'key_unknown', count: 50 }],
      ['auth.refused', 'refused', '', '2001:db8:7::/48', { status: 401, code: 'key_unknown', count: 3 }],
      ['auth.refused', 'refused', '', '2001:db8:8::/48', { status: 401, code: 'key_unknown', count: 1 }],
      ['auth.refused', 'refused', 'k1', '192.0.2.0/24', { status: 403, code: '403', count: 1 }],
    ])
  })

  it('of more than a hundred kinds in a minute share an event', async () => {
    const { stored, requests } = world()
    for (let n = 0; n < 250; n++) requests.onFault(fault(403, 'no'), by('', `k${n}`))
    await requests.close()
    expect(stored.length).toBe(101)
    expect(JSON.parse(stored.at(-1)?.details ?? '')).toEqual({ code: 'others', count: 150 })
  })
})
