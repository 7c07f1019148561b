// Every statement that was reviewed filters by its project before anything else.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { notProjectFirst } from '../fixtures/project-first.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
/** Statements of operators, about all projects at once. */
const ofOperators = new Set(['rebuild-cluster.sql', 'server-ddl.sql'])
const files = readdirSync(folder).filter((name) => name.endsWith('.sql') && !ofOperators.has(name))

describe('the project is the first predicate of each table in', () => {
  it.each(files)('%s', (name) => {
    expect(notProjectFirst(readFileSync(`${folder}/${name}`, 'utf8'))).toEqual([])
  })
})

it('snapshots of statements read tables of projects', () => {
  const texts = files.map((name) => readFileSync(`${folder}/${name}`, 'utf8')).join('\n')
  expect(texts.match(/\bcallhouse\.\w+ /g)?.length).toBeGreaterThan(50)
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
