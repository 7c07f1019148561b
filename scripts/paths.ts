// `npm run paths [route]`: from a route to its schema, topic, tables and readers, by the registries that the server uses.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadConfig } from '../services/app/config.ts'
import type { ServerRole } from '../services/app/roles.ts'
import { type RouteDeps, routesOf } from '../services/app/routes.ts'
import { rightText } from '../services/core/directory/roles.ts'
import type { Keys } from '../services/core/http/keys.ts'
import type { Route } from '../services/core/http/route.ts'
import type { Sessions } from '../services/core/http/session.ts'
import { landingsOf } from '../services/core/log/topic.ts'
import { splitStatements } from '../services/core/store/sql-text.ts'
import { type TopicName, topics } from '../services/events/registry.ts'
import { openGeoRanges } from '../services/query/service/geolocate.ts'
import { tableViews } from '../services/tables/registry.ts'
import type { Assets } from '../services/web/assets.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** SQL that moves rows: a materialized view of a migration, or a statement of the worker. */
export type Flow = { name: string; from: string[]; to: string }

/** The routes of the product, built without a log or a store: they are only looked at. */
export function declaredRoutes(role: ServerRole = 'serve'): Route[] {
  const loaded = loadConfig({ env: {}, argv: [] })
  if (!loaded.ok) throw new Error(loaded.lines.join('\n'))
  const unused = (): never => {
    throw new Error('a route was called that is only looked at')
  }
  const absent = new Proxy({}, { get: () => unused }) as never
  const { config } = loaded
  const service = { version: '', config, geo: openGeoRanges(undefined), health: unused, isShuttingDown: unused }
  const sessions = absent as Sessions
  const web = {
    assets: absent as Assets,
    sessions,
    keys: absent as Keys,
    audit: absent,
    masterKey: unused,
    server: { version: '', config },
  }
  const deps: RouteDeps = {
    config,
    log: absent,
    split: {},
    store: absent,
    clock: absent,
    blobs: absent,
    freshness: absent,
    lock: absent,
    slots: absent,
    rowSlots: absent,
    retention: { of: () => undefined, projectIds: () => [], isRemoved: () => false, defaultDays: 0, logsDays: 30 },
    holds: () => new Map(),
    maskings: absent,
    onFaults: unused,
    secrets: absent,
    masterKey: unused,
    service,
    operator: { settings: unused, status: unused, deadLetters: { list: unused, show: unused, replay: unused } },
    web,
    providers: absent,
    directory: absent,
    keyUses: absent,
    audit: absent,
    logger: absent,
  }
  return routesOf(role, deps).served
}

const statementFiles = (): string[] =>
  readdirSync(join(root, 'clickhouse/statements'))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => join('clickhouse/statements', file))

const sqlText = (file: string): string[] => splitStatements(readFileSync(join(root, file), 'utf8'))
const sources = (sql: string): string[] => [
  ...new Set([...sql.matchAll(/(?:FROM|JOIN)\s+callhouse\.(\w+)/g)].map((match) => match[1] as string)),
]

export function flows(): Flow[] {
  const views = tableViews.map(({ name, source, target }) => ({ name: `view ${name}`, from: [source], to: target }))
  const statements = statementFiles().flatMap((file) =>
    sqlText(file).flatMap((sql): Flow[] => {
      const match = /INSERT INTO callhouse\.(\w+)/.exec(sql)
      return match ? [{ name: file, from: sources(sql), to: match[1] as string }] : []
    }),
  )
  return [...views, ...statements]
}

/** Flows that rows of tables take, in the order in which they reach further tables. */
export function flowsFrom(...tables: string[]): Flow[] {
  const all = flows()
  const reached = new Set(tables)
  const taken: Flow[] = []
  for (let before = -1; before !== taken.length; ) {
    before = taken.length
    for (const flow of all)
      if (!taken.includes(flow) && flow.from.some((from) => reached.has(from))) {
        taken.push(flow)
        reached.add(flow.to)
      }
  }
  return taken
}

const folders = ['access', 'ingest', 'query', 'evaluation', 'inference', 'training-jobs', 'web'].map(
  (name) => `services/${name}`,
)
const modules = folders
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  )

/** The place of a route's declaration, and the schemas of schemas/ that it names. */
export function declaration(route: Route): { place: string; schemas: string[] } {
  for (const file of modules) {
    const text = readFileSync(join(root, file), 'utf8')
    const at = new RegExp(`(?:name: |declare\\(\\s*)'${route.name.replaceAll('.', '\\.')}'`).exec(text)?.index
    if (at === undefined) continue
    const imports = [...text.matchAll(/import (?:type )?\{([^}]*)\} from '(?:\.\.\/)+(schemas\/[\w/-]+\.ts)'/g)]
    const known = imports.flatMap(([, names = '', from]) =>
      names.split(',').map((name) => ({ name: name.replace('type ', '').trim(), from })),
    )
    // Up to its handler, or up to the next route of a table of routes.
    const end = /handle|(?:name: |declare\(\s*)'\w+\.\w+'/.exec(text.slice(at + 10))?.index ?? 0
    const declared = text.slice(at, at + 10 + end)
    const schemas = known.filter(({ name }) => name !== '' && new RegExp(`\\b${name}\\b`).test(declared))
    return {
      place: `${file}:${text.slice(0, at).split('\n').length}`,
      schemas: schemas.map(({ name, from }) => `${name} (${from})`),
    }
  }
  throw new Error(`no module declares ${route.name}`)
}

const shown = (names: readonly string[]): string => (names.length > 0 ? names.join(', ') : '-')

function bodyOf({ body }: Route): string {
  switch (body.type) {
    case 'none':
      return 'none'
    case 'json':
      return `JSON, checked by the ${body.check}`
    case 'raw':
      return `bytes: ${body.contentTypes.join(', ')}`
    case 'stream':
      return `stream: ${body.contentType}`
    default:
      return body satisfies never
  }
}

/** Everything between a route and the routes that read what it wrote, as lines. */
export function describeRoute(route: Route, routes: readonly Route[]): string[] {
  const { place, schemas } = declaration(route)
  const lines = [
    `${route.name}: ${route.summary}`,
    `  ${route.method} ${route.path}${(route.aliases ?? []).map((path) => `, ${path}`).join('')}`,
    `  right   ${rightText(route.right)}`,
    `  source  ${place}`,
    `  body    ${bodyOf(route)}`,
    `  schemas ${shown(schemas)}`,
  ]
  const readersOf = (table: string) => routes.filter((other) => other.tables?.includes(table)).map(({ name }) => name)
  if (route.tables) {
    lines.push('  reads')
    for (const table of route.tables) {
      const filled = flows().filter(({ to }) => to === table)
      lines.push(`    ${table} <- ${shown(filled.map(({ name }) => name))}`)
    }
  }
  for (const name of route.topics ?? []) {
    const landings = landingsOf(topics[name as TopicName])
    lines.push(`  topic ${name} -> ${landings.join(', ')}`)
    const taken = flowsFrom(...landings)
    for (const flow of taken) lines.push(`    ${flow.from.join(', ')} -> ${flow.name} -> ${flow.to}`)
    lines.push('    read by')
    for (const table of new Set(taken.map(({ to }) => to))) {
      const readers = readersOf(table)
      if (readers.length > 0) lines.push(`      ${table} -> ${readers.join(', ')}`)
    }
  }
  return lines
}

function main(name: string | undefined): void {
  const routes = declaredRoutes()
  if (name === undefined) {
    const width = Math.max(...routes.map((route) => route.name.length))
    for (const route of routes)
      process.stdout.write(
        `${route.name.padEnd(width)}  ${route.method.padEnd(6)} ${route.path}  ${shown([...(route.topics ?? []).map((topic) => `-> ${topic}`), ...(route.tables ?? []).map((table) => `<- ${table}`)])}\n`,
      )
    return
  }
  const route = routes.find((one) => one.name === name)
  if (route) process.stdout.write(`${describeRoute(route, routes).join('\n')}\n`)
  else {
    process.stderr.write(`There is no route ${name}; npm run paths lists all\n`)
    process.exitCode = 2
  }
}

if (import.meta.main) main(process.argv[2])
