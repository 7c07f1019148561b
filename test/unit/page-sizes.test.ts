// Sizes of the page are rem, so that they grow with the text that a reader's browser shows; lines alone are pixels.
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = new URL('../../services/web/page/', import.meta.url).pathname
const isShadow = (line: string): boolean => /--shadow|outline-offset/.test(line)

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
