// Sizes of the page are rem, so that they grow with the text that a reader's browser shows; lines alone are pixels.
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../services/web/page/', import.meta.url).pathname
const isShadow = (line: string): boolean => /--shadow|outline-offset/.test(line)

it('a drawing is styled where it stands, and an icon by its own name: no place changes the icons below it', () => {
  const selectors = globSync('**/*.css', { cwd: folder }).flatMap((file) =>
    [...readFileSync(folder + file, 'utf8').matchAll(/^[^{}@/]*\bsvg\b[^{}]*(?=\{)/gm)].map(([text]) => ({
      file,
      text,
    })),
  )
  expect(selectors.length).toBeGreaterThan(5)
  const reaching = selectors.flatMap(({ file, text }) =>
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => / svg(?!\.i\b)/.test(one) && !/> svg$/.test(one))
      .map((one) => `${file}: ${one}`),
  )
  expect(reaching).toEqual([])
})

it('style sheets have no pixels but those of lines and shadows', () => {
  const files = globSync('**/*.css', { cwd: folder })
  expect(files.length).toBeGreaterThan(5)
  const found = files.flatMap((file) =>
    readFileSync(folder + file, 'utf8')
      .split('\n')
      .filter((line) => !isShadow(line) && [...line.matchAll(/([\d.]+)px/g)].some(([, size]) => Number(size) > 2))
      .map((line) => `${file}: ${line.trim()}`),
  )
  expect(found).toEqual([])
})
