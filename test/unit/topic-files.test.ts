// A topic is declared once: which files name one, beside its own routes, and that docs/changing.md lists just those.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { topicNames } from '../../services/events/registry.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The numbered files of a recipe; `<noun>` and `<next>` stand for any name. */
function recipe(heading: string): RegExp[] {
  const section = read('docs/changing.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const files = [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file)
  return files.map((file) => new RegExp(`^${file.split(/<\w+>/).map(RegExp.escape).join('[\\w-]+')}$`))
}
const listed = recipe('A topic')

/** Files that work for every topic alike. Its rooms of routes, and where those are put together, are its own. */
const mechanisms = ['services', 'clickhouse', 'docs/events.md', 'docs/glossary.md', 'test/fixtures/whole-world.ts']
const routes =
  /^services\/(?:ingest|query|inference|evaluation|training-jobs|access|web)\/|^services\/app\/(?:routes|server|serving)\.ts$|^services\/core\/http\/rights\.ts$/
/** Written by a command, from the migrations. */
const baseline = 'clickhouse/baseline.sql'
const files = execFileSync('git', ['ls-files', '-z', ...mechanisms], { cwd: root })
  .toString()
  .split('\0')
  .filter((file) => file !== '' && !routes.test(file) && /\.(?:ts|sql|md)$/.test(file) && file !== baseline)
const texts = new Map(files.map((file) => [file, read(file)]))

it('the recipe of a topic has at most eight files', () => {
  expect(listed.length).toBeGreaterThan(4)
  expect(listed.length).toBeLessThanOrEqual(8)
})

// The other topics have files of their own, which derive, count, erase or show something.
it.each(['training_jobs', 'evaluation_jobs'])('%s is named in no other file', (topic) => {
  expect(topicNames).toContain(topic)
  const words = topic.split('_')
  const camel = words.map((word, n) => (n === 0 ? word : `${word[0]?.toUpperCase()}${word.slice(1)}`)).join('')
  const names = new RegExp(`\\b(?:${topic}|${words.join('-')}|${camel})`)
  const naming = [...texts].filter(([file, text]) => names.test(file) || names.test(text)).map(([file]) => file)
  expect(naming).toContain('services/events/registry.ts')
  expect(naming.filter((file) => !listed.some((pattern) => pattern.test(file)))).toEqual([])
  expect(naming.length).toBeLessThanOrEqual(8)
})
