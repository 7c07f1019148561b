// The pages of docs/frameworks quote their programs, and what these need, as the files say.
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blocksOf, frameworkPages, packagesOf, programsFolder } from '../fixtures/framework-pages.ts'

const pages = frameworkPages()
const headings = ['What is recorded', 'Install', 'Program', 'What you see', 'Common mistakes']

describe.each(pages)('docs/frameworks/$name.md', (page) => {
  it('has the parts of every page, in their order', () => {
    expect([...page.text.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual(headings)
    expect(blocksOf(page, 'What you see', 'text')).toHaveLength(1)
  })

  it('quotes its program and what that needs', () => {
    const language = page.program.endsWith('.mjs') ? 'js' : 'python'
    expect(blocksOf(page, 'Program', language)).toEqual([page.code])
    expect(blocksOf(page, 'Install', 'sh')[0]).toBe(`${page.install}\n`)
  })

  it('pins every package', () => {
    for (const one of packagesOf(page)) expect(one).toMatch(/^[@\w./[\]-]+(?:==|@)\d+\.\d+\.\d+$/)
  })
})

it('every program has a page', () => {
  const programs = readdirSync(programsFolder).filter((file) => file !== 'README.md')
  expect(pages.map(({ program }) => basename(program)).sort()).toEqual(programs.sort())
})
