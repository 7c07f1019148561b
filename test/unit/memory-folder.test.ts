// Tests lie on the disk wherever the folder in memory is missing, small, or refuses to execute.
import { mkdtempSync, rmSync, type statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { memoryFolder } from '../fixtures/memory-folder.ts'

const dir = mkdtempSync(join(tmpdir(), 'memory-folder-'))
afterAll(() => rmSync(dir, { recursive: true }))
const gib = 2 ** 30
const free = (bytes: number) => (() => ({ bavail: bytes / 4096, bsize: 4096 })) as unknown as typeof statfsSync
const mountedWith = (options: string): string => {
  const file = join(dir, 'mounts')
  writeFileSync(file, `proc /proc proc rw 0 0\ntmpfs ${dir} tmpfs ${options} 0 0\n`)
  return file
}
const roomy = { dir, freeMemoryBytes: 20 * gib, space: free(10 * gib) }

it('the folder in memory is used where there is room', () => {
  expect(memoryFolder({ ...roomy, mounts: mountedWith('rw,nosuid') })).toBe(dir)
})

it.each([
  ['it is that of a container', { space: free(gib / 16) }, 'rw'],
  ['memory is short', { freeMemoryBytes: 15 * gib }, 'rw'],
  ['nothing in it is executed', {}, 'rw,nosuid,nodev,noexec'],
  ['there is none', { dir: join(dir, 'none') }, 'rw'],
  ['it is a folder of the disk', { mounts: '/proc/none' }, 'rw'],
])('the disk is used when %s', (_, where, options) => {
  expect(memoryFolder({ ...roomy, mounts: mountedWith(options), ...where })).toBeUndefined()
})
