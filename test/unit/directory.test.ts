// The directory: one state whatever was compacted, a file that two processes write, and keys that end when they should.
// again: property
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { itemsOf } from '../../services/core/directory/directory.ts'
import { openFileDirectory } from '../../services/core/directory/file.ts'
import { type Item, itemKey, parseItem, scopedKey } from '../../services/core/directory/items.ts'
import { roomFor } from '../../services/core/directory/room.ts'
import { applyItem, emptyState } from '../../services/core/directory/state.ts'
import { digestOf, idIn, newKeyText } from '../../services/core/http/key-text.ts'
import { createKeys, openKeys } from '../../services/core/http/keys.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { runs } from '../fixtures/runs.ts'

let dataDir: string
let path: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'callhouse-directory-'))
  path = join(dataDir, 'directory.jsonl')
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

const at = '2026-01-01T00:00:00.000Z'
const project = 'acme/app' as ProjectId
const keyValue = (user: string, name: string) => ({
  sha256: digestOf(name),
  user,
  name,
  actions: ['read'],
  scopes: ['*'],
  created_at: at,
  created_by: 'x',
})

describe('the state', () => {
  const item = (key: string, value: unknown): Item => ({ key, at, by: 'x', value })
  const users = fc.constantFrom('a', 'b/c')
  const ids = fc.constantFrom('k1', 'k2')
  const orNone = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 3 })
  const items = fc.oneof(
    fc
      .tuple(users, orNone(fc.constantFrom('e', 'f')))
      .map(([user, entity]) => item(itemKey('user', user), entity && { kind: 'person', entity })),
    fc.tuple(users, orNone(fc.constant({}))).map(([user, off]) => item(itemKey('user-off', user), off)),
    fc
      .tuple(users, fc.constantFrom('*', 'acme', 'acme/app'), orNone(fc.constantFrom('reader', 'owner')))
      .map(([user, scope, role]) => item(itemKey('grant', user, scope), role && { role })),
    fc
      .tuple(ids, users, fc.constantFrom('n', 'm'))
      .map(([id, user, name]) => item(itemKey('key', id), keyValue(user, id + name))),
    ids.map((id) => item(itemKey('key-end', id), { ends_at: at, successor: 'k2' })),
    ids.map((id) => item(itemKey('key-revoked', id), {})),
    fc.constant(item('later/kind', { of: 'another version' })),
    fc
      .tuple(fc.constantFrom('*', 'acme', 'acme/app'), ids, orNone(fc.constantFrom(1, 2)))
      .map(([scope, name, version]) =>
        item(scopedKey('secret', scope, name), version && { version, sealed: `${scope} ${name}` }),
      ),
    fc
      .tuple(users, orNone(fc.constantFrom('1', '2')))
      .map(([user, sub]) =>
        item(itemKey('user', user), sub && { kind: 'person', entity: 'e', identity: { iss: 'i', sub } }),
      ),
  )
  const stateOf = (all: readonly Item[]) => {
    const state = emptyState()
    for (const one of all) applyItem(state, one)
    return state
  }
  const plain = (all: readonly Item[]) => {
    const { items: kept, ...rest } = stateOf(all)
    const sorted = (map: Iterable<unknown>) => [...map].map((one) => JSON.stringify(one)).sort()
    const grants = [...rest.grants].map(([user, own]) => [user, sorted(own)])
    const more = { secrets: secretsOf(rest.secrets) }
    return {
      ...rest,
      kept: sorted(kept),
      grants: sorted(grants),
      users: sorted(rest.users),
      keys: sorted(rest.keys),
      ...more,
    }
  }

  const secretsOf = (secrets: ReturnType<typeof emptyState>['secrets']) =>
    [...secrets].map(([scope, own]) => JSON.stringify([scope, [...own].sort()])).sort()

  it('takes what ends something when it is full, and nothing else that is new', () => {
    const full = emptyState()
    for (let n = 0; n < roomFor.item; n++) full.items.set(`user/u${n}`, item(`user/u${n}`, {}))
    const made = (...changes: [key: string, value: unknown][]) =>
      itemsOf(
        full,
        changes.map(([key, value]) => ({ key, value })),
        'x',
        0,
      ).length
    const person = { kind: 'person', entity: 'e' }
    expect(() => made([itemKey('user', 'new'), person])).toThrow('The directory is full')
    expect(() => made([itemKey('key-revoked', 'k'), {}], [itemKey('user', 'new'), person])).toThrow('is full')
    expect(made([itemKey('user', 'u1'), person], [itemKey('user', 'u2'), null])).toBe(2)
    for (const kind of ['key-revoked', 'user-off'] as const) expect(made([itemKey(kind, 'k'), {}])).toBe(1)
    expect(made([itemKey('sessions-end', 'u1'), { before: at }], [itemKey('key-revoked', 'k'), {}])).toBe(2)
  })

  it('is the same whatever compaction takes away of what was replaced', () => {
    fc.assert(
      fc.property(fc.array(items, { maxLength: 30 }), fc.infiniteStream(fc.boolean()), (all, stays) => {
        const isReplaced = (one: Item, index: number) => all.slice(index + 1).some(({ key }) => key === one.key)
        const left = all.filter((one, index) => !isReplaced(one, index) || stays.next().value)
        expect(plain(left)).toEqual(plain(all))
      }),
      { numRuns: runs(300, 5_000) },
    )
  })

  it('reads settings, rules and secrets by their scopes, with the defaults of what is absent', () => {
    const state = emptyState()
    const add = (key: string, value: unknown) => applyItem(state, parseItem({ key, at, by: 'x', value }))
    add(scopedKey('project', 'acme/app'), { retention: { calls_days: 30 }, limits: { query_rows: 5 }, later: true })
    add(scopedKey('entity', 'acme'), { limits: { bytes_per_day: 7 } })
    add(scopedKey('mask', '*'), { version: 1, sets: ['@credentials'] })
    add(scopedKey('mask', 'acme/app'), { version: 3, rules: [{ id: 'mail', detect: 'email', action: 'hash' }] })
    add(scopedKey('secret', 'acme', 'KEY'), { version: 1, sealed: 'a' })
    add(scopedKey('secret', 'acme/app', 'KEY'), { version: 2, sealed: 'b', last4: 'wxyz' })
    add(itemKey('hold', 'h1'), { scope: 'acme/app', all: true, reason: 'court' })
    expect(state.projects.get('acme/app')).toEqual({
      retention: { calls_days: 30 },
      limits: { query_rows: 5 },
      later: true,
    })
    expect(state.entities.get('acme')?.limits?.bytes_per_day).toBe(7)
    expect(state.masks.get('*')).toEqual({
      version: 1,
      mode: 'on',
      sets: ['@credentials'],
      content: 'keep',
      objects: false,
      allow: [],
      rules: [],
    })
    expect(state.masks.get('acme/app')?.rules).toHaveLength(1)
    expect([state.secrets.get('acme')?.get('KEY')?.sealed, state.secrets.get('acme/app')?.get('KEY')?.sealed]).toEqual([
      'a',
      'b',
    ])
    expect(state.holds.get('h1')?.all).toBe(true)
    add(scopedKey('secret', 'acme', 'KEY'), null)
    add(scopedKey('project', 'acme/app'), null)
    expect([state.secrets.has('acme'), state.secrets.size, state.projects.size]).toEqual([false, 1, 0])
    for (const [key, value, line] of [
      ['project/a/b', { retention: { calls_days: 0 } }, 'project/a/b: retention.calls_days'],
      ['project/a/b', { limits: { query_rows: -1 } }, 'project/a/b: limits.query_rows'],
      ['mask/a', { version: 1, rules: [{ id: 'x', action: 'mask' }] }, 'mask/a: rules.0 needs one of detect'],
    ] as const)
      expect(() => parseItem({ key, at, by: 'x', value })).toThrow(line)
  })

  it('never lets a key count again once it is revoked, in whatever order it is rotated, renamed and revoked', () => {
    fc.assert(
      fc.property(fc.array(items, { maxLength: 30 }), fc.nat(), (all, where) => {
        const revoked = [...all.slice(0, where % 31), item(itemKey('key-revoked', 'k1'), {}), ...all.slice(where % 31)]
        expect(stateOf(revoked).revoked.has('k1')).toBe(true)
      }),
      { numRuns: runs(100, 2_000) },
    )
  })
})

describe('the file', () => {
  const user = (name: string, entity = 'e') => ({ key: itemKey('user', name), value: { kind: 'person', entity } })
  const open = (more = {}) => openFileDirectory({ dataDir, ...more })
  const usersOf = (one = open()) => [...one.state().users.keys()]

  it('keeps what several processes write, each behind the others', () => {
    const [one, two] = [open(), open()]
    one.appendNow([user('a')], 'x')
    two.appendNow([user('b')], 'x')
    one.appendNow([user('c'), { key: itemKey('user', 'a'), value: null }], 'x')
    two.look()
    for (const each of [one, two, open()]) expect(usersOf(each)).toEqual(['b', 'c'])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('forgets a line whose writer died within it, and nothing else', () => {
    const one = open()
    one.appendNow([user('a')], 'x')
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, `${whole}{"key":"user/b","at`)
    expect(usersOf()).toEqual(['a'])
    open().appendNow([user('c')], 'x')
    expect(readFileSync(path, 'utf8').split('\n').length).toBe(3)
    one.look()
    expect([usersOf(), usersOf(one), one.problem()]).toEqual([['a', 'c'], ['a', 'c'], undefined])
  })

  it('loses what was replaced when it is opened to serve, and whoever reads it follows', () => {
    const reader = open()
    const writer = open()
    writer.appendNow([user('secret', 'before'), user('secret', 'after'), user('gone')], 'x')
    writer.appendNow([{ key: itemKey('user', 'gone'), value: null }], 'x')
    reader.look()
    open({ rewrites: true })
    const text = readFileSync(path, 'utf8')
    expect([text.includes('before'), text.includes('gone'), text.includes('after')]).toEqual([false, false, true])
    writer.appendNow([user('b')], 'x')
    reader.look()
    for (const each of [reader, writer, open()]) expect(usersOf(each)).toEqual(['secret', 'b'])
  })

  it('loses what was replaced while it serves, too, within a day', async () => {
    const one = open({ rewrites: true, rewriteEveryMs: 20 })
    one.appendNow([user('a', 'before')], 'x')
    one.appendNow([user('a', 'after')], 'x')
    await expectSoon(() => readFileSync(path, 'utf8').includes('before')).toBe(false)
    await one.close()
    expect([usersOf(one), usersOf()]).toEqual([['a'], ['a']])
  })

  it('is rewritten while it is used once most of it is old', () => {
    const one = open({ rewriteBytes: 4096 })
    for (let n = 0; n < 100; n++) one.appendNow([user('a', `e${n}`)], 'x')
    expect(statSync(path).size).toBeLessThan(8192)
    expect(open().state().users.get('a')?.entity).toBe('e99')
  })

  it('refuses items that are too long or not of their kind, and writes nothing of them', () => {
    const one = open()
    expect(() => one.appendNow([user('a', 'e'.repeat(70_000))], 'x')).toThrow('user/a is longer than 65536 bytes')
    expect(() => one.appendNow([user('a'), { key: itemKey('grant', 'a', '*'), value: { role: 'king' } }], 'x')).toThrow(
      'grant/a/*: role Invalid',
    )
    expect(existsSync(path)).toBe(false)
  })
})

describe('keys', () => {
  let time = Date.parse(at)
  const now = () => time
  const open = (more = {}) => openKeys({ dataDir, configured: [], now, ...more })
  beforeEach(() => {
    time = Date.parse(at)
  })
  const hour = 3_600_000

  it('have one form, and a changed character is seen without a look-up', () => {
    expect(idIn('chk_0123456789ABabcdefghijklmnopqrstuvwxyzABCDEF3Sm09T')).toBe('0123456789AB')
    const { id, text } = newKeyText()
    expect(text).toMatch(/^chk_[0-9A-Za-z]{50}$/)
    expect(idIn(text)).toBe(id)
    for (let n = 4; n < text.length; n++) {
      const other = text[n] === 'a' ? 'b' : 'a'
      expect(idIn(text.slice(0, n) + other + text.slice(n + 1))).toBeNull()
    }
    for (const odd of [text.slice(0, -1), `${text}0`, `${text.slice(0, -1)}_`]) expect(idIn(odd)).toBeNull()
    expect([idIn('ch_other'), idIn('secret')]).toEqual([undefined, undefined])
  })

  it('end at their hour, and say so only to who has them', () => {
    const keys = open()
    const { text } = keys.create({ userId: 'u', role: 'reader', expiresAt: new Date(time + hour).toISOString() })
    expect(keys.find(text)?.endsMs).toBe(time + hour)
    expect([keys.ending(hour - 1), keys.ending(hour + 1)]).toEqual([0, 1])
    time += hour - 1
    expect(keys.find(text)?.userId).toBe('u')
    time += 1
    expect([keys.find(text), keys.refusal(text)]).toEqual([undefined, 'key_expired'])
    const guessed = newKeyText()
    expect(keys.refusal(guessed.text)).toBe('key_unknown')
    expect(keys.refusal(`${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`)).toBe('key_malformed')
  })

  it('rotate: both count for the overlap, the successor after it, and a revoked one never again', async () => {
    const keys = open()
    const first = keys.create({ userId: 'u', role: 'writer', grants: ['acme'], name: 'ci' })
    const second = await keys.rotate(first.id, 2)
    expect([keys.find(first.text), keys.find(second.text)].map((one) => one?.may('write', project))).toEqual([
      true,
      true,
    ])
    await expect(keys.rotate(first.id)).rejects.toThrow('was already rotated')
    await expect(keys.rotate(second.id, 169)).rejects.toThrow('0 to 168 more hours')
    time += 2 * hour
    expect([keys.find(first.text), keys.find(second.text)?.keyId]).toEqual([undefined, second.id])
    expect(keys.list()).toMatchObject([
      { id: first.id, name: 'ci' },
      { id: second.id, name: 'ci', userId: 'u' },
    ])
    await keys.revoke(second.id)
    expect([keys.find(second.text), keys.refusal(second.text)]).toEqual([undefined, 'key_revoked'])
    await expect(keys.rotate(second.id)).rejects.toThrow('is revoked')
    await expect(keys.rotate('nothing')).rejects.toThrow('not found')
  })

  it('do what their own actions and the live grants of their user both allow', () => {
    const directory = openFileDirectory({ dataDir, now })
    const keys = createKeys(directory, { configured: [], now })
    const { text } = keys.create({ userId: 'u', role: 'writer', grants: ['acme'] })
    const may = (...rights: ('read' | 'write' | 'delete')[]) =>
      rights.map((right) => keys.find(text)?.may(right, project))
    const same = keys.find(text)
    expect(may('read', 'write')).toEqual([true, true])
    const grant = (scope: string, role: string | null) =>
      directory.appendNow([{ key: itemKey('grant', 'u', scope), value: role && { role } }], 'x')
    grant('beta', 'reader')
    // Nothing of this key has changed, and shares are counted by it.
    expect(keys.find(text)).toBe(same)
    grant('acme', 'reader')
    expect(may('read', 'write', 'delete')).toEqual([true, false, false])
    grant('acme', null)
    expect(may('read')).toEqual([false])
    grant('acme/app', 'owner')
    expect([...may('delete'), keys.find(text)?.holds('owner')]).toEqual([true, false])
    grant('*', 'owner')
    expect([keys.find(text)?.may('write', 'beta/x' as ProjectId), keys.find(text)?.holds('metrics')]).toEqual([
      false,
      false,
    ])
    directory.appendNow([{ key: itemKey('user-off', 'u'), value: {} }], 'x')
    expect([keys.find(text), keys.findId(same?.keyId as string)]).toEqual([undefined, undefined])
  })

  it('follow the roles of their user and stop when it is switched off, but never those of the last owner', async () => {
    const keys = open()
    const { text } = keys.create({ userId: 'u', role: 'writer', grants: ['acme'] })
    const may = (right: 'read' | 'write') => keys.find(text)?.may(right, project)
    await keys.setGrant('u', 'acme', 'reader')
    expect([may('read'), may('write')]).toEqual([true, false])
    await keys.switchUser('u', true)
    expect([keys.find(text), keys.refusal(text)]).toEqual([undefined, 'key_revoked'])
    await keys.switchUser('u', false)
    await keys.setGrant('u', 'acme', null)
    expect([may('read'), may('write')]).toEqual([false, false])
    await expect(keys.setGrant('u', 'acme', null)).rejects.toThrow('u has no role on acme')
    for (const odd of ['', 'a/b/c', 'a b', '*/x', '/x'])
      await expect(keys.setGrant('u', odd, 'reader')).rejects.toThrow('is not *, an entity or <entity>/<project>')
    await expect(keys.switchUser('nobody', true)).rejects.toThrow('User nobody not found')

    await keys.setGrant('ann', '*', 'owner')
    await expect(keys.setGrant('ann', '*', 'admin')).rejects.toThrow('ann is the last owner of everything')
    await expect(keys.switchUser('ann', true)).rejects.toThrow('ann is the last owner of everything')
    await keys.setGrant('bob', '*', 'owner')
    await keys.switchUser('bob', true)
    await expect(keys.setGrant('ann', '*', null)).rejects.toThrow('ann is the last owner of everything')
    // One that only scrapes could give nothing back.
    keys.create({ userId: 'prometheus', role: 'owner', actions: ['metrics'] })
    await expect(keys.setGrant('ann', '*', null)).rejects.toThrow('ann is the last owner of everything')
    await keys.setGrant('prometheus', '*', null)
    await open({ configured: ['carl:key'] }).setGrant('ann', '*', null)
    expect(open().users()).toEqual([
      { id: 'u', kind: 'service', isOff: false, grants: [] },
      { id: 'ann', kind: 'person', isOff: false, grants: [] },
      { id: 'bob', kind: 'person', isOff: true, grants: [{ scope: '*', role: 'owner' }] },
      { id: 'prometheus', kind: 'service', isOff: false, grants: [] },
    ])
  })

  it('of one user with other roles leave each other as they are', () => {
    const keys = open()
    const reader = keys.create({ userId: 'u', role: 'reader', grants: ['acme'] }).text
    const sender = keys.create({ userId: 'u', role: 'ingest', grants: ['acme'] }).text
    const rights = ['read', 'ingest', 'write'] as const
    const of = (text: string) => rights.filter((right) => keys.find(text)?.may(right, project))
    expect([of(reader), of(sender)]).toEqual([['read'], ['ingest']])
  })

  it('are bound by the settings: longest life, and ids that are denied', async () => {
    const keys = open({ maxDays: 2 })
    const ends = (expiresAt?: string) =>
      keys.find(keys.create({ userId: 'u', role: 'reader', ...(expiresAt && { expiresAt }) }).text)?.endsMs
    expect([ends(), ends('2027-01-01T00:00:00Z')]).toEqual([time + 48 * hour, time + 48 * hour])
    const { id, text } = keys.create({ userId: 'u', role: 'reader' })
    expect(open().find(text)?.userId).toBe('u')
    // A successor of a key from before the setting is a new key, too.
    const endless = open().create({ userId: 'u', role: 'reader' })
    expect(keys.find((await keys.rotate(endless.id)).text)?.endsMs).toBe(time + 48 * hour)
    const denying = open({ denied: [id] })
    expect([denying.find(text), denying.findId(id), denying.refusal(text)]).toEqual([
      undefined,
      undefined,
      'key_revoked',
    ])
  })
})
