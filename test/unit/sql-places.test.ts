// The check that SQL is written in .sql files, or in the rooms that build it.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { servicesSources, sqlPlaceFaults } from '../../scripts/sql-places.ts'

const faultsOf = (file: string, text: string) => sqlPlaceFaults(new Map([[file, text]]))

describe('SQL outside its places', () => {
  it.each([
    ['a read', "const q = 'SELECT count() FROM callhouse.calls'"],
    ['a read over several lines', 'const q = `SELECT\n  id\nFROM callhouse.calls`'],
    ['a read of the engine', 'const q = `SELECT (SELECT 1)`'],
    ['a table whose name is put in', `const q = \`DELETE FROM callhouse.\${table} WHERE 1\``],
    ['the rest of a statement', "const rest = ' FROM system.parts WHERE active'"],
    ['a change of a table', "const q = 'ALTER TABLE callhouse.calls DROP PARTITION 1'"],
    ['an insert', "const q = 'INSERT INTO callhouse.calls VALUES'"],
    ['the end of a mutation', "const q = 'KILL MUTATION WHERE 1'"],
    ['a fragment', 'const where = sql`id = 1`'],
  ])('is refused: %s', (_, text) => {
    const fault = expect.stringMatching(/^services\/worker\/a\.ts:3 has SQL/)
    expect(faultsOf('services/worker/a.ts', `// A file.\n\n${text}\n`)).toEqual([fault])
  })

  it.each(['services/query/calls/a.ts', 'services/operations/a.ts', 'services/core/store/a.ts'])(
    'is none where statements are built: %s',
    (file) => expect(faultsOf(file, "const q = 'SELECT 1 FROM callhouse.calls'")).toEqual([]),
  )

  it.each([
    ['a comment', '// A SELECT of the same rows.\n/** SELECT id FROM callhouse.calls */\n * FROM system.parts'],
    ['a pattern of statements', String.raw`const view = /^CREATE MATERIALIZED VIEW IF NOT EXISTS callhouse\.(\w+)/`],
    ['a condition beside its table', "const place = { table: 'turns', where: 'id IN {ids:Array(String)}' }"],
    ['an element of a page', "const isField = ['INPUT', 'SELECT'].includes(tagName)"],
  ])('is none in %s', (_, text) => expect(faultsOf('services/worker/a.ts', text)).toEqual([]))
})

describe('files of statements', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const files = readdirSync(join(root, 'clickhouse/statements'))
    .filter((name) => name.endsWith('.sql'))
    .map((name) => name.slice(0, -'.sql'.length))
  const texts = [...servicesSources(root).values()]
  /** Names of statements, alone or behind what runs them (services/removal/engine.ts). */
  const asked =
    /\b(?:(?:statement(?:Text)?|sqlOf)\(\s*'|(?:find|findByDigests|change)(?:<[^(]*?>)?\([\w{} ]+,\s*'(?=[a-z]+[.-]))([^']+)'/g

  it('are all run by something', () => {
    expect(files.filter((name) => !texts.some((text) => text.includes(`'${name}'`)))).toEqual([])
  })

  it('are there for each name that is asked for', () => {
    const names = texts.flatMap((text) => [...text.matchAll(asked)].map(([, name]) => name))
    expect(names.length).toBeGreaterThan(60)
    expect(names.filter((name) => !files.includes(name ?? ''))).toEqual([])
  })
})
