// Pages of the documentation that lead through the web page name its buttons and fields as they are written there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = join(root, 'services/web/page')
const sources = readdirSync(page, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => readFileSync(join(page, name), 'utf8'))
  .join('\n')

/** Words in italics, which name what stands on the screen. */
const namedIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w_])_([^_\n]+)_(?![\w_])/g)].map(([, name]) => name as string)

/** Whether a word stands in the page as a text of its own. */
const isShown = (name: string): boolean => {
  const plain = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`['">\`\\s}]${plain}\\s*(?:['"<\`{]|$)`, 'm').test(sources)
}

it('annotation queues are explained in the words of the page, before the requests', () => {
  const text = readFileSync(join(root, 'docs/annotation-queues.md'), 'utf8')
  const names = namedIn(text)
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !isShown(name))).toEqual([])
  expect(isShown('Take the answers back')).toBe(false)
  const [onPage, overHttp] = ['## On the page', '## Over HTTP'].map((head) => text.indexOf(head))
  expect(onPage).toBeGreaterThan(0)
  expect(overHttp).toBeGreaterThan(onPage as number)
  expect(text.slice(0, overHttp)).not.toContain('POST /')
})
