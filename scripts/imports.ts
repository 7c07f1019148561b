// Import rules of folders: one table of rooms, and no cycles between files or folders, types included.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** A room is a folder or a file; what lies in it may import itself, the rooms and the packages that are listed, and node's own modules. */
type Room = {
  folder: string
  rooms: readonly string[]
  packages: readonly string[]
  /** Rooms inside of its own or the listed ones that it may not import. */
  without?: readonly string[]
  /** Code for a browser has no modules of node, and no other room of services imports it. */
  isInBrowser?: true
}

const core = ['schemas', 'services/core']
/**
 * Modules that take requests. The mechanisms below throw errors of their own, of which only core/http makes statuses.
 */
const without = ['services/core/http', 'services/core/grpc', 'services/core/threads']
const shared = [...core, 'services/tables', 'services/events', 'services/content']
const everything = ['schemas', 'services']

/** The floors of the page: engine, api, worker, parts; features stand on them, and the router on all. */
const pageFolder = (name: string): string => `services/web/page/${name}`
const pageParts = [
  'engine',
  'api',
  'worker',
  'parts',
  'keys.ts',
  'preferences.ts',
  'text-scale.ts',
  'window-width.ts',
].map(pageFolder)
const pagePackages = ['@tanstack/react-query', '@tanstack/react-router', 'diff', 'react', 'react-dom']

/** The first room whose folder a file lies in is its room. */
export const rooms: readonly Room[] = [
  { folder: 'schemas', rooms: [], packages: ['zod'] },
  { folder: 'services/core/http', rooms: core, packages: ['express', 'prom-client', 'zod'] },
  { folder: 'services/core/grpc', rooms: core, packages: [] },
  { folder: 'services/core/threads', rooms: core, packages: [] },
  { folder: 'services/core/log/kafka', rooms: core, packages: ['kafkajs'], without },
  { folder: 'services/core/store/chdb', rooms: core, packages: ['chdb'], without },
  { folder: 'services/core/store/server', rooms: core, packages: ['@clickhouse/client'], without },
  {
    folder: 'services/core',
    rooms: core,
    packages: ['@aws-sdk/client-s3', 'fs-native-extensions', 'pino', 'prom-client', 'zod'],
    without,
  },
  { folder: 'services/tables', rooms: [], packages: [] },
  { folder: 'services/events', rooms: shared, packages: [] },
  { folder: 'services/content', rooms: shared, packages: ['re2js'] },
  {
    folder: 'services/ingest',
    rooms: shared,
    packages: ['@cfworker/json-schema', 'busboy', 'protobufjs', 'unicode-emoji-json', 'zod'],
  },
  { folder: 'services/access', rooms: shared, packages: ['jose', 'openid-client', 'zod'] },
  { folder: 'services/derived', rooms: shared, packages: [] },
  { folder: 'services/worker', rooms: [...shared, 'services/derived'], packages: ['prom-client'] },
  { folder: 'services/removal', rooms: [...shared, 'services/derived', 'services/worker'], packages: [] },
  { folder: 'services/query/language', rooms: core, packages: [] },
  { folder: 'services/query', rooms: shared, packages: ['@cfworker/json-schema', 'prom-client', 'zod'] },
  { folder: 'services/inference', rooms: shared, packages: ['eventsource-parser', 'undici', 'zod'] },
  { folder: 'services/evaluation', rooms: shared, packages: ['zod'] },
  { folder: 'services/training-jobs', rooms: shared, packages: ['zod'] },
  { folder: 'services/operations', rooms: [...shared, 'services/derived', 'services/worker'], packages: ['zod'] },
  { folder: 'services/web/page/vite.config.ts', rooms: [], packages: ['vite'] },
  {
    folder: 'services/web/page/engine',
    rooms: [pageFolder('routes.gen.ts'), 'schemas/csv.ts'],
    packages: ['diff'],
    isInBrowser: true,
  },
  // Types of the declared routes; zod itself would be half of the page.
  { folder: pageFolder('routes.gen.ts'), rooms: ['schemas'], packages: ['zod'], isInBrowser: true },
  {
    folder: 'services/web/page/api',
    rooms: [pageFolder('routes.gen.ts'), pageFolder('engine')],
    packages: pagePackages,
    isInBrowser: true,
  },
  {
    folder: 'services/web/page/worker',
    rooms: [pageFolder('routes.gen.ts'), pageFolder('engine'), pageFolder('api')],
    packages: [],
    isInBrowser: true,
  },
  // The quick start shows a program that imports weave.
  {
    folder: 'services/web/page/parts/quick-start.tsx',
    rooms: pageParts,
    packages: [...pagePackages, 'weave'],
    isInBrowser: true,
  },
  { folder: 'services/web/page/parts', rooms: pageParts, packages: pagePackages, isInBrowser: true },
  {
    folder: 'services/web/page',
    rooms: [],
    packages: pagePackages,
    isInBrowser: true,
  },
  { folder: 'services/web', rooms: core, packages: ['zod'] },
  { folder: 'services/app', rooms: everything, packages: ['prom-client', 'zod'] },
  { folder: 'services/cli', rooms: everything, packages: [] },
  { folder: 'services/main.ts', rooms: ['services/cli'], packages: [] },
]

type Import = { from: string; target: string }

const inFolder = (file: string, folder: string): boolean => file === folder || file.startsWith(`${folder}/`)

const statement =
  /^\s*(?:import|export)\b[^'"]*?\bfrom\s*['"]([^'"]+)['"]|^\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm

/** @param text of a TypeScript file: what it imports, types included, as paths of the repository or names of packages */
export const importsOf = (from: string, text: string): Import[] =>
  [...text.matchAll(statement)].map(([, one, two, three]) => {
    const name = one ?? two ?? three ?? ''
    return { from, target: name.startsWith('.') ? normalize(join(dirname(from), name)) : name }
  })

const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')

/** Bundlers take more than programs: `main.ts?worker&url`. */
const isFile = /\.(?:tsx?|mjs|json|css|svg)(?:\?.*)?$/

/** Imports that break the table. Files of no room, such as tests, may import what they like. */
export function roomFaults(imports: readonly Import[]): string[] {
  return imports.flatMap(({ from, target }) => {
    const room = rooms.find(({ folder }) => inFolder(from, folder))
    if (room === undefined || (target.startsWith('node:') && !room.isInBrowser)) return []
    const isOfPage = rooms.some(({ folder, isInBrowser }) => isInBrowser && inFolder(target, folder))
    const allowed = isFile.test(target)
      ? [room.folder, ...room.rooms].some((folder) => inFolder(target, folder)) &&
        !room.without?.some((folder) => inFolder(target, folder)) &&
        (room.isInBrowser || !isOfPage)
      : room.packages.includes(packageOf(target))
    return allowed ? [] : [`${from} may not import ${target}: see the table of scripts/imports.ts`]
  })
}

/** Files that import one another, each cycle once, as a chain that ends where it begins. */
export function importCycles(imports: readonly Import[]): string[] {
  const targets = Map.groupBy(imports, ({ from }) => from)
  const done = new Set<string>()
  const faults: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    const at = path.indexOf(file)
    if (at >= 0) {
      faults.push(`imports go round: ${[...path.slice(at), file].join(' -> ')}`)
      return
    }
    if (done.has(file)) return
    for (const { target } of targets.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of targets.keys()) visit(file, [])
  return faults
}

/** Rooms whose own files lie above or below those of the folders in them, too. The list only becomes longer. */
const layered = ['services/derived', 'services/removal', 'services/worker']

/** Folders of services beside each other that an import connects, each with all that is in it; none within a folder. */
function foldersBetween({ from, target }: Import): [string, string] | undefined {
  const [a, b] = [from.split('/'), target.split('/')]
  const same = a.findIndex((part, at) => part !== b[at])
  const folderOf = (parts: string[]): string => parts.slice(0, same + 1).join('/')
  if (same > 0 && same < Math.min(a.length, b.length) - 1) return [folderOf(a), folderOf(b)]
  if (!layered.some((folder) => inFolder(from, folder) && inFolder(target, folder))) return undefined
  return dirname(from) === dirname(target) ? undefined : [dirname(from), dirname(target)]
}

/** Pairs of folders of which each imports the other, with a file of either. */
export function folderCycles(imports: readonly Import[]): string[] {
  const between = new Map<string, Import>()
  for (const one of imports) {
    const folders = inFolder(one.from, 'services') ? foldersBetween(one) : undefined
    if (folders) between.set(folders.join(' '), one)
  }
  return [...between].flatMap(([pair, one]) => {
    const [from = '', to = ''] = pair.split(' ')
    const back = from < to ? between.get(`${to} ${from}`) : undefined
    return back ? [`${from} and ${to} import each other: ${one.from}, ${back.from}`] : []
  })
}

/** All imports of the repository's TypeScript. */
export const repositoryImports = (root: string): Import[] =>
  execFileSync('git', ['ls-files', '-z', '*.ts', '*.tsx'], { cwd: root })
    .toString()
    .split('\0')
    .filter((file) => file !== '')
    .flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')))
