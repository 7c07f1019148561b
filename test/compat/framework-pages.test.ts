// tier: deep compat
// The programs of docs/frameworks, run as they stand with the packages that they name and models on loopback: each
// leaves the trace that its page shows, with its user, thread and metadata.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FakeProvider } from '../fixtures/fake-provider.ts'
import {
  blocksOf,
  type FrameworkPage,
  frameworkPages,
  packagesOf,
  type TracedCall,
  tracePaths,
  treeOf,
} from '../fixtures/framework-pages.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { madeOnce } from '../fixtures/made-once.ts'
import { pythonEnvironment } from '../fixtures/python.ts'
import { startWeatherModels } from '../fixtures/weather-models.ts'

const run = promisify(execFile)
const installMs = 600_000
const home = mkdtempSync(join(tmpdir(), 'callhouse-frameworks-'))
let server: LiveServer
let models: FakeProvider
beforeAll(async () => {
  server = await startLiveServer()
  models = await startWeatherModels()
})
afterAll(async () => {
  await server?.remove()
  await models?.close()
  rmSync(home, { recursive: true, force: true })
})

const folderName = (page: FrameworkPage): string =>
  `framework-${page.name}-${createHash('sha256').update(page.install).digest('hex').slice(0, 12)}`

/** The interpreter and the path of the program, with what it needs installed. */
async function ready(page: FrameworkPage): Promise<[string, string]> {
  if (page.program.endsWith('.py')) {
    const { python, install } = pythonEnvironment(folderName(page), packagesOf(page))
    await install()
    return [python, page.program]
  }
  const folder = await madeOnce(folderName(page), async (into) => {
    writeFileSync(join(into, 'package.json'), '{"private":true,"type":"module"}')
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packagesOf(page)], { cwd: into })
  })
  // Node looks for packages beside the program.
  const program = join(folder, basename(page.program))
  copyFileSync(page.program, program)
  return [process.execPath, program]
}

/** The variables that a reader exports, and those by which the clients find models elsewhere. */
function variables(headers: string, endpoint = server.now().url): Record<string, string> {
  const root = models.url.replace(/\/v1$/, '')
  return {
    PATH: process.env.PATH ?? '',
    HOME: home,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: headers,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: models.url,
    OPENAI_API_BASE: models.url,
    ANTHROPIC_API_KEY: 'sk-test',
    ANTHROPIC_BASE_URL: root,
    // They ask other servers when they start.
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    CREWAI_DISABLE_TELEMETRY: 'true',
  }
}

type Call = TracedCall & { attributes: { otel_span?: { attributes?: { metadata?: unknown } } } }
/** Pydantic AI has no field for the end user. */
const withoutUser = ['pydantic-ai']

describe.each(frameworkPages())('docs/frameworks/$name.md', (page) => {
  it(
    'the program leaves the trace of the page',
    async () => {
      const [interpreter, program] = await ready(page)
      const project_id = `frameworks/${page.name}`
      await run(interpreter, [program], { env: variables(`authorization=Bearer%20test-key,project_id=${project_id}`) })
      const sort_by = [{ field: 'started_at', direction: 'asc' }]
      const calls = await server.list<Call>('/calls/stream_query', { project_id, sort_by })
      const [shown = ''] = blocksOf(page, 'What you see', 'text')
      expect(tracePaths(treeOf(calls))).toEqual(tracePaths(shown))
      for (const root of calls.filter(({ parent_id }) => parent_id === null)) {
        expect(root.thread_id).toMatch(/^(?:session|conversation)-1$/)
        expect(root.attributes.otel_span?.attributes?.metadata).toMatchObject({ tenant: 'blue' })
        if (!withoutUser.includes(page.name)) expect(root.attributes.end_user).toBe('ada')
      }
    },
    installMs,
  )
})

describe('docs/frameworks/mistakes.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/frameworks/mistakes.md'), 'utf8')
  const right = 'authorization=Bearer%20test-key,project_id=frameworks/mistakes'
  const mistakes: Record<string, [message: string, headers: string, path?: string]> = {
    'a wrong key': ['code: 401, reason: Unauthorized', right.replace('test-key', 'wrong')],
    'no project': ['code: 400, reason: Bad Request', 'authorization=Bearer%20test-key'],
    'a path in the endpoint': ['code: 404, reason: Not Found', right, '/v1/traces'],
  }
  it.each(Object.entries(mistakes))(
    '%s is told by the message of the page',
    async (_, [message, headers, path = '']) => {
      const page = frameworkPages().find(({ name }) => name === 'otlp-python') as FrameworkPage
      const [interpreter, program] = await ready(page)
      const env = variables(headers, `${server.now().url}${path}`)
      const { stderr } = await run(interpreter, [program], { env })
      expect(stderr).toContain(message)
      expect(text).toContain(message)
    },
    installMs,
  )
})
