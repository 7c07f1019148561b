// Secrets in the directory: what opens them, and what never does.
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { parseItem } from '../../services/core/directory/items.ts'
import {
  openSecret,
  type StoredSecret,
  sealedAnew,
  secretChange,
  unopened,
} from '../../services/core/directory/secrets.ts'
import { applyItem, emptyState } from '../../services/core/directory/state.ts'
import { sealWith } from '../../services/core/process/master-key.ts'

const value = 'sk-secret-0123456789-end9'
const [master, next] = [randomBytes(32), randomBytes(32)]
const keys = { master, old: [] }

function filled() {
  const state = emptyState()
  const set = (scope: string, name: string, more: object = {}, by = master) => {
    const change = secretChange(state, { scope, name, value, ...more }, by)
    applyItem(state, parseItem({ ...change, at: '2026-01-01T00:00:00Z', by: 'ann' }))
    return state.secrets.get(scope)?.get(name) as StoredSecret
  }
  return { state, set }
}

it('a secret opens with its scope, name and version, and the key that sealed it, and with nothing else', () => {
  const { set } = filled()
  const stored = set('acme/app', 'KEY')
  expect(stored).toMatchObject({ version: 1, last4: 'end9' })
  expect(openSecret(keys, 'acme/app', 'KEY', stored)).toBe(value)
  expect(openSecret(keys, 'acme', 'KEY', stored)).toBeUndefined()
  expect(openSecret(keys, 'acme/app', 'OTHER', stored)).toBeUndefined()
  expect(openSecret(keys, 'acme/app', 'KEY', { ...stored, version: 2 })).toBeUndefined()
  const flipped = Buffer.from(stored.sealed, 'base64url')
  flipped[20] = (flipped[20] as number) ^ 1
  expect(openSecret(keys, 'acme/app', 'KEY', { ...stored, sealed: flipped.toString('base64url') })).toBeUndefined()
  expect(openSecret({ master: next, old: [] }, 'acme/app', 'KEY', stored)).toBeUndefined()
  expect(openSecret({ master: next, old: [master] }, 'acme/app', 'KEY', stored)).toBe(value)
})

it('the stored form holds nothing of a value but the end of a long one, and the same value never looks the same', () => {
  const { set } = filled()
  const [first, second] = [set('acme', 'A'), set('acme', 'A')]
  expect(second.version).toBe(2)
  expect(first.sealed).not.toBe(second.sealed)
  expect(JSON.stringify([first, second])).not.toContain(value.slice(0, 8))
  expect(set('acme', 'SHORT', { value: 'x'.repeat(19) }).last4).toBeUndefined()
})

it('all are sealed anew by the next master key, with their addresses, or none is', () => {
  const { state, set } = filled()
  set('acme', 'A', { origins: ['https://a.example'] })
  set('acme/app', 'B')
  for (const change of sealedAnew(state, { master: next, old: [master] }))
    applyItem(state, parseItem({ ...change, at: '2026-01-02T00:00:00Z', by: 'ann' }))
  expect(unopened(state.secrets, { master: next, old: [] })).toEqual([])
  expect(unopened(state.secrets, keys)).toEqual(['acme/A', 'acme/app/B'])
  expect(state.secrets.get('acme')?.get('A')).toMatchObject({ version: 2, origins: ['https://a.example'] })
  expect(() => sealedAnew(state, { master, old: [] })).toThrow('No key opens acme/A, acme/app/B')
})

it('every later version opens a sealed value', () => {
  const sealed = '7LwhFChB3aHxGiYydrramXoxY54muH9PiVBFOY4RA249C3U2Ajbp5qU'
  expect(sealWith(Buffer.alloc(32, 7), 'label', 'about').open(sealed)).toBe('a sealed text')
  expect(sealWith(Buffer.alloc(32, 7), 'label', 'other').open(sealed)).toBeUndefined()
})
