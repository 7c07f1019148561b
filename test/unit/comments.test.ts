// The check that comments have a subject.
import { describe, expect, it } from 'vitest'
import { commentFaults } from '../../scripts/comments.ts'

const faultsOf = (text: string, file = 'services/worker/a.ts') => commentFaults(new Map([[file, text]]))

describe('a comment without a subject', () => {
  it.each([
    ['at the head of a file', 2, '\n// What begins and ends sessions.\nconst a = 1'],
    ['before a declaration', 1, '/** How long a lease lasts. */\nconst a = 1'],
    [
      'of several lines',
      2,
      '/**\n * Told of a batch of which some items were refused,\n * and of others.\n */\nconst a = 1',
    ],
    ['within code', 2, 'if (a) {\n  // Of several the first.\n  b()\n}'],
  ])('is refused: %s', (_, line, text) => {
    expect(faultsOf(text)).toEqual([expect.stringMatching(new RegExp(`^services/worker/a\\.ts:${line} begins with`))])
  })

  it.each([
    ['a sentence', '// Starts and ends sessions.'],
    ['a noun phrase', '/** Life of a lease. */'],
    ['a later line of a comment', '// Names the sender, and says\n// What it sent.'],
    ['a name that begins so', '// Offsets of the records.'],
    ['code', "const text = 'What is this?'"],
  ])('is not %s', (_, text) => expect(faultsOf(text)).toEqual([]))

  it('is looked for in services, schemas and scripts', () => {
    const text = '// What it does.'
    expect(faultsOf(text, 'scripts/a.ts')).toHaveLength(1)
    expect(faultsOf(text, 'schemas/a.ts')).toHaveLength(1)
    expect(faultsOf(text, 'test/unit/a.test.ts')).toEqual([])
  })
})
