// Code beside code in the page: no line is lost, equal ones fold.
// again: property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Line, lineDifferences } from '../../services/web/page/engine/line-differences.ts'
import { runs } from '../fixtures/runs.ts'

const text = (...lines: (string | number)[]) => lines.map((line) => `${line}\n`).join('')
const spelled = (line: Line): string =>
  line.kind === 'folded' ? `… ${line.count}` : `${{ same: ' ', removed: '-', added: '+' }[line.kind]}${line.text}`

it('lines that changed stand between those around them, with their numbers, and equal ones are folded', () => {
  const twenty = Array.from({ length: 20 }, (_, n) => n + 1)
  const { lines, removed, added } = lineDifferences(text(...twenty), text(...twenty.with(9, 100), 'new'))
  expect(lines.map(spelled)).toEqual([
    '… 6',
    ' 7',
    ' 8',
    ' 9',
    '-10',
    '+100',
    ' 11',
    ' 12',
    ' 13',
    '… 4',
    ' 18',
    ' 19',
    ' 20',
    '+new',
  ])
  expect(lines[4]).toEqual({ kind: 'removed', a: 10, text: '10' })
  expect(lines[5]).toEqual({ kind: 'added', b: 10, text: '100' })
  expect(lines[6]).toEqual({ kind: 'same', a: 11, b: 11, text: '11' })
  expect([removed, added]).toEqual([1, 2])
})

it('equal texts are folded whole, one equal line is not folded away, and ends of lines of other systems make no difference', () => {
  expect(lineDifferences(text(1, 2, 3, 4, 5), text(1, 2, 3, 4, 6)).lines.map(spelled)).toEqual([
    ' 1',
    ' 2',
    ' 3',
    ' 4',
    '-5',
    '+6',
  ])
  expect(lineDifferences(text(1, 2, 3), text(1, 2, 3)).lines.map(spelled)).toEqual(['… 3'])
  expect(lineDifferences('a\r\nb\r\n', 'a\nb\n')).toMatchObject({ removed: 0, added: 0 })
})

it('texts that are too long or have nothing in common are shown one after the other, up to a bound', () => {
  const [before, now] = [text('a', 'b', 'c'), text('d', 'e', 'f')]
  const cut = lineDifferences(before, now, { maxEdits: 2, most: 4 })
  expect(cut.lines.map(spelled)).toEqual(['-a', '-b', '-c', '+d'])
  expect(cut).toMatchObject({ removed: 3, added: 3, isCut: true })
})

it('both texts can be read from what shows, whatever they are, unless they are equal', () => {
  const some = fc.array(fc.constantFrom('a', 'b', '', '  x', '\ty'), { maxLength: 30 })
  fc.assert(
    fc.property(some, some, (before, now) => {
      fc.pre(before.join('\n') !== now.join('\n'))
      const { lines } = lineDifferences(text(...before), text(...now), { around: 100 })
      const side = (kind: 'removed' | 'added') =>
        lines.flatMap((line) => (line.kind === 'same' || line.kind === kind ? [line.text] : []))
      expect(side('removed')).toEqual(before)
      expect(side('added')).toEqual(now)
    }),
    { numRuns: runs(100, 3_000) },
  )
})
