// Writes services/web/page/routes.gen.ts: method, path and types of every declared route that a page may call.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Route } from '../services/core/http/route.ts'
import { declaredRoutes } from './paths.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
export const generatedFile = join(root, 'services/web/page/routes.gen.ts')

/** Routes of programs: their bodies are bytes, or are passed on as they are. */
const isForPrograms = ({ name, body }: Route): boolean =>
  body.type === 'raw' ||
  body.type === 'stream' ||
  (body.type === 'json' && body.check === 'bytes' && name !== 'calls.update') ||
  ['otel.', 'web.', 'inference.'].some((family) => name.startsWith(family))

/** Exports of schemas/, by identity. */
async function exportedSchemas(): Promise<Map<unknown, string>> {
  const names = new Map<unknown, string>()
  for (const file of readdirSync(join(root, 'schemas'))
    .filter((name) => name.endsWith('.ts'))
    .sort()) {
    const module = (await import(join(root, 'schemas', file))) as Record<string, unknown>
    const namespace = file.slice(0, -3).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    // Some have two names: the first one is taken, whatever order the module gives them in.
    for (const name of Object.keys(module).sort())
      if (!names.has(module[name])) names.set(module[name], `${namespace}.${name}`)
  }
  return names
}

/** @throws Error that names routes whose schemas schemas/ does not export */
export async function clientText(): Promise<string> {
  const names = await exportedSchemas()
  const missing: string[] = []
  const used = new Set<string>()
  const typeOf = (kind: 'input' | 'output', route: Route, schema: unknown): string => {
    const name = names.get(schema)
    if (name === undefined) {
      missing.push(route.name)
      return 'never'
    }
    used.add(name.slice(0, name.indexOf('.')))
    return `z.${kind}<typeof ${name}>`
  }
  const routes = declaredRoutes()
    .filter((route) => !isForPrograms(route))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const shapes = routes.map((route) => {
    const { body, response, line } = route
    const members = [
      `in: ${body.type === 'json' ? typeOf('input', route, body.schema) : 'undefined'}`,
      `out: ${response === null ? 'null' : typeOf('output', route, response)}`,
      `line: ${line === undefined ? 'never' : typeOf('output', route, line)}`,
    ]
    return `  '${route.name}': { ${members.join('; ')} }`
  })
  if (missing.length > 0) throw new Error(`schemas/ does not export the schemas of ${[...new Set(missing)].join(', ')}`)
  const fileOf = (namespace: string) => namespace.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return [
    '// Written by scripts/web-client.ts from the declared routes; a test makes it anew and compares.',
    "import type { z } from 'zod'",
    ...[...used].sort().map((name) => `import type * as ${name} from '../../../schemas/${fileOf(name)}.ts'`),
    '',
    '/** Types of what each route takes and answers. */',
    'export type Shapes = {',
    ...shapes,
    '}',
    '',
    '/** Method and path by route. */',
    'export const routes = {',
    ...routes.map(({ name, method, path }) => `  '${name}': ['${method}', '${path}'],`),
    '} as const satisfies Record<keyof Shapes, readonly [method: string, path: string]>',
    '',
  ].join('\n')
}

if (import.meta.main) writeFileSync(generatedFile, await clientText())
