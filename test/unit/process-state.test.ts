// State that a test file leaves in its process is reported, by name; restored state is not.
import { createServer } from 'node:http'
import { expect, it, vi } from 'vitest'
import { changesLeftSince, changesSince, nothingStays, processState, staying } from '../fixtures/process-state.ts'

it('tells what is changed, and nothing once it is put back', async () => {
  const before = processState()
  expect(changesSince(before)).toEqual([])

  vi.stubEnv('CALLHOUSE_PORT', '1')
  vi.spyOn(performance, 'now')
  vi.spyOn(process.stdout, 'write')
  const timer = setInterval(() => {}, 1_000)
  const listener = () => {}
  process.on('SIGUSR2', listener)
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  expect(changesSince(before)).toEqual([
    'process.env.CALLHOUSE_PORT is another one',
    'process.stdout.write is changed',
    'performance.now is changed',
    "listeners of 'SIGUSR2': 1, and 0 at the start",
    'TCPServerWrap: 1, and 0 at the start',
    expect.stringMatching(/^Timeout: /),
  ])

  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  clearInterval(timer)
  process.off('SIGUSR2', listener)
  await new Promise((resolve) => server.close(resolve))
  expect(await changesLeftSince(before)).toEqual([])
})

it('does not tell what stays for all files, until it is over', async () => {
  const before = processState()
  const listener = () => {}
  const timers = [setInterval(() => {}, 1_000)]
  await staying(async () => process.on('SIGUSR2', listener), ['Timeout'])
  timers.push(setInterval(() => {}, 1_000))
  expect(changesSince(before)).toEqual([])
  for (const timer of timers) clearInterval(timer)
  nothingStays()
  expect(changesSince(before)).toEqual(["listeners of 'SIGUSR2': 1, and 0 at the start"])
  process.off('SIGUSR2', listener)
})
