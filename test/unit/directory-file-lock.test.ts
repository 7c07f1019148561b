// A change of the directory's file: one process at a time, and what a process held that died is free.
// smoke: process
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withLock } from '../../services/core/directory/file-lock.ts'

let folder: string
let path: string
let done = 0
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'callhouse-lock-'))
  path = join(folder, 'lock')
  done = 0
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const refusal = 'Another command is changing the directory'

it('waits for another process, and not for one that died in the midst of a change', async () => {
  const change = () => withLock(path, () => done++)
  const lock = JSON.stringify(new URL('../../services/core/directory/file-lock.ts', import.meta.url).href)
  const holding = `import { writeSync } from 'node:fs'
    import { withLock } from ${lock}
    withLock(${JSON.stringify(path)}, () => {
      writeSync(1, 'working')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000)
    })`
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const child = spawn(process.execPath, ['--input-type=module', '-e', holding], { stdio: [...stdio] })
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data')
  expect(change).toThrow(refusal)
  child.kill('SIGKILL')
  await once(child, 'exit')
  change()
  change()
  expect(done).toBe(2)
})

it('where the kernel has no locks waits for another process, and some seconds for one that died', () => {
  const change = () =>
    withLock(
      path,
      () => done++,
      () => 'none',
    )
  writeFileSync(`${path}.held`, '')
  expect(change).toThrow(refusal)
  utimesSync(`${path}.held`, 1, 1)
  change()
  change()
  expect([done, existsSync(`${path}.held`)]).toEqual([2, false])
})
