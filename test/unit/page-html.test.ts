// Texts that the web page offers to draw as HTML.
import { expect, it } from 'vitest'
import { isHtml } from '../../services/web/page/engine/html.ts'

it.each(['<!DOCTYPE html>\n<html><body>x</body></html>', '  <div class="a">x</div>\n', '<h1>x</h1>', '<p\n>x</p>'])(
  '%j is drawn on demand',
  (text) => expect(isHtml(text)).toBe(true),
)

it.each([
  '',
  'Use <b>bold</b>',
  '<b>bold</b> is how it is written',
  '<3 you </3>',
  'a < b > c',
  '<thinking',
  `<p>${'x'.repeat(65_536)}</p>`,
])('%j is words', (text) => expect(isHtml(text)).toBe(false))
