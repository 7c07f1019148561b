// Every statement about a project was reviewed, and reads tables of projects by it before anything else.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { notProjectFirst } from '../fixtures/project-first.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const textsOf = (pattern: string): [path: string, text: string][] =>
  globSync(pattern, { cwd: root }).map((path) => [path, readFileSync(`${root}/${path}`, 'utf8')])
const services = textsOf('services/**/*.ts')

const reviewed = new Set(
  textsOf('test/sql/*.sql').flatMap(([, text]) =>
    [...text.matchAll(/^-- .* \(([\w.-]+)\)$/gm)].map(([, name]) => name),
  ),
)
/** Names of queries as they are written; what a template or a variable puts there may be anything. */
const written = services.flatMap(([path, text]) =>
  [...text.matchAll(/\b(?:project|system)Query\(\s*(?:'([^']+)'|`([^`]+)`|(\w+),)/g)].map(([, name, template]) => ({
    path,
    name: name ?? template?.replaceAll(/\$\{\w+\}/g, '*') ?? '*',
  })),
)

it('each query has a snapshot', () => {
  const isReviewed = (name: string) => {
    const form = new RegExp(`^${name.split('*').map(RegExp.escape).join('[\\w.-]+')}$`)
    return [...reviewed].some((one) => one !== undefined && form.test(one))
  }
  expect(written.length).toBeGreaterThan(60)
  expect(written.filter(({ name }) => !isReviewed(name))).toEqual([])
})

/** Statements about several projects, or for operators: they filter by the ids that they are given. */
const acrossProjects = [
  'services/query/projects/list.ts',
  'services/query/call-costs/explain.ts',
  'services/query/evaluation-jobs/queued.ts',
  // Quotas: asked by the process itself, for no request.
  'services/query/usage/accepted.ts',
  // The statement is of a scope, whatever the project.
  'services/query/audit/events.ts',
  'services/query/audit/heads.ts',
  // For the commands of operators.
  'services/query/erasures/receipts.ts',
  'services/query/usage/stored.ts',
]

it('a statement without projectQuery reads no table of projects in a request', () => {
  const inRequests = services.filter(([path]) =>
    /^services\/(?:query|training|evaluation|inference|ingest)\//.test(path),
  )
  const named = inRequests.flatMap(([path, text]) =>
    [...text.matchAll(/\bcallhouse\.([a-z]\w*)/g)].map(([, table]) => `${path}: ${table}`),
  )
  const others = named.filter((one) => !one.endsWith(': rollups') && !acrossProjects.includes(one.split(': ')[0] ?? ''))
  expect(others).toEqual([])
})

it.each([
  ['no predicate', 'SELECT 1 FROM callhouse.calls'],
  ['another predicate first', "SELECT 1 FROM callhouse.calls WHERE id = 'x' AND project_id = {v0:String}"],
  ['a way around it', 'SELECT 1 FROM callhouse.calls WHERE project_id = {v0:String} OR 1'],
  ['a part of a way around it', 'SELECT 1 FROM callhouse.calls WHERE project_id = {v0:String} AND (1) OR (1)'],
  ['the filter of another table', 'SELECT 1 FROM callhouse.calls AS c FINAL WHERE p.project_id = {v0:String}'],
  ['a literal', "SELECT 1 FROM callhouse.calls WHERE project_id = 'a/b'"],
  ['a join without it', 'FROM callhouse.calls WHERE project_id = {v0:String} JOIN callhouse.payloads ON 1'],
])('a statement with %s is found', (_, sql) => {
  expect(notProjectFirst(sql)).toHaveLength(1)
})
