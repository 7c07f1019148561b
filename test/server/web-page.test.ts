// The page's own routes: which paths are its own, what it answers to whom, links of SDKs, its client, its projects.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declaredRoutes } from '../../scripts/paths.ts'
import { clientText, generatedFile } from '../../scripts/web-client.ts'
import { openKeys } from '../../services/core/http/keys.ts'
import { openAssets } from '../../services/web/assets.ts'
import { pagePathOf } from '../../services/web/sdk-links.ts'
import { buildPage } from '../fixtures/built-page.ts'
import { expectSoon } from '../fixtures/eventually.ts'
import { json, send } from '../fixtures/http-server.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'

beforeAll(() => buildPage())

const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

describe('the page', () => {
  let server: LiveServer
  let port: number
  beforeAll(async () => {
    server = await startLiveServer(['--trust-proxy', '127.0.0.1'])
    port = Number(new URL(server.now().url).port)
  })
  afterAll(() => server.remove())
  const get = (path: string, headers: Record<string, string> = {}) => send(port, path, { anonymous: true, headers })

  it('is one shell under its own paths, with headers that forbid everything from elsewhere', async () => {
    for (const path of [
      '/',
      '/sign-in',
      '/p/acme/demo',
      '/p/acme/demo/traces/1',
      '/settings',
      '/settings/keys',
      '/system',
    ]) {
      const { status, headers, text } = await get(path, navigation)
      expect([path, status]).toEqual([path, 200])
      expect(text).toContain('<!doctype html>')
      // Browsers ask for an icon anyway: without one in the shell, for one that there is not.
      expect(text).toMatch(/<link rel="icon"[^>]* href="data:image\/svg\+xml,/)
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['content-security-policy']).not.toContain('unsafe')
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    }
  })

  it('loads at once what a page needs beside the first file', async () => {
    const loaded = async (path: string): Promise<string[]> => {
      const { text } = await get(path, navigation)
      return [...text.matchAll(/<link rel="modulepreload" crossorigin href="\.\/assets\/([a-z-]+)-[\w-]{8}\.js"/g)].map(
        ([, name]) => name ?? '',
      )
    }
    for (const path of ['/p/acme/demo/traces/1', '/p/acme/demo/calls/1']) {
      expect([path, await loaded(path)]).toEqual([path, expect.arrayContaining(['lazy-route', 'use-trace'])])
      expect(await loaded(path)).not.toContain('lazy-routes')
    }
    expect(await loaded('/p/acme/demo/dashboard')).toEqual(expect.arrayContaining(['lazy-route', 'dashboards']))
    for (const path of ['/p/acme/demo/threads', '/settings/keys'])
      expect([path, await loaded(path)]).toEqual([path, expect.arrayContaining(['lazy-routes'])])
    for (const path of ['/', '/sign-in', '/p/acme/demo', '/p/acme/demo/calls'])
      expect([path, await loaded(path)]).toEqual([path, []])
  })

  it('shows browsers a page at unknown paths and answers programs as ever', async () => {
    const shown = await get('/nothing/here', navigation)
    expect([shown.status, shown.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await get('/nothing/here', headers)
      expect([answer.status, json(answer)]).toEqual([404, { detail: 'Not Found' }])
    }
    const posted = await send(port, '/nothing/here', { anonymous: true, headers: navigation, body: '{}' })
    expect(json(posted)).toEqual({ detail: 'Not Found' })
  })

  it('lies below the path that a trusted proxy names', async () => {
    const { headers } = await get('/acme/demo/r/call/abc', { 'x-forwarded-prefix': '/obs/callhouse' })
    expect(headers.location).toBe('/obs/callhouse/p/acme/demo/calls/abc')
  })

  it('is where links of SDKs lead, and nowhere else', async () => {
    const led = async (path: string) => (await get(path)).headers.location
    expect(await led('/acme/demo/r/call/0199')).toBe('/p/acme/demo/calls/0199')
    expect(await led('/acme/demo/weave')).toBe('/p/acme/demo/calls')
    expect(await led('/acme/demo/weave/ops/answer/versions/abc')).toBe('/p/acme/demo/objects/answer/abc?op=1')
    expect(await led('/acme/demo/weave/objects/prompt/versions/abc')).toBe('/p/acme/demo/objects/prompt/abc')
    expect(await led('/acme/demo/weave/objects/prompt')).toBe('/p/acme/demo/objects/prompt/latest')
    expect(await led('/acme/demo/weave/leaderboards/best')).toBe('/p/acme/demo/evaluations')
    for (const hostile of ['//evil.example', '\\\\evil.example', 'https:', '..', '%0d%0aX: y'])
      expect(pagePathOf(hostile, hostile, `ops/${hostile}/versions/${hostile}`)).toMatch(
        /^p\/[^/\\\s:]+\/[^/\\\s:]+\/(?:calls|objects\/[^\\\s:]+)$/,
      )
    expect((await get('/%2F%2Fevil.example/x/weave')).headers.location).toBe('/p/%2F%2Fevil.example/x/calls')
  })

  it('lists the projects that a key may read', async () => {
    const one = (project_id: string, name: string) =>
      server.send('/call/start', {
        start: {
          project_id,
          id: name.repeat(16),
          op_name: name,
          started_at: new Date().toISOString(),
          attributes: {},
          inputs: {},
        },
      })
    await one('acme/mine', 'a')
    await one('acme/mine', 'b')
    await one('other/theirs', 'c')
    const keys = openKeys({ dataDir: server.dataDir, configured: [] })
    const ask = async (role: 'read' | 'ingest', grants: string[], body: object = {}) => {
      const { text } = keys.create({ userId: 'ann', role, grants })
      const headers = { authorization: `Bearer ${text}` }
      const answer = await send(port, '/projects/query', { anonymous: true, headers, body: JSON.stringify(body) })
      return json(answer) as { projects: { project_id: string; calls: number; calls_24h: number }[]; total: number }
    }
    await expectSoon(async () => (await ask('read', ['acme'])).projects[0]?.calls, { withinMs: 60_000 }).toBe(2)
    expect(await ask('read', ['acme'])).toMatchObject({
      total: 1,
      projects: [{ project_id: 'acme/mine', calls: 2, calls_24h: 2, errors_24h: 0 }],
    })
    expect(await ask('ingest', ['acme'])).toEqual({ projects: [], total: 0 })
    expect(await ask('read', ['acme'], { search: 'theirs' })).toEqual({ projects: [], total: 0 })
    expect((await ask('read', ['acme', 'other'], { search: 'THEIRS' })).total).toBe(1)
    expect(
      (
        await ask('read', ['acme', 'other'], {
          limit: 1,
          offset: 1,
          sort_by: [{ field: 'project_id', direction: 'asc' }],
        })
      ).projects,
    ).toMatchObject([{ project_id: 'other/theirs' }])
  })
})

describe('paths of the page', () => {
  it('hide no operation', () => {
    const shapeOf = (path: string) => path.replaceAll(/\{\w+\*\}/g, '**').replaceAll(/\{\w+\}/g, '*')
    const routes = declaredRoutes()
    const own = routes.filter(({ name }) => name.startsWith('web.'))
    const taken = new Set(own.flatMap(({ path, aliases = [] }) => [path, ...aliases].map(shapeOf)))
    const clashes = routes
      .filter((route) => !own.includes(route))
      .flatMap(({ method, path, aliases = [] }) =>
        [path, ...aliases].filter((one) => method === 'GET' && taken.has(shapeOf(one))),
      )
    expect(taken.size).toBeGreaterThan(8)
    expect(clashes).toEqual([])
    const first = new Set(own.flatMap(({ path, aliases = [] }) => [path, ...aliases].map((one) => one.split('/')[1])))
    for (const word of ['p', 'assets', 'sign-in', 'settings', 'system'])
      expect(routes.filter((route) => !own.includes(route) && route.path.split('/')[1] === word)).toEqual([])
    expect([...first].sort()).toEqual(['', 'assets', 'p', 'settings', 'sign-in', 'system', '{entity}'])
  })

  it('are left out where the page is switched off', async () => {
    const server = await startLiveServer(['--page', 'false'])
    try {
      const port = Number(new URL(server.now().url).port)
      const answer = await send(port, '/', { anonymous: true, headers: navigation })
      expect([answer.status, json(answer)]).toEqual([404, { detail: 'Not Found' }])
    } finally {
      await server.remove()
    }
  })
})

describe('what is served', () => {
  const folder = mkdtempSync(join(tmpdir(), 'callhouse-dist-'))
  const dist = join(folder, 'dist')
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const build = (to: string, text: string) => {
    mkdirSync(join(to, 'assets'), { recursive: true })
    mkdirSync(join(to, '.vite'))
    writeFileSync(join(to, 'index.html'), `<head><base href="/"></head><p>${text}</p>`)
    const manifest = {
      'index.html': { file: 'assets/a.js', isEntry: true },
      'lazy.tsx': { file: 'assets/b.js', imports: ['index.html', '_shared.js'] },
      '_shared.js': { file: 'assets/c.js', imports: ['lazy.tsx'] },
    }
    writeFileSync(join(to, '.vite/manifest.json'), JSON.stringify(manifest))
    for (const suffix of ['', '.br', '.gz']) writeFileSync(join(to, 'assets', `a.js${suffix}`), text + suffix)
    writeFileSync(join(to, 'stamp.json'), JSON.stringify({ digest: text }))
  }

  it('waits for a build, tells of one that failed, and sees a new one', () => {
    let now = 0
    const assets = openAssets(dist, () => now)
    const shell = () => assets.shell('/').html.toString()
    expect(shell()).toContain('being built')
    writeFileSync(`${dist}.failed`, 'broken <at> line 1')
    expect(shell()).toContain('broken &#60;at&#62; line 1')
    build(`${dist}.new`, 'one')
    renameSync(`${dist}.new`, dist)
    expect(shell()).toContain('could not be built')
    now += 1_001
    expect(shell()).toBe('<head><base href="/"></head><p>one</p>')
    expect(assets.shell('/obs/').html.toString()).toContain('<base href="/obs/">')
    const lazy = assets.shell('/obs/', 'lazy.tsx')
    expect(lazy.html.toString()).toBe(
      '<head><base href="/obs/"><link rel="modulepreload" crossorigin href="./assets/b.js"><link rel="modulepreload" crossorigin href="./assets/c.js"></head><p>one</p>',
    )
    expect(lazy.etag).not.toBe(assets.shell('/obs/').etag)
    expect(assets.file('a.js', 'gzip, br')?.bytes.toString()).toBe('one.br')
    expect(assets.file('a.js', 'gzip, br;q=0')?.bytes.toString()).toBe('one.gz')
    expect(assets.file('a.js', undefined)?.bytes.toString()).toBe('one')
    expect(assets.file('../stamp.json', undefined)).toBeUndefined()
    rmSync(dist, { recursive: true })
    now += 1_001
    expect(shell()).toContain('one')
    build(dist, 'two')
    now += 1_001
    expect(shell()).toContain('two')
  })
})

it('the script of the list, its stylesheet, other chunks and all of the page stay within their sizes', () => {
  const folder = fileURLToPath(new URL('../../services/web/dist/', import.meta.url))
  const shell = readFileSync(`${folder}index.html`, 'utf8')
  const files = readdirSync(`${folder}assets`)
  const sizes = (end: string) =>
    files.filter((name) => name.endsWith(end)).map((name) => [name, statSync(`${folder}assets/${name}`).size] as const)
  for (const [name, size] of sizes('.js.br')) {
    const limit = shell.includes(name.slice(0, -3)) ? 150_000 : 140_000
    expect(size, name).toBeLessThanOrEqual(limit)
  }
  // One for all pages, whichever is opened first: they use each other's classes.
  expect(sizes('.css').map(([name]) => shell.includes(name))).toEqual([true])
  const css = sizes('.css.br').reduce((sum, [, size]) => sum + size, 0)
  const whole = ['.js', '.css'].flatMap(sizes).reduce((sum, [, size]) => sum + size, 0)
  expect(css).toBeLessThanOrEqual(20_000)
  expect(whole).toBeLessThanOrEqual(3 * 2 ** 20)
})

it('the page has a client that is made from the declared routes', async () => {
  expect(await clientText()).toBe(readFileSync(generatedFile, 'utf8'))
})
