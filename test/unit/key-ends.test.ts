// Keys that end soon are counted, keys that the configuration denies do not count, and no random text is a key.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createKey, rotateKey, throwIfManyRevoked } from '../../services/core/http/key-changes.ts'
import { endsSoonMs } from '../../services/core/http/key-metrics.ts'
import { idIn, newKeyText } from '../../services/core/http/key-text.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { createRandom } from '../fixtures/random.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'callhouse-key-ends-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const dayMs = 86_400_000

it('keys that expire, or end after a rotation, within 14 days are counted', async () => {
  const keys = openKeys({ dataDir, configured: [] })
  const inDays = (days: number) => new Date(Date.now() + days * dayMs).toISOString()
  keys.create({ userId: 'ann', role: 'read' })
  expect(keys.ending(endsSoonMs)).toBe(0)
  keys.create({ userId: 'ann', role: 'read', expiresAt: inDays(13) })
  keys.create({ userId: 'ann', role: 'read', expiresAt: inDays(15) })
  const rotated = keys.create({ userId: 'ann', role: 'read' })
  await rotated.stored
  await keys.rotate(rotated.id, 24)
  expect(keys.ending(endsSoonMs)).toBe(2)
})

it('a user has a thousand keys that count; those that have ended or were revoked are none of them', () => {
  const now = Date.parse('2026-03-01T00:00:00Z')
  const past = '2026-02-01T00:00:00Z'
  const key = { user: 'ann', scopes: ['acme'], actions: ['read'] }
  const counted = Array.from({ length: 999 }, (_, n) => [`k${n}`, key] as const)
  const [expired, rotated, revoked] = ['expired', 'rotated', 'revoked'] as const
  const made = (more: readonly (readonly [string, object])[]) => {
    const state = {
      users: new Map(),
      keys: new Map([...counted, ...more]),
      revoked: new Set([revoked]),
      ends: new Map([[rotated, { ends_at: past }]]),
      keyLimits: new Map(),
      items: new Map(),
    }
    const asked = { userId: 'ann', scopes: ['acme'], actions: ['read'] as const }
    const rotate = (hours: number) => () => rotateKey(state as never, { id: 'k7', hours, by: 'ann', now, maxDays: 0 })
    return { create: () => createKey(state as never, asked, 'ann', now), rotate }
  }
  const ended = [[expired, { ...key, expires_at: past }] as const, [rotated, key] as const, [revoked, key] as const]
  expect(made(ended).create).not.toThrow()
  expect(made(ended).rotate(24)).not.toThrow()
  const full = made([...ended, ['one more', key]])
  expect(full.create).toThrow('ann has 1000 active keys')
  // While both count they are two.
  expect(full.rotate(24)).toThrow('ann has 1000 active keys')
  expect(full.rotate(0)).not.toThrow()
})

it('of keys that have expired the latest thousand of a user are remembered; those that were revoked all are, up to a bound', () => {
  const now = Date.parse('2026-03-01T00:00:00Z')
  const key = { user: 'ann', scopes: ['acme'], actions: ['read'] }
  const expired = { ...key, expires_at: '2026-02-01T00:00:00Z' }
  const revoked = new Set<string>()
  const make = (more: readonly (readonly [string, object])[]) => {
    const keys = new Map(more)
    const items = new Map([...[...keys.keys()].map((id) => `key/${id}`), 'key-used/e1'].map((one) => [one, {}]))
    const state = { users: new Map(), keys, revoked, ends: new Map(), keyLimits: new Map(), items }
    const asked = { userId: 'ann', scopes: ['acme'], actions: ['read'] as const }
    const { changes } = createKey(state as never, asked, 'ann', now)
    const gone = changes.filter(({ value }) => value === null).map((change) => change.key)
    return { gone, own: () => throwIfManyRevoked(state as never, 'ann', now) }
  }
  const many = (count: number, prefix: string, one: object) =>
    Array.from({ length: count }, (_, n) => [`${prefix}${n}`, one] as const)
  expect(make([...many(1_000, 'e', expired), ['of ben', { ...expired, user: 'ben' }]]).gone).toEqual([])
  expect(make(many(1_002, 'e', expired)).gone).toEqual(['key/e0', 'key/e1', 'key-used/e1'])
  expect(make(many(2_000, 'e', expired)).gone.filter((one) => one.startsWith('key/'))).toHaveLength(100)
  for (const [id] of many(5_000, 'r', key)) revoked.add(id)
  expect(make(many(4_999, 'r', key)).own).not.toThrow()
  const full = make(many(5_000, 'r', key))
  // Others may still make keys for her.
  expect(full.gone).toEqual([])
  expect(full.own).toThrow('ann has 5000 keys that were revoked')
})

it('a key whose id the configuration denies does not count, whatever the directory says', async () => {
  const before = openKeys({ dataDir, configured: [] })
  const [denied, other] = [0, 1].map(() => before.create({ userId: 'ann', role: 'read' })) as [
    ReturnType<typeof before.create>,
    ReturnType<typeof before.create>,
  ]
  await Promise.all([denied.stored, other.stored])
  const keys = openKeys({ dataDir, configured: [], denied: [denied.id] })
  expect([keys.find(denied.text), keys.findId(denied.id)]).toEqual([undefined, undefined])
  expect(keys.find(other.text)?.userId).toBe('ann')
})

it('no text of ten million random letters and digits holds a key, and a true one is found in it', () => {
  const random = createRandom(11)
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_ -'
  const bytes = Buffer.alloc(10_000_000)
  for (let n = 0; n < bytes.length; n++) bytes[n] = letters.charCodeAt(Math.floor(random.next() * letters.length))
  // As often as chance never has it: the name of the form, with letters that are no checksum.
  for (let n = 0; n < bytes.length - 100; n += 1_000) bytes.write(` chk_${'x'.repeat(50)} `, n)
  const found = (text: string) =>
    [...text.matchAll(/\bchk_[0-9A-Za-z]{50}\b/g)].map(([one]) => idIn(one)).filter(Boolean)
  expect(found(bytes.toString('latin1'))).toEqual([])
  const { text } = newKeyText()
  bytes.write(` ${text} `, 5_000_500)
  expect(found(bytes.toString('latin1'))).toHaveLength(1)
})
