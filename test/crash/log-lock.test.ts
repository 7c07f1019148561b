// One process per log folder: who holds it is told, dead holders are replaced, two starters never both win.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { takeLock } from '../../services/core/log/lock.ts'
import { openLog, temporaryFolder } from '../fixtures/log.ts'

/** A process that holds the lock of `dir` until it ends; resolves when it has it. */
async function holder(dir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./log-child.ts', import.meta.url)), dir, '0'])
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  for await (const line of createInterface({ input: child.stdout })) if (line === 'open') break
  return child
}

const lockFiles = async (dir: string): Promise<string[]> =>
  (await readdir(dir)).filter((name) => name.startsWith('lock'))

test('a second start says which process holds the folder, until that one is killed', async () => {
  const dir = await temporaryFolder()
  const child = await holder(dir)
  await expect(openLog(dir)).rejects.toThrow(`${dir} is in use by process ${child.pid} on ${hostname()} since`)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await openLog(dir)
  await expect(openLog(dir)).rejects.toThrow(`in use by process ${process.pid}`)
})

test('a closed log can be opened again, and lock files do not pile up', async () => {
  const dir = await temporaryFolder()
  for (let i = 0; i < 5; i++) await (await openLog(dir)).close()
  expect(await lockFiles(dir)).toHaveLength(1)
})

test('the same process number with another start time is another process', async () => {
  const dir = await temporaryFolder()
  await (await takeLock(dir)).release()
  const path = join(dir, (await lockFiles(dir))[0] as string)
  const content = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, JSON.stringify({ ...content, pid: process.pid }))
  await expect(takeLock(dir)).rejects.toThrow(/in use/)
  await writeFile(path, JSON.stringify({ ...content, pid: process.pid, startTicks: '1' }))
  await (await takeLock(dir)).release()
})

test('a holder from before the last boot is dead, one on another host only after its lock fell silent', async () => {
  const dir = await temporaryFolder()
  await (await takeLock(dir)).release()
  const write = async (changes: object): Promise<string> => {
    const path = join(dir, (await lockFiles(dir)).at(-1) as string)
    const content = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...content, pid: process.pid, ...changes }))
    return path
  }
  await write({ bootId: 'earlier' })
  await (await takeLock(dir)).release()
  const path = await write({ host: 'elsewhere', pid: 999_999_999 })
  await expect(takeLock(dir)).rejects.toThrow(`on elsewhere since`)
  await expect(takeLock(dir)).rejects.toThrow('its lock is dead 60 s after its last sign of life')
  const silentSince = new Date(Date.now() - 61_000)
  await utimes(path, silentSince, silentSince)
  await (await takeLock(dir)).release()
})

test('a lock file that a power failure left without content does not hold', async () => {
  const dir = await temporaryFolder()
  await (await takeLock(dir)).release()
  await writeFile(join(dir, (await lockFiles(dir))[0] as string), '\0'.repeat(20))
  await (await takeLock(dir)).release()
})

test('of many starters at one moment one wins, on a fresh folder, a released and a dead lock', async () => {
  const dir = await temporaryFolder()
  for (let round = 0; round < 30; round++) {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(dir)))
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(won).toHaveLength(1)
    if (round % 2 === 0) await won[0]?.release()
    else {
      const path = join(dir, (await lockFiles(dir))[0] as string)
      await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), startTicks: '1' }))
    }
  }
  expect(await lockFiles(dir)).toHaveLength(1)
})
