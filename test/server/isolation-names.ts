// Names of projects that nearly match: each is refused, or is exactly the project that it spells.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eachOf, post, type Sent, upload } from '../fixtures/asker.ts'
import { spansOf } from '../fixtures/filled-project.ts'
import type { IsolationWorld } from '../fixtures/isolation-world.ts'
import { runs } from '../fixtures/runs.ts'
import { type Example, examples, requestTo } from './route-examples.ts'

const caller = 'a key that writes'

/** As bytes of UTF-8; null when they are none of a header, or would lose the blanks around them. */
function headerOf(project: string, make: (value: string) => Sent): Sent | null {
  const isSendable = project.isWellFormed() && project === project.trim() && !/\p{Cc}/u.test(project)
  return isSendable ? make(Buffer.from(project).toString('latin1')) : null
}

const at = '2026-03-05T12:00:00Z'

/** The ways in which a request names its project; null when a name cannot be sent in this way. */
const channels: Record<string, (project: string) => Sent | null> = {
  'a body': (project_id) => post('/calls/query_stats', { project_id }),
  'a hot body': (project_id) =>
    post('/call/end', { end: { project_id, id: '0'.repeat(16), ended_at: at, summary: {} } }),
  'a batch': (project_id) => ({
    ...post('/call/upsert_batch', {
      batch: [{ mode: 'end', req: { end: { project_id, id: '0'.repeat(16), ended_at: at, summary: {} } } }],
    }),
  }),
  'a query string': (project) =>
    project.isWellFormed() ? { method: 'GET', path: `/tags?project_id=${encodeURIComponent(project)}` } : null,
  'a path': (project) => {
    const [entity, name, ...more] = project.split('/')
    // Clients take such parts out of an address.
    const isLost = [entity, name].some((part) => !part || /^\.{1,2}$/.test(part))
    if (isLost || more.length > 0 || !project.isWellFormed()) return null
    return {
      method: 'GET',
      path: `/v2/${encodeURIComponent(entity as string)}/${encodeURIComponent(name as string)}/ops`,
    }
  },
  'a path with everything encoded': (project) => {
    if (!project.isWellFormed()) return null
    const encoded = [...Buffer.from(project)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    return { method: 'GET', path: `/v2/${encoded.replace(/%2f/, '/')}/ops` }
  },
  'a header': (project) =>
    headerOf(project, (value) => ({
      method: 'GET',
      path: '/inference/v1/models',
      headers: { 'openai-project': value },
    })),
  'a header of spans': (project) =>
    headerOf(project, (project_id) => ({
      ...post('/otel/v1/traces', spansOf('x', 'f'.repeat(32), 'x')),
      headers: { project_id, 'content-type': 'application/json' },
    })),
  'a form': (project_id) => ({ method: 'POST', path: '/file/create', ...upload({ project_id }, 'x') }),
  'a ref': (project) => post('/refs/read_batch', { refs: [`weave:///${project}/object/x:${'a'.repeat(43)}`] }),
}

const insertions = [
  '\u0000',
  ' ',
  '\t',
  '\n',
  '\r',
  '.',
  '..',
  '/',
  '//',
  '/./',
  '/../',
  '\\',
  '%2F',
  '%2f',
  '%00',
  '%252F',
  ';',
  '?',
  '#',
  '*',
  ':',
  '&',
  '=',
  '+',
  '"',
  "'",
  '`',
  '{',
  '}',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u00ad',
  '\u0301',
  '\u200b',
  '\u202e',
  '\u2044',
  '\u2215',
  '\u2028',
  '\uff0f',
  '\ufeff',
  '\ufffd',
  '\ud800',
  '\udfff',
  '\u{1f600}',
  'x'.repeat(600),
  'x'.repeat(5_000),
]
const lookalikes: Record<string, string> = {
  a: '\u0430',
  e: '\u0435',
  p: '\u0440',
  l: '\u217c',
  h: '\u04bb',
  b: '\u1d47',
}

const changes: fc.Arbitrary<(name: string) => string> = fc.oneof(
  fc.tuple(fc.nat(10), fc.constantFrom(...insertions)).map(([at, text]) => (name: string) => {
    return name.slice(0, at) + text + name.slice(at)
  }),
  fc
    .nat(10)
    .map((at) => (name: string) => name.slice(0, at) + name.slice(at, at + 1).toUpperCase() + name.slice(at + 1)),
  fc.nat(10).map((at) => (name: string) => {
    const letter = name.charAt(at)
    return name.slice(0, at) + (lookalikes[letter] ?? letter) + name.slice(at + 1)
  }),
  fc.nat(10).map((at) => (name: string) => name.slice(0, at) + name.slice(at + 1)),
  fc.constantFrom(
    (name: string) =>
      name.replace(/[a-z]/g, (letter) => String.fromCodePoint((letter.codePointAt(0) as number) + 0xfee0)),
    (name: string) => `${name}/../../alpha/app`,
    (name: string) => `alpha/../${name}`,
    (name: string) => `./${name}`,
    (name: string) => `${name}/`,
    (name: string) => `/${name}`,
    // Half of a pair has no form in an address.
    (name: string) => encodeURIComponent(name.toWellFormed()),
    (name: string) => `\u00e9${name}`,
    (name: string) => `e\u0301${name}`,
    (name: string) => `\u212b${name}`,
    (name: string) => `../${name}`,
    (name: string) => name.replace('/', '/./'),
    (name: string) => name.replace(/\/.*/, '/..'),
  ),
)

/** Names of both projects with up to three changes, which may leave them as they are. */
const names = fc
  .tuple(fc.constantFrom('alpha/app', 'beta/app'), fc.array(changes, { minLength: 1, maxLength: 3 }))
  .map(([name, some]) => some.reduce((changed: string, change) => change(changed), name))

/** Names that everybody would call one. */
const isPlain = (name: string): boolean => /^[A-Za-z0-9_-]+\/[A-Za-z0-9_-]+$/.test(name) && name.length < 100

/** Refs lead to nothing; a path that lacks one of its segments is none, or one of another method. */
function expectedStatuses(way: string, isOwn: boolean): number[] {
  if (way === 'a ref') return isOwn ? [404] : [400, 404]
  if (isOwn) return [200]
  return way.startsWith('a path') ? [400, 403, 404, 405] : [400, 403]
}

export function nameTests(world: () => IsolationWorld): void {
  it('a key of one project opens that project only, however a request spells its name', async () => {
    const { ask, own } = world()
    const ways = Object.entries(channels)
    const property = fc.asyncProperty(names, async (name) => {
      const wrong = await Promise.all(
        ways.map(async ([way, make]) => {
          const sent = make(name)
          if (sent === null) return []
          const { status } = await ask(caller, sent)
          return expectedStatuses(way, name === own.project).includes(status) ? [] : [`${way}: ${status}`]
        }),
      )
      expect(wrong.flat()).toEqual([])
    })
    const known: [string][] = [['alpha/app'], ['beta/app'], ['alpha/App'], ['alpha/app\u0000'], ['alpha/\ud800']]
    await fc.assert(property, { numRuns: runs(100, 1_000), examples: known })
  })

  it('a name is refused or means exactly one project, for a key that opens all of them', async () => {
    const { operator, own, foreign } = world()
    const queuesOf = async (project_id: string): Promise<{ name: string; project_id: string }[]> => {
      const { text } = await operator.ask(post('/annotation_queues/query', { project_id }))
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    }
    let made = 0
    const before = await Promise.all([own, foreign].map(({ project }) => queuesOf(project)))
    const property = fc.asyncProperty(names, async (project_id) => {
      if (project_id === own.project || project_id === foreign.project) return
      const name = `queue ${made++}`
      const answer = await operator.ask(post('/annotation_queues', { project_id, name, scorer_refs: [] }))
      expect(isPlain(project_id) ? [200] : [200, 400]).toContain(answer.status)
      if (answer.status === 400) return
      const { id } = JSON.parse(answer.text) as { id: string }
      const found = (await queuesOf(project_id)).filter((queue) => queue.name === name)
      expect(found).toMatchObject([{ name, project_id }])
      const path = `/annotation_queues/${id}?project_id=${encodeURIComponent(project_id)}`
      expect((await operator.ask({ method: 'GET', path })).status).toBe(200)
      const spans = (channels['a header of spans'] as (name: string) => Sent | null)(project_id)
      if (spans === null) return
      await operator.json(spans)
      const stored = post('/calls/query_stats', { project_id, filter: { trace_ids: ['f'.repeat(32)] } })
      expect(await operator.json(stored)).toMatchObject({ count: 1 })
    })
    const known: [string][] = [['alpha/\u00e9'], ['alpha/\ud800'], ['alpha/\ufffd'], ['alpha/\u0000'], ['alpha/..']]
    await fc.assert(property, { numRuns: runs(15, 100), examples: known })
    expect(await Promise.all([own, foreign].map(({ project }) => queuesOf(project)))).toEqual(before)
  })

  it('the project that is checked is the one that is read or written, when a body names several', async () => {
    const { ask, own, foreign, server } = world()
    const text = JSON.stringify(own.project)
    const others = [
      (one: string) => `"project_id":${text},"project_id":${JSON.stringify(foreign.project)}${one}`,
      (one: string) => `"project_id":${JSON.stringify(foreign.project)},"project_id":${text}${one}`,
      (one: string) => `"project\\u005fid":${JSON.stringify(foreign.project)},"project_id":${text}${one}`,
      (one: string) => `"project_id":${text},"project\\u005fid":${JSON.stringify(foreign.project)}${one}`,
    ]
    const cases = server.now().http.routes.flatMap((route, index) => {
      const sent = requestTo(route, route.path, (examples[route.name] as Example)(own, 10_000 + index), own.project)
      if (sent.body === undefined || Buffer.isBuffer(sent.body) || route.right === 'admin') return []
      const body = JSON.stringify(sent.body)
      if (!body.includes(`"project_id":${text}`)) return []
      return others.map((other) => ({ ...sent, body: Buffer.from(body.replaceAll(`"project_id":${text}`, other(''))) }))
    })
    expect(cases.length).toBeGreaterThan(200)
    const wrong: string[] = []
    await eachOf(cases, 8, async (sent) => {
      const { status } = await ask(caller, sent)
      if (![200, 400, 403, 404, 422, 501].includes(status)) wrong.push(`${sent.path} ${sent.body}: ${status}`)
    })
    expect(wrong).toEqual([])
  })
}
