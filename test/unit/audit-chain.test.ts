// The audit port: events in a chain, durable before anything goes on, also when the log does not take them.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createAudit } from '../../services/core/audit/audit.ts'
import { audited } from '../../services/core/audit/audited.ts'
import { hashOf, type SealedEvent } from '../../services/core/audit/chain.ts'
import { createOutbox, takeOutbox } from '../../services/core/audit/outbox.ts'
import { auditEventsOf, expiredKeyEvents } from '../../services/core/directory/audited.ts'
import { applyItem, emptyState } from '../../services/core/directory/state.ts'
import { bytesByProject } from '../../services/core/log/segments/unapplied.ts'
import { auditRecord } from '../../services/events/audit.ts'

const event = (target: string) => ({ action: 'key.created', scope: 'acme', target })
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function memory() {
  const stored: SealedEvent[] = []
  const fail = { next: 0 }
  const sink = async (events: readonly SealedEvent[]) => {
    if (fail.next > 0) {
      fail.next--
      throw new Error('the log is away')
    }
    stored.push(...events)
  }
  return { stored, fail, sink, audit: createAudit({ sink, kind: 'server', now: () => 1_700_000_000_000 }) }
}

describe('events of a process', () => {
  it('stand in one chain, each hashed with the one before, however many come at one time', async () => {
    const { stored, audit } = memory()
    await Promise.all(Array.from({ length: 2_500 }, (_, n) => audit.record(event(`k${n}`))))
    expect(stored.map(({ seq }) => seq)).toEqual(Array.from({ length: 2_500 }, (_, n) => n + 1))
    expect(stored.map(({ target }) => target)).toEqual(Array.from({ length: 2_500 }, (_, n) => `k${n}`))
    for (const [index, { prev, hash, ...one }] of stored.entries()) {
      expect(prev).toBe(stored[index - 1]?.hash ?? '')
      expect(hash).toBe(hashOf(prev, one))
    }
  })

  it('are no bytes of a project, whose share of what may wait they would take', async () => {
    const { stored, audit } = memory()
    await audit.record(event('a'))
    const records = stored.map(auditRecord)
    expect(records.map(({ rows }) => rows.length > 100)).toEqual([true])
    expect(bytesByProject(records).size).toBe(0)
  })

  it('go on in a new chain that names the one before when it is not known whether they were kept', async () => {
    const { stored, fail, audit } = memory()
    await audit.record(event('a'))
    fail.next = 2
    await expect(audit.record(event('b'))).rejects.toThrow('the log is away')
    await expect(audit.record(event('c'))).rejects.toThrow('the log is away')
    await audit.record(event('d'))
    const [a, began, d] = stored as [SealedEvent, SealedEvent, SealedEvent]
    expect([began.action, began.seq, d.seq, d.prev]).toEqual(['audit.began', 1, 2, began.hash])
    expect(a.chain).not.toBe(began.chain)
    expect(JSON.parse(began.details).after.chain).not.toBe(began.chain)
  })

  it('go on elsewhere, in a chain that begins with what it was told also when that fails at first', async () => {
    const { stored, fail, sink, audit } = memory()
    await audit.record(event('a'))
    fail.next = 1
    await expect(audit.moveTo(sink, { role: 'serve' })).rejects.toThrow('the log is away')
    await audit.record(event('b'))
    expect(stored.map(({ action, seq, details }) => [action, seq, details])).toEqual([
      ['key.created', 1, ''],
      ['audit.began', 1, '{"role":"serve"}'],
      ['key.created', 2, ''],
    ])
  })

  it('come before what they tell of, and an end says how it went', async () => {
    const { stored, fail, audit } = memory()
    const order: string[] = []
    await audited(audit, [event('a'), event('b')], () => void order.push(...stored.map(({ outcome }) => outcome)))
    expect(order).toEqual(['begun', 'begun'])
    const failing = audited(audit, [event('c')], () => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    const ends = stored.filter(({ action }) => action === 'audit.ended')
    expect(ends.map(({ outcome, ends_from, ends_to }) => [outcome, ends_from, ends_to])).toEqual([
      ['done', 1, 2],
      ['failed', 4, 4],
    ])
    fail.next = 1
    let isDone = false
    const refused = audited(audit, [event('d')], () => {
      isDone = true
    })
    await expect(refused).rejects.toThrow('the log is away')
    expect(isDone).toBe(false)
  })

  it('keep no long details, and no half of a character', async () => {
    const { stored, audit } = memory()
    await audit.record({ ...event('\ud800'), details: { text: 'x'.repeat(3_000) } })
    expect(stored[0]?.target).toBe('\ufffd')
    expect(JSON.parse(stored[0]?.details ?? '')).toEqual({ bytes: 3_011, sha256: expect.any(String) })
  })

  it('wait in the data folder where there is no log, and leave it once they are taken over', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'callhouse-audit-'))
    folders.push(dataDir)
    const audit = createAudit({ sink: createOutbox(dataDir), kind: 'command' })
    await audit.record(event('a'))
    await audited(audit, [event('b')], () => undefined)
    const { stored, fail, sink } = memory()
    fail.next = 1
    await expect(takeOutbox(dataDir, sink)).rejects.toThrow('the log is away')
    expect(await takeOutbox(dataDir, sink)).toBe(3)
    expect(stored.map(({ action, actor_kind }) => [action, actor_kind])).toEqual([
      ['key.created', 'command'],
      ['key.created', 'command'],
      ['audit.ended', 'command'],
    ])
    expect(readdirSync(join(dataDir, 'audit'))).toEqual([])
  })
})

it('events of changes have no secret, text, email or name', () => {
  const state = emptyState()
  const secret = 'verysecret'
  const key = {
    sha256: 'a'.repeat(64),
    user: 'ann',
    name: 'ci',
    actions: ['read'],
    scopes: ['acme/app', 'acme/web'],
    created_at: '2026-01-01T00:00:00Z',
    created_by: 'bob',
  }
  const changes = [
    { key: 'user/ann', value: { kind: 'person', entity: 'acme', name: secret, email: `${secret}@x.org` } },
    { key: 'key/k1', value: key },
    { key: 'key-revoked/k1', value: {} },
    { key: 'grant/ann/acme', value: { role: 'reader' } },
    { key: 'secret/acme/app/OPENAI_KEY', value: { version: 2, sealed: secret, last4: 'cret' } },
    {
      key: 'mask/acme',
      value: { mode: 'on', sets: [], content: 'keep', allow: [], rules: [], version: 1, salt: secret },
    },
    { key: 'project/acme/app', value: { limits: { calls_per_minute: 5 } } },
    { key: 'session-end/sid', value: { until: '2026-01-01T00:00:00Z' } },
  ]
  const events = auditEventsOf(state, changes, 'bob')
  expect(events.map(({ action, scope, target, actor }) => [action, scope, target, actor])).toEqual([
    ['user.created', 'acme', 'ann', 'bob'],
    ['key.created', 'acme', 'k1', 'bob'],
    ['key.revoked', 'acme', 'k1', 'bob'],
    ['grant.set', 'acme', 'ann', 'bob'],
    ['secret.set', 'acme/app', 'OPENAI_KEY', 'bob'],
    ['masking.changed', 'acme', 'acme', 'bob'],
    ['limits.changed', 'acme/app', 'acme/app', 'bob'],
    ['session.ended', '*', 'bob', 'bob'],
  ])
  const text = JSON.stringify(events)
  for (const hidden of [secret, 'cret"', key.sha256]) expect(text).not.toContain(hidden)
  for (const { key: item, value } of changes) applyItem(state, { key: item, value, at: '', by: '' })
  expect(auditEventsOf(state, [{ key: 'project/acme/app', value: { limits: {} } }], 'bob')).toEqual([
    expect.objectContaining({ details: { before: { calls_per_minute: 5 }, after: {} } }),
  ])
  expect(auditEventsOf(state, [{ key: 'session-end/sid', value: null }], 'bob')).toEqual([])
})

it('ends of keys are found by when they came, of those that were not revoked', () => {
  const state = emptyState()
  const key = {
    user: 'ann',
    name: '',
    actions: ['read'],
    scopes: ['acme/app'],
    sha256: 'x',
    created_at: '',
    created_by: '',
  }
  const put = (item: string, value: unknown) => applyItem(state, { key: item, value, at: '', by: '' } as never)
  put('key/early', { ...key, expires_at: '2026-01-01T00:00:00Z' })
  put('key/due', { ...key, expires_at: '2026-01-03T00:00:00Z' })
  put('key/rotated', { ...key, expires_at: '2027-01-01T00:00:00Z' })
  put('key-end/rotated', { ends_at: '2026-01-03T12:00:00Z', successor: 'next' })
  put('key/revoked', { ...key, expires_at: '2026-01-03T00:00:00Z' })
  put('key-revoked/revoked', {})
  put('key/late', { ...key, expires_at: '2026-01-05T00:00:00Z' })
  put('key/never', key)
  const [from, to] = ['2026-01-02T00:00:00Z', '2026-01-04T00:00:00Z'].map(Date.parse) as [number, number]
  expect(expiredKeyEvents(state, from, to)).toEqual([
    ...[
      ['due', '2026-01-03T00:00:00Z'],
      ['rotated', '2026-01-03T12:00:00Z'],
    ].map(([target, ends_at]) => ({
      action: 'key.expired',
      scope: 'acme/app',
      target,
      details: { user: 'ann', ends_at },
    })),
  ])
})
