// READMEs of folders, and the files that pages name, as `npm run check` looks at them.
import { expect, it } from 'vitest'
import { missingFiles, readmeFaults } from '../../scripts/readmes.ts'

const nine = Array.from({ length: 9 }, (_, i) => `rooms/${i}.ts`)
const pages = (files: string[], texts: Record<string, string> = {}) => ({
  files,
  texts: new Map(Object.entries(texts)),
})

it('a folder with more than eight files needs a README, the root of the repository does not', () => {
  expect(readmeFaults(pages(nine))).toEqual(['rooms has 9 files and no README.md'])
  expect(readmeFaults(pages(nine.slice(1)))).toEqual([])
  expect(readmeFaults(pages([...nine, 'rooms/README.md'], { 'rooms/README.md': 'x\n' }))).toEqual([])
  expect(readmeFaults(pages(nine.map((file) => file.slice('rooms/'.length))))).toEqual([])
})

it('a README of a folder has at most ten lines', () => {
  const readme = (lines: number) => pages(['rooms/README.md'], { 'rooms/README.md': 'x\n'.repeat(lines) })
  expect(readmeFaults(readme(10))).toEqual([])
  expect(readmeFaults(readme(11))).toEqual(['rooms/README.md has 11 lines, more than 10'])
})

it('the table of contents of the documentation may have more', () => {
  expect(readmeFaults(pages(['docs/README.md'], { 'docs/README.md': 'x\n'.repeat(11) }))).toEqual([])
})

it('a README names files of its folder, or by their path from the root', () => {
  const files = [...nine, 'rooms/README.md', 'doors/front.ts']
  const named = (text: string) => missingFiles(pages(files, { 'rooms/README.md': text }))
  expect(
    named('`0.ts`, `doors/front.ts`, [one](1.ts), `*-property.ts`, `<noun>.sql`, https://example.com/a.ts'),
  ).toEqual([])
  expect(named('`front.ts`')).toEqual(['rooms/README.md names front.ts, which is not there'])
  expect(named('`rooms/10.ts`, `rooms/10.ts`')).toEqual(['rooms/README.md names rooms/10.ts, which is not there'])
})

it('other pages name files by any end of their paths', () => {
  const named = (text: string) => missingFiles(pages(['doors/front.ts', 'docs/a.md'], { 'docs/a.md': text }))
  expect(named('`front.ts`, `doors/front.ts`, [door](../doors/front.ts), front.py')).toEqual([])
  expect(named('`back.ts` and [b](b.md)')).toEqual([
    'docs/a.md names back.ts, which is not there',
    'docs/a.md names b.md, which is not there',
  ])
})
