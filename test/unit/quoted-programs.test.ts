// Programs that a page of docs quotes below a link to them are the files, but for the line that says what they need.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))
const programs = readdirSync(join(docs, 'programs')).filter((file) => file !== 'README.md')

const quoted = readdirSync(docs)
  .filter((file) => file.endsWith('.md'))
  .flatMap((file) => {
    const text = readFileSync(join(docs, file), 'utf8')
    return [...text.matchAll(/\]\(programs\/([^)]+)\)\n\n```\w+\n([\s\S]*?)^```$/gm)].map(
      ([, name = '', body = '']) => ({ file, name, body }),
    )
  })

it('every program is quoted by one page', () => {
  expect(quoted.map(({ name }) => name).sort()).toEqual(programs.sort())
})

it.each(quoted)('docs/$file quotes $name as it is', ({ name, body }) => {
  const [first = '', ...rest] = readFileSync(join(docs, 'programs', name), 'utf8').split('\n')
  expect(first).toMatch(/^(?:#|\/\/) (?:pip install|No packages needed)/)
  expect(body).toBe(rest.join('\n'))
})
