// tier: deep compat
// The commands of docs/quick-start.md, run in their order as they stand, leave what the page says that a reader sees.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChildServer, postLines, startChildServer } from '../fixtures/child-server.ts'
import { processEnv } from '../fixtures/process-env.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/quick-start.md'), 'utf8')
const blocks = (language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, body = '']) => (of === language ? [body] : []))
const address = 'http://127.0.0.1:6400'
const project_id = 'acme/demo'

type Call = {
  id: string
  op_name: string
  exception: string | null
  summary: { weave?: { feedback?: { feedback_type: string }[] } }
}

describe('docs/quick-start.md', () => {
  let home: string
  let server: ChildServer
  let stdout: string
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'callhouse-quick-start-'))
    // The folder of a reader, in which the virtual environment is created.
    for (const name of ['docs', 'node_modules', 'package.json', 'package-lock.json', 'scripts', 'services', 'schemas'])
      symlinkSync(join(root, name), join(home, name))
    server = await startChildServer(join(home, 'data'))
    const [start, key, ...commands] = blocks('sh')
    expect(start).toBe('npm start\n')
    expect(key).toMatch(/^export KEY=chk_/)
    const script = ['export KEY=test-key', ...commands].join('\n').replaceAll(address, server.url)
    const env = { ...processEnv(), HOME: home, CALLHOUSE_DEMO_URL: server.url, URL_OF_CALLHOUSE: server.url }
    const ran = await promisify(execFile)('bash', ['-ec', script], { cwd: home, env, maxBuffer: 2 ** 26 })
    stdout = ran.stdout
  }, 600_000)
  afterAll(async () => {
    await server?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  const calls = (filter: object) =>
    postLines<Call>(server.url, '/calls/stream_query', { project_id, include_feedback: true, ...filter })
  const named = async (name: string) =>
    (await calls({})).filter(({ op_name }) => new RegExp(`(?:^|/op/)${name}(?::|$)`).test(op_name))

  it('the first program prints what the page shows', () => {
    const [shown = ''] = blocks('text')
    expect(shown).toContain('Atlantis')
    expect(stdout).toContain(shown)
  })

  it('one of its traces failed in the call that the page names, for the reason that it names', async () => {
    const failed = (await named('execute_tool_get_weather')).filter(({ exception }) => exception !== null)
    expect(failed.map(({ exception }) => exception?.split('\n')[0])).toEqual(["KeyError: 'Atlantis'"])
    expect(page).toContain("`KeyError: 'Atlantis'` in `execute_tool_get_weather`")
  })

  it('the call has the feedback', async () => {
    const given = (await named('answer')).flatMap(({ summary }) => summary.weave?.feedback ?? [])
    const types = new Set(given.map(({ feedback_type }) => feedback_type))
    expect(types).toContain('app.rating')
  })

  it('there are two runs to compare', async () => {
    const ids = stdout
      .trim()
      .split('\n')
      .slice(-1)
      .concat(/^[\w-]{36}$/m.exec(stdout)?.[0] ?? '')
    expect(new Set(ids).size).toBe(2)
    const runs = (await named('Evaluation.evaluate')).filter(({ id }) => ids.includes(id))
    expect(runs).toHaveLength(2)
  })
})
