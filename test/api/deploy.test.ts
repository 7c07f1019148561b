// What docker compose starts: its gateway sends each route to a role that serves it, its settings exist.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { declaredRoutes } from '../../scripts/paths.ts'
import { settings } from '../../services/config.ts'

const root = new URL('../../', import.meta.url)
const text = (path: string) => readFileSync(new URL(path, root), 'utf8')

const rules = [...text('deploy/gateway.conf').matchAll(/^ {4}~(\S+)\s+(\w+);$/gm)].map(
  ([, pattern = '', role = '']) => ({ pattern: new RegExp(pattern), role }),
)
const roleOf = (path: string): string => rules.find(({ pattern }) => pattern.test(path))?.role ?? 'query'

it('sends every route to a role that serves it', () => {
  expect(rules.length).toBeGreaterThan(5)
  const lost: string[] = []
  const names = (role: 'ingest' | 'query') => new Set(declaredRoutes(role).map(({ name }) => name))
  const served: Record<string, Set<string>> = { ingest: names('ingest'), query: names('query') }
  for (const route of declaredRoutes('serve'))
    for (const template of [route.path, ...(route.aliases ?? [])]) {
      const path = template.replaceAll(/\{\w+\*?\}/g, 'x')
      for (const uri of [path, `/traces${path}`]) {
        if (!served[roleOf(uri)]?.has(route.name)) lost.push(`${route.method} ${uri} -> ${roleOf(uri)}`)
      }
    }
  expect(lost).toEqual([])
})

it('names settings that exist', () => {
  const known = new Set(settings.map(({ env }) => env))
  const named = [...text('docker-compose.yml').matchAll(/^ +(CALLHOUSE_\w+):/gm)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((name) => !known.has(name))).toEqual([])
})
