// tier: deep compat
// `npm run demo` sends through real clients, ends by itself, and says clearly why it cannot begin.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChildServer, postLines, startChildServer } from '../fixtures/child-server.ts'
import { processEnv } from '../fixtures/process-env.ts'

const program = fileURLToPath(new URL('../../scripts/demo.ts', import.meta.url))

type Call = { op_name: string; inputs: unknown; output: unknown; summary: unknown }
type Ended = { code: number; stdout: string; stderr: string }

describe('demo', () => {
  let dir: string
  let server: ChildServer
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'callhouse-demo-'))
    server = await startChildServer(join(dir, 'data'))
  })
  afterAll(async () => {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  const demo = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [program, ...args],
        { env: { ...processEnv(), HOME: dir, ...env } },
        (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
    })
  const numberIn = (text: string, label: string) => Number(new RegExp(`^ *${label} +(\\d+)$`, 'm').exec(text)?.[1])

  it('sends, reads back and ends; a second run adds as much again', async () => {
    const first = await demo(['test-key', server.url])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    const sent =
      numberIn(first.stdout, 'sent through OpenTelemetry') +
      numberIn(first.stdout, 'sent through the Weave SDK') +
      numberIn(first.stdout, 'sent as evaluation runs')
    expect(sent).toBeGreaterThan(600)
    expect(numberIn(first.stdout, 'calls before')).toBe(0)
    expect(numberIn(first.stdout, 'calls')).toBe(sent)
    expect(numberIn(first.stdout, 'traces')).toBe(62)
    expect(numberIn(first.stdout, 'errors')).toBe(8)
    expect(numberIn(first.stdout, 'annotations of a queue')).toBe(48)
    expect(numberIn(first.stdout, 'threads')).toBe(8)
    expect(numberIn(first.stdout, 'turns')).toBe(40)
    expect(numberIn(first.stdout, 'feedback')).toBeGreaterThan(10)
    const second = await demo([], { CALLHOUSE_DEMO_KEY: 'test-key', CALLHOUSE_DEMO_URL: `${server.url}/` })
    expect(second.code).toBe(0)
    expect(numberIn(second.stdout, 'calls before')).toBe(sent)
    expect(numberIn(second.stdout, 'calls')).toBe(2 * sent)
    expect(numberIn(second.stdout, 'threads')).toBe(8)
  })

  it('sends whole calls with inputs, output, usage and parents', async () => {
    const sort_by = [{ field: 'started_at', direction: 'asc' }]
    const calls = await postLines<Call>(server.url, '/calls/stream_query', { project_id: 'acme/demo', sort_by })
    const [chat] = calls.filter((call) => call.op_name.includes('/op/chat'))
    expect(chat).toMatchObject({ ended_at: expect.any(String), parent_id: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(JSON.stringify(chat?.inputs)).toContain('Which orders of last week are late?')
    expect(JSON.stringify(chat?.output)).toContain('I will use search_orders.')
    expect(JSON.stringify(chat?.summary)).toContain('gpt-4o-mini')
  })

  it('says what is missing', async () => {
    expect(await demo([])).toMatchObject({ code: 2, stderr: expect.stringContaining('needs a key') })
    const unknown = await demo(['another-key', server.url])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('does not know this key') })
    const other = createServer((_, response) => response.writeHead(404).end())
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    expect(await demo(['test-key', url])).toMatchObject({ code: 2, stderr: expect.stringContaining('not Callhouse') })
    await new Promise((resolve) => other.close(resolve))
    expect(await demo(['test-key', url])).toMatchObject({ code: 2, stderr: expect.stringContaining('npm start') })
  })
})
