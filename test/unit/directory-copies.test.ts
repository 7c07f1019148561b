// People who leave the directory, and copies that come back: a person who is erased, and a copy in a file.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../services/app/config.ts'
import { readDirectory, writeDirectory } from '../../services/cli/directory.ts'
import { openFileDirectory } from '../../services/core/directory/file.ts'
import { itemKey } from '../../services/core/directory/items.ts'
import { createKeys, openKeys } from '../../services/core/http/keys.ts'
import { eraseUser } from '../../services/core/http/user-changes.ts'
import type { ProjectId } from '../../services/core/ids.ts'

const project = 'acme/app' as ProjectId
let dataDir: string
let path: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'callhouse-directory-'))
  path = join(dataDir, 'directory.jsonl')
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

describe('a person', () => {
  it('is erased but for its id, by which nobody comes in again', async () => {
    const directory = openFileDirectory({ dataDir })
    const keys = createKeys(directory, { configured: [] })
    const { text } = keys.create({ userId: 'ann', role: 'writer', grants: ['acme'] })
    const known = { kind: 'person', entity: 'acme', name: 'Ann B', email: 'ann@acme.example' }
    directory.appendNow([{ key: itemKey('user', 'ann'), value: { ...known, identity: { iss: 'i', sub: 's' } } }], 'x')
    directory.appendNow(eraseUser(directory.state(), 'ann', true, Date.now()), 'x')
    expect([keys.find(text), directory.state().users.get('ann'), directory.state().grants.has('ann')]).toEqual([
      undefined,
      { kind: 'person', entity: 'acme' },
      false,
    ])
    openFileDirectory({ dataDir, rewrites: true })
    expect(readFileSync(path, 'utf8')).not.toContain('Ann B')
    await keys.switchUser('ann', false)
    expect(keys.find(text)).toBeUndefined()
    expect(() => eraseUser(directory.state(), 'nobody', true, 0)).toThrow('User nobody not found')
  })
})

describe('a copy of the directory', () => {
  it('holds all of it with who and when, and brings back neither keys that were revoked since nor what was broken', async () => {
    const configOf = (folder: string) => {
      const loaded = loadConfig({ env: {}, argv: ['--data-dir', folder] })
      if (!loaded.ok) throw new Error(loaded.lines.join())
      return loaded.config
    }
    const keys = openKeys({ dataDir, configured: [] })
    const [kept, ended] = [keys.create({ userId: 'u', role: 'reader' }), keys.create({ userId: 'u', role: 'reader' })]
    await keys.setGrant('u', 'acme', 'writer')
    const file = join(dataDir, 'copy.jsonl')
    expect(await writeDirectory(configOf(dataDir), file)).toBe(5)
    expect([statSync(file).mode & 0o777, readFileSync(file, 'utf8').includes(kept.text)]).toEqual([0o600, false])
    await expect(writeDirectory(configOf(dataDir), file)).rejects.toThrow('EEXIST')
    await keys.revoke(ended.id)
    await keys.setGrant('u', 'acme', 'reader')

    expect(await readDirectory(configOf(dataDir), file, true)).toBeUndefined()
    expect(await readDirectory(configOf(dataDir), file)).toBe(1)
    const again = openKeys({ dataDir, configured: [] })
    expect([again.find(ended.text), again.find(kept.text)?.may('write', project)]).toEqual([undefined, false])
    expect(again.users()[0]?.grants).toContainEqual({ scope: 'acme', role: 'writer' })

    const other = mkdtempSync(join(tmpdir(), 'callhouse-directory-'))
    try {
      expect(await readDirectory(configOf(other), file, true)).toBe(5)
      expect(openFileDirectory({ dataDir: other }).state().items).toEqual(
        new Map(
          readFileSync(file, 'utf8')
            .split('\n')
            .filter(Boolean)
            .map((line) => [JSON.parse(line).key, JSON.parse(line)]),
        ),
      )
      writeFileSync(file, `${readFileSync(file, 'utf8')}{"key":"grant/u/*","at":"","by":"","value":{"role":"king"}}\n`)
      await expect(readDirectory(configOf(other), file)).rejects.toThrow('line 6: grant/u/*: role Invalid')
    } finally {
      rmSync(other, { recursive: true, force: true })
    }
  })
})
