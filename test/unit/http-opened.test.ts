// Handlers read what their request has opened: anything else is an error of the handler, never an answer.
import { Agent, request as httpRequest } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createInvoke, type Invoke } from '../../services/core/http/invoke.ts'
import { type Route, type RouteContext, route } from '../../services/core/http/route.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { openedOnly } from '../../services/core/store/opened.ts'
import { param, sql, systemQuery } from '../../services/core/store/sql.ts'
import type { Query, Store } from '../../services/core/store/store.ts'
import { projectQuery } from '../../services/events/project-query.ts'
import { json, send, startServer, type TestServer } from '../fixtures/http-server.ts'

const shared = { right: 'read', summary: '', response: z.unknown(), body: { type: 'none' } } as const
const ofProject = (projectId: string): Query =>
  projectQuery('calls.of', projectId as ProjectId, (project) => sql`SELECT id ${project.from('calls')}`)
const ofNone = systemQuery('none.of', sql`SELECT ${param('String', 'x')}`)

/** Answers each read with the project that it was for, a little later. */
const store = openedOnly({
  async bytes({ projectId }: Query, format: string) {
    await turn()
    return Buffer.from(format === 'JSONEachRow' ? JSON.stringify(projectId ?? 'none') : `${projectId}\n`)
  },
} as unknown as Store)

const asked = ({ query }: RouteContext, name: string): string => query.get(name) ?? ''

/** Opens the project `open` unless that is empty, and reads the project `read`. */
function rowsOf(context: RouteContext): Promise<unknown[]> {
  if (asked(context, 'open')) context.project(asked(context, 'open'))
  return store.rows(asked(context, 'read') ? ofProject(asked(context, 'read')) : ofNone)
}

async function* linesOf(context: RouteContext): AsyncGenerator<Buffer> {
  // More than a connection takes at once, so that the writing waits for its reader.
  for (let n = 0; n < 20; n++) {
    const line = await store.bytes(ofProject(asked(context, 'read')), 'JSON')
    yield Buffer.concat([Buffer.alloc(100_000, ' '), line])
  }
}

const routes: Route[] = [
  route({ ...shared, name: 'one.read', method: 'GET', path: '/one', handle: async (c) => ({ json: await rowsOf(c) }) }),
  route({
    ...shared,
    withoutProject: true,
    name: 'none.read',
    method: 'GET',
    path: '/none',
    handle: async (context) => ({ json: await rowsOf(context) }),
  }),
  route({
    ...shared,
    response: null,
    name: 'many.read',
    method: 'GET',
    path: '/many',
    async handle(context) {
      if (asked(context, 'open')) context.project(asked(context, 'open'))
      return { lines: linesOf(context), contentType: 'application/jsonl' }
    },
  }),
  route({
    ...shared,
    response: null,
    name: 'bytes.read',
    method: 'GET',
    path: '/bytes',
    async handle(context) {
      if (asked(context, 'open')) context.project(asked(context, 'open'))
      return { bytes: linesOf(context), contentType: 'text/plain' }
    },
  }),
  route({
    ...shared,
    name: 'null.read',
    method: 'GET',
    path: '/null',
    async handle(context) {
      const opened = context.projectOrNull(asked(context, 'open'))
      return { json: opened && (await store.rows(ofProject(opened))) }
    },
  }),
  // A route that it invokes opens projects of its own, or none.
  route({
    ...shared,
    name: 'outer.read',
    method: 'GET',
    path: '/outer',
    async handle(context) {
      context.project('acme/outer')
      const as = { caller: context.caller, signal: context.signal }
      if (asked(context, 'inner')) await invoke.json('inner.open', { open: asked(context, 'inner') }, as)
      const found: unknown[] = []
      for await (const line of invoke.rows('inner.lines', { open: asked(context, 'lines') }, as)) found.push(line)
      return { json: [...found, ...(await rowsOf(context))] }
    },
  }),
  ...(['inner.open', 'inner.lines'] as const).map((name) =>
    route({
      ...shared,
      name,
      method: 'POST',
      path: `/${name}`,
      body: { type: 'json', schema: z.object({ open: z.string() }), check: 'schema' },
      async handle({ input, project }) {
        if (name === 'inner.open') return { json: project(input.open) }
        if (input.open) project(input.open)
        async function* lines(): AsyncGenerator<string> {
          yield `${JSON.stringify(await store.rows(ofProject('acme/inner')))}\n`
        }
        return { lines: lines(), contentType: 'application/jsonl' }
      },
    }),
  ),
]
const invoke: Invoke = createInvoke({ routes: () => routes, config: { maxBodyBytes: 2 ** 20, maxJsonDepth: 100 } })

describe('reads of the store', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(routes)
  })
  afterAll(() => server.stop())
  const get = (path: string) => send(server.port, path)
  const lastError = () =>
    server.lines.filter(({ msg }) => msg === 'unexpected error' || msg === 'answer broken off').at(-1)

  it('answer a handler that has opened the project', async () => {
    expect(json(await get('/one?open=acme/a&read=acme/a'))).toEqual(['acme/a'])
    expect(json(await get('/one?open=acme/a'))).toEqual(['none'])
    expect(json(await get('/none'))).toEqual(['none'])
    expect(json(await get('/null?open=acme/a'))).toEqual(['acme/a'])
  })

  it.each([
    ['that has opened no project', '/one?read=acme/a', 'one.read reads calls.of'],
    ['that has opened another project', '/one?open=acme/b&read=acme/a', 'one.read reads calls.of'],
    ['of what belongs to no project, when it has opened none', '/one', 'one.read reads none.of'],
    ['that works without projects', '/none?read=acme/a', 'none.read reads calls.of'],
    ['that streams before it has opened the project', '/many?read=acme/a', 'many.read reads calls.of'],
    ['that streams bytes of another project', '/bytes?open=acme/b&read=acme/a', 'bytes.read reads calls.of'],
    ['whose inner handler opened the project', '/outer?inner=acme/a&lines=acme/inner&read=acme/a', 'outer.read reads'],
    ['whose inner handler relies on it', '/outer?read=acme/outer', 'inner.lines reads calls.of'],
  ])('fail in a handler %s', async (_, path, message) => {
    const answer = await get(path)
    expect(answer.status).toBe(500)
    expect(json(answer)).toEqual({ reason: 'Internal server error' })
    expect(lastError()?.message).toMatch(message)
    // Names of projects are what callers sent.
    expect(String(lastError()?.message)).not.toContain('acme')
  })

  it('fail outside of any handler', async () => {
    await expect(store.rows(ofProject('acme/a'))).rejects.toThrow('calls.of is read by no handler')
  })

  it('answer a stream whose reader is slow, and requests beside it, each from its own project', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    const slow = (path: string) =>
      new Promise<string>((resolve, reject) => {
        const asking = httpRequest(
          { port: server.port, path, agent, headers: { authorization: `Bearer secret` } },
          async (answer) => {
            let text = ''
            for await (const chunk of answer) {
              text += chunk
              await turn()
            }
            resolve(text)
          },
        )
        asking.on('error', reject)
        asking.end()
      })
    const names = Array.from({ length: 12 }, (_, n) => `acme/p${n}`)
    const texts = await Promise.all(
      names.map((name, n) => slow(`/${n % 2 ? 'many' : 'bytes'}?open=${name}&read=${name}`)),
    )
    for (const [n, text] of texts.entries()) expect(new Set(text.trim().split(/\s+/))).toEqual(new Set([names[n]]))
    agent.destroy()
  })

  it('answer a handler and those that it invokes, each from what it has opened', async () => {
    expect(json(await get('/outer?inner=acme/a&lines=acme/inner&read=acme/outer'))).toEqual([
      ['acme/inner'],
      'acme/outer',
    ])
  })
})
