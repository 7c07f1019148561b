import { expect, it } from 'vitest'
import { TextBuffer } from '../../services/core/memory/text-buffer.ts'

it('holds the texts and bytes that were added, of any language and size, and the text of another one', () => {
  const pieces = ['', 'a', 'ä', '語', '😀', 'x'.repeat(1000), '語'.repeat(5000), '"\\n"']
  const all = new TextBuffer()
  const other = new TextBuffer()
  for (let round = 0; round < 20; round++)
    for (const piece of pieces) {
      all.add(`${piece},`)
      const bytes = Buffer.from(`"${piece}"`)
      other.addBytes(bytes, 1, bytes.length - 1)
      other.addByte(44)
    }
  const text = pieces
    .map((piece) => `${piece},`)
    .join('')
    .repeat(20)
  expect(all.text()).toBe(text)
  expect(all.length).toBe(Buffer.byteLength(text))
  all.addAll(other)
  other.add('later')
  expect(all.text(1)).toBe(text + text.slice(0, -1))
  expect(new TextBuffer().text()).toBe('')
})
