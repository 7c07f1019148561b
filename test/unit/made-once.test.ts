// Folders that tests build once: one of many makes it, a part that was left behind is made anew, and one that fails
// lets the next.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type KernelLock, kernelLock } from '../../services/core/process/kernel-lock.ts'
import { temporaryFolder } from '../fixtures/log.ts'
import { madeOnce } from '../fixtures/made-once.ts'

/** A builder that goes on until it is told to, and what tells when so many others have found it at work. */
async function slowBuild(waiting: number) {
  const of = await temporaryFolder()
  const begun = Promise.withResolvers<void>()
  const may = Promise.withResolvers<void>()
  const found = Promise.withResolvers<void>()
  const openFiles = new Set<number>()
  const lock: KernelLock = (fd) => {
    const state = kernelLock(fd)
    if (state === 'held' && openFiles.add(fd).size === waiting) found.resolve()
    return state
  }
  const first = madeOnce(
    'tool-1',
    async (folder) => {
      writeFileSync(join(folder, 'half'), '')
      begun.resolve()
      await may.promise
      writeFileSync(join(folder, 'whole'), '')
    },
    { of },
  )
  await begun.promise
  return { of, lock, first, found: found.promise, end: may.resolve, fail: may.reject }
}

test('of many that want a folder one makes it, and the others have it when it is whole', async () => {
  const { of, lock, first, found, end } = await slowBuild(2)
  const again = () => madeOnce('tool-1', () => Promise.reject(new Error('made again')), { of, lock })
  const others = [again(), again()].map(async (one) => readdirSync(await one))
  await found
  end()
  expect(await first).toBe(join(of, 'tool-1'))
  expect(await Promise.all(others)).toEqual(Array(2).fill(['half', 'whole']))
  expect(await again()).toBe(join(of, 'tool-1'))
})

test('the folder of a killed maker is made anew at once, without the parts that are there', async () => {
  const of = await temporaryFolder()
  mkdirSync(join(of, 'tool-1'))
  writeFileSync(join(of, 'tool-1', 'part'), '')
  writeFileSync(join(of, 'tool-1.lock'), '')
  const folder = await madeOnce('tool-1', async (into) => writeFileSync(join(into, 'whole'), ''), { of })
  expect(readdirSync(folder)).toEqual(['whole'])
})

test('a build that fails says why, and one that waits for it builds', async () => {
  const { of, lock, first, found, fail } = await slowBuild(1)
  const next = madeOnce('tool-1', async (into) => writeFileSync(join(into, 'other'), ''), { of, lock })
  await found
  expect(existsSync(join(of, 'tool-1.ready'))).toBe(false)
  fail(new Error('no compiler'))
  await expect(first).rejects.toThrow('no compiler')
  expect(readdirSync(await next)).toEqual(['other'])
})
