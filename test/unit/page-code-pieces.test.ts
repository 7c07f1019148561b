// Coloured code in the page: what is a comment, a string, a number, a word of the language, and nothing lost.
// again: property
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CodePiece, codePieces } from '../../services/web/page/engine/code-pieces.ts'
import { runs } from '../fixtures/runs.ts'

const marked = (code: string): string[] =>
  codePieces(code).flatMap(({ is, text }) => (is === 'plain' ? [] : [`${is} ${text}`]))

it('Python has its comments, strings over lines, numbers and words', () => {
  const code = '@weave.op\ndef ask(q):\n    """Asks\n    # nothing"""\n    return self.n // 2 + q["it\\"s"]  # why\n'
  expect(marked(code)).toEqual([
    'word def',
    'string """Asks\n    # nothing"""',
    'word return',
    'word self',
    'number 2',
    'string "it\\"s"',
    'comment # why',
  ])
})

it('JavaScript has its own, and names that hold a word of the language are names', () => {
  const code = 'const forms = `a "b"` /* x\n*/ + this.if + 0x1f // end'
  expect(marked(code)).toEqual([
    'word const',
    'string `a "b"`',
    'comment /* x\n*/',
    'word this',
    'number 0x1f',
    'comment // end',
  ])
})

it('any text is its pieces, also where nothing is closed', () => {
  const pieces = fc.array(fc.constantFrom('"', "'", '"""', '`', '\\', '#', '//', '/*', '\n', 'def f', ' ', '1', 'x'))
  fc.assert(
    fc.property(pieces, (parts) => {
      const code = parts.join('')
      expect(
        codePieces(code)
          .map(({ text }: CodePiece) => text)
          .join(''),
      ).toBe(code)
    }),
    { numRuns: runs(200, 5_000) },
  )
})

it('code in which nothing is closed comes to an end, which the limit of the test does not let it when steps repeat', () => {
  for (const part of ['"', '"""', '/*', '"\\', '@a', 'class a']) {
    const code = part.repeat(20_000)
    expect(codePieces(code).reduce((length, { text }) => length + text.length, 0)).toBe(code.length)
  }
})
