// Checks docker compose: its gateway sends each route to a role that serves it, its settings, metrics and files exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { declaredRoutes } from '../../scripts/paths.ts'
import { loadConfig, settings } from '../../services/app/config.ts'
import { basicAuth } from '../fixtures/child-server.ts'
import { parseExposition } from '../fixtures/exposition.ts'
import { gatewayRules, roleOfPath } from '../fixtures/gateway.ts'
import { startLiveServer } from '../fixtures/live-server.ts'

const root = new URL('../../', import.meta.url)
const text = (path: string) => readFileSync(new URL(path, root), 'utf8')
const operatorPages = () =>
  readdirSync(new URL('docs/operate', root))
    .map((page) => text(`docs/operate/${page}`))
    .join('\n')

it('the gateway sends every route to a role that serves it', () => {
  expect(gatewayRules.length).toBeGreaterThan(5)
  const lost: string[] = []
  const names = (role: 'ingest' | 'query') => new Set(declaredRoutes(role).map(({ name }) => name))
  const served: Record<string, Set<string>> = { ingest: names('ingest'), query: names('query') }
  for (const route of declaredRoutes('serve'))
    for (const template of [route.path, ...(route.aliases ?? [])]) {
      const path = template.replaceAll(/\{\w+\*?\}/g, 'x')
      for (const uri of [path, `/traces${path}`]) {
        if (!served[roleOfPath(uri)]?.has(route.name)) lost.push(`${route.method} ${uri} -> ${roleOfPath(uri)}`)
      }
    }
  expect(lost).toEqual([])
})

it('the gateway publishes the ports of OTLP, and sends them to the role that takes it', () => {
  const gateway = text('docker-compose.yml').split('\n  ingest:')[0] ?? ''
  const published = [...gateway.matchAll(/"127\.0\.0\.1:(\d+):\1"/g)].map(([, port]) => Number(port))
  const listening = [...text('deploy/gateway.conf').matchAll(/^ {4}listen (\d+)(?: http2)?;$/gm)].map(([, port]) =>
    Number(port),
  )
  const passed = [...text('deploy/gateway.conf').matchAll(/_pass (?:http|grpc):\/\/\$ingest:(\d+);/g)].map(([, port]) =>
    Number(port),
  )
  const exposed = text('Dockerfile')
    .match(/^EXPOSE (.+)$/m)?.[1]
    ?.split(' ')
    .map(Number)
  const loaded = loadConfig({ env: {}, argv: [] })
  if (!loaded.ok) throw new Error(loaded.lines.join())
  const { port, otlpGrpcPort, otlpHttpPort } = loaded.config
  const all = [port, otlpGrpcPort, otlpHttpPort].sort()
  expect({ published: published.sort(), listening: listening.sort(), exposed: exposed?.sort() }).toEqual({
    published: all,
    listening: all,
    exposed: all,
  })
  expect(passed.sort()).toEqual([otlpGrpcPort, otlpHttpPort])
  // Else nginx drops the header that names the project.
  expect(text('deploy/gateway.conf').match(/^ {4}underscores_in_headers on;$/gm)).toHaveLength(all.length)
})

it('docker compose names settings that exist', () => {
  const known = new Set(settings.map(({ env }) => env))
  const named = [...text('docker-compose.yml').matchAll(/^ +(CALLHOUSE_\w+):/gm)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})

it('docker compose mounts files that exist', () => {
  const mounted = [...text('docker-compose.yml').matchAll(/(\.\/deploy\/[^:"]+):/g)].map(([, path = '']) => path)
  expect(mounted.length).toBeGreaterThan(5)
  expect(mounted.filter((path) => !existsSync(new URL(path, root)))).toEqual([])
})

it('the settings of the ClickHouse server are read as XML', () => {
  for (const path of ['deploy/clickhouse.xml', 'deploy/clickhouse-backups.xml']) {
    const comments = [...text(path).matchAll(/<!--([\s\S]*?)-->/g)].map(([, inside = '']) => inside)
    expect(comments.length).toBeGreaterThan(0)
    // Two dashes end a comment too early for a parser.
    expect(comments.filter((inside) => inside.includes('--'))).toEqual([])
    const open: string[] = []
    for (const [, end, name = '', alone] of text(path)
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
      if (end) expect(open.pop()).toBe(name)
      else if (!alone) open.push(name)
    }
    expect(open).toEqual([])
  }
})

it('the operator manual names settings that exist, with a line for every alert', () => {
  const manual = operatorPages()
  // Read by docker compose, not by a process.
  const known = new Set([...settings.map(({ env }) => env), 'CALLHOUSE_METRICS_KEY'])
  const named = [...new Set(manual.match(/\bCALLHOUSE_[A-Z_]+\b/g))]
  expect(named.length).toBeGreaterThan(15)
  // A secret may stand in a file that the variable names with _FILE behind it.
  const isKnown = (name: string) =>
    known.has(name) || known.has(name.replace(/_FILE$/, '')) || /^CALLHOUSE_SECRET_(\w+_FILE)?$/.test(name)
  expect(named.filter((name) => !isKnown(name))).toEqual([])
  const alerts = [...text('deploy/alerts.yml').matchAll(/alert: Callhouse(\w+)/g)].map(([, name = '']) => name)
  const cells = manual.split('\n').flatMap(
    (line) =>
      line
        .split('|')[1]
        ?.split(',')
        .map((cell) => cell.trim()) ?? [],
  )
  expect(alerts.length).toBeGreaterThan(10)
  expect(alerts.filter((name) => !cells.includes(name))).toEqual([])
})

/** Names of metrics in an expression of Prometheus, and the labels that it groups by. */
function namesIn(expression: string): { metrics: string[]; groups: string[] } {
  const bare = expression.replaceAll(/"[^"]*"/g, '').replaceAll(/\{[^}]*\}|\[[^\]]*\]/g, '')
  const groups = [...bare.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/[\s,]+/))
  const rest = bare.replaceAll(/\bby\s*\([^)]*\)/g, '')
  const metrics = [...rest.matchAll(/[a-zA-Z_:][\w:]*\b(?!\s*\()/g)].map(([name]) => name)
  return { metrics: metrics.filter((name) => !/^(and|or|unless|bool)$/.test(name)), groups }
}

describe('metrics that are looked at', () => {
  type Panel = { type: string; gridPos: { x: number; y: number; w: number }; targets?: { expr: string }[] }
  const board = JSON.parse(text('deploy/grafana/callhouse.json')) as { panels: Panel[] }
  const onBoard = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const alerts = [...text('deploy/alerts.yml').matchAll(/^ +expr: (.+)$/gm)].map(([, expr = '']) => expr)
  let served: ReturnType<typeof parseExposition>
  let labels: Set<string>

  beforeAll(async () => {
    const server = await startLiveServer([])
    try {
      const { url } = server.now()
      // Some series begin with the first write and read.
      const body = JSON.stringify({ project_id: 'a/b' })
      const headers = { authorization: basicAuth(), 'content-type': 'application/json' }
      await fetch(`${url}/calls/query_stats`, { method: 'POST', headers, body })
      const exposed = await (await fetch(`${url}/metrics`, { headers })).text()
      served = parseExposition(exposed)
      labels = new Set([...exposed.matchAll(/[{,](\w+)="/g)].map(([, name = '']) => name))
    } finally {
      await server.remove()
    }
  })

  it('takes names out of expressions', () => {
    const found = namesIn('topk(5, sum by (le, x) (rate(a_b{c=~"d(e)"}[5m])) / on_f) > 0.5 or max(g)')
    expect(found).toEqual({ metrics: ['a_b', 'on_f', 'g'], groups: ['le', 'x'] })
  })

  it('are exposed by the server', () => {
    expect(onBoard.length).toBeGreaterThan(40)
    expect(alerts.length).toBeGreaterThan(10)
    // Prometheus' own
    const known = new Set([...served.names, 'up'])
    const unknown = [...onBoard, ...alerts].flatMap((expr) => {
      const { metrics } = namesIn(expr)
      return metrics.length === 0 ? [`nothing in ${expr}`] : metrics.filter((name) => !known.has(name))
    })
    expect(unknown).toEqual([])
  })

  it('are named in the manual as they are', () => {
    const named = [...new Set(operatorPages().match(/\bcallhouse_[a-z]+_[a-z_]+\b/g))]
    const tables = /^callhouse_rebuild/
    // Exposed only where several machines share a database.
    const shared = text('services/core/store/follow-clock.ts')
    const isKnown = (name: string) => served.names.has(name) || tables.test(name) || shared.includes(`'${name}'`)
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !isKnown(name))).toEqual([])
  })

  it('are explained in the manual, each of them', () => {
    const explained = new Set(text('docs/operate/metrics.md').match(/(?<=`)callhouse_[a-z_]+(?=`)/g))
    const series = /_(bucket|sum|count)$/
    const own = [...served.names].filter((name) => name.startsWith('callhouse_') && !series.test(name))
    expect(own.length).toBeGreaterThan(30)
    expect(own.filter((name) => !explained.has(name))).toEqual([])
  })

  it('are grouped by labels that series have', () => {
    // Added by Prometheus, or on series that only faults make.
    for (const name of ['instance', 'kind', 'policy', 'code']) labels.add(name)
    const groups = [...onBoard, ...alerts].flatMap((expr) => namesIn(expr).groups)
    expect(groups.filter((name) => !labels.has(name))).toEqual([])
  })

  it('are shown in panels that do not overlap', () => {
    const places = board.panels.map(({ gridPos: { x, y, w } }) => ({ x, y, w }))
    for (const [n, { x, y, w }] of places.entries()) {
      const next = places[n + 1]
      expect(x + w).toBeLessThanOrEqual(24)
      if (next) expect(next.y > y || next.x >= x + w).toBe(true)
    }
  })
})
