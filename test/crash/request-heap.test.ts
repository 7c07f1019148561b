// tier: deep crash
// Bodies that are more than the heaps of request threads hold at one time: V8 would abort a process that gives way.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('bodies whose values fill the heap wait for one another, and nothing ends the process', async () => {
  const program = fileURLToPath(new URL('../fixtures/full-heap.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  expect(JSON.parse(stdout)).toEqual({ answers: Array(6).fill('400000'), refused: 503 })
})
