// Markdown of answers as a tree, within bounds; media of values, and what their first bytes say they are.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { conversationOf } from '../../services/web/page/engine/conversation.ts'
import { type Block, followed, type Inline, markdownOf } from '../../services/web/page/engine/markdown.ts'
import { fileName, maybePicture, mediaIn, shownAs, withPictures } from '../../services/web/page/engine/media.ts'

const inlineText = (part: Inline): string => {
  if (typeof part === 'string') return part
  if (part.is === 'break') return '/'
  if (part.is === 'code') return `\`${part.text}\``
  if (part.is === 'image') return `!${part.text}<${part.address}>`
  const inner = part.inner.map(inlineText).join('')
  return part.is === 'link' ? `${inner}<${part.address}>` : `${part.is}(${inner})`
}
const line = (parts: readonly Inline[]) => parts.map(inlineText).join('')

/** A line per block, its depth as spaces. */
const outline = (blocks: readonly Block[] | null, depth = 0): string[] =>
  (blocks ?? []).flatMap((block) => {
    const shown = (text: string) => [`${' '.repeat(depth)}${block.is} ${text}`.trimEnd()]
    switch (block.is) {
      case 'paragraph':
        return shown(line(block.inner))
      case 'heading':
        return shown(`${block.level} ${line(block.inner)}`)
      case 'code':
        return shown(`${block.language}: ${block.text}`)
      case 'quote':
        return [...shown(''), ...outline(block.blocks, depth + 1)]
      case 'list':
        return [...shown(String(block.start ?? '-')), ...block.items.flatMap((item) => outline(item, depth + 1))]
      case 'table':
        return [block.head, ...block.rows].flatMap((row) => shown(row.map(line).join(' | ')))
      default:
        return shown('')
    }
  })
const one = (text: string): string => outline(markdownOf(text)).join('\n')

describe('markdown', () => {
  it('is headings, lists, tables, quotes, code and paragraphs with their line breaks', () => {
    const text = [
      '# Title *here* #',
      'first',
      'second',
      '',
      '1. one',
      '2. two',
      '   - inner',
      '   goes on',
      '',
      '| a | b |',
      '|---|--:|',
      '| 1 | x \\| y |',
      '| 2 |',
      '> said',
      '> more',
      '',
      '```ts',
      'a <b>',
      '',
      '```',
      '***',
    ].join('\n')
    expect(outline(markdownOf(text))).toEqual([
      'heading 1 Title emphasis(here)',
      'paragraph first/second',
      'list 1',
      ' paragraph one',
      ' paragraph two',
      ' list -',
      '  paragraph inner/goes on',
      'table a | b',
      'table 1 | x | y',
      'table 2 |',
      'quote',
      ' paragraph said/more',
      'code ts: a <b>',
      'rule',
    ])
  })

  it.each([
    ['**bold *in* it** ~~off~~ `a*b`', 'strong(bold emphasis(in) it) strike(off) `a*b`'],
    ['`a\nb` ` c `', '`a b` `c`'],
    ['snake_case_name 2 * 3 * 4 \\*no\\*', 'snake_case_name 2 * 3 * 4 *no*'],
    ['[y](https://ok.example/a(b) "title")', 'y<https://ok.example/a(b)>'],
    ['see https://a.example/b_c_d.', 'see https://a.example/b_c_d<https://a.example/b_c_d>.'],
    ['![pixel](https://evil.example/x.png)', '!pixel<https://evil.example/x.png>'],
    ['[x](javascript:alert(1)) [y](data:text/html,x)', '[x](javascript:alert(1)) [y](data:text/html,x)'],
    ['<b onclick=x>&amp;</b>', '<b onclick=x>&amp;</b>'],
    ['**open and *open', '**open and *open'],
    ['[раypal](https://раypal.example/)', 'раypal<https://xn--ypal-43d9g.example/>'],
  ])('%s', (text, expected) => {
    expect(one(text)).toBe(`paragraph ${expected}`)
  })

  it('leads to no other addresses than those of pages and mail', () => {
    expect(followed('mailto:a@b.example')).toBe('mailto:a@b.example')
    for (const address of ['JaVaScRiPt:1', 'java\nscript:1', 'data:,x', 'blob:x', 'file:///x', '//a.example', '/x', ''])
      expect([address, followed(address)]).toEqual([address, null])
  })

  it('keeps every word of any text, or leaves the text as it was', () => {
    const marks = fc.constantFrom(
      '*',
      '_',
      '**',
      '`',
      '[',
      '](',
      ')',
      '#',
      '> ',
      '- ',
      '1. ',
      '|',
      '\n',
      ' ',
      '```',
      'wo',
      'rd',
    )
    fc.assert(
      fc.property(fc.array(marks, { maxLength: 60 }), (parts) => {
        const text = parts.join('')
        const words = (all: string) => all.replaceAll(/[^a-z]/g, '')
        // Columns beyond those of its head are no part of a table, and a fence may name a language.
        if (text.includes('|') || text.includes('```')) return void markdownOf(text)
        const blocks = markdownOf(text)
        if (blocks === null) return
        const said = JSON.stringify(blocks).replaceAll(/"(is|start|level|inner|items|blocks|language|address)":/g, '')
        const names =
          /"(paragraph|heading|list|quote|rule|strong|emphasis|strike|break|code|link|image|null|text)"|null|"text":/g
        expect(words(said.replaceAll(names, ''))).toBe(words(text))
      }),
    )
  })

  it('gives up, and soon, where a text is made to cost time', () => {
    const texts = [
      '['.repeat(60_000),
      '*a'.repeat(30_000),
      '> '.repeat(20_000),
      '- '.repeat(20_000),
      '_a '.repeat(20_000),
    ]
    for (const text of texts) {
      const blocks = markdownOf(text)
      const parts = blocks === null ? 0 : (JSON.stringify(blocks).match(/"is"/g)?.length ?? 0)
      expect(parts).toBeLessThanOrEqual(20_000)
    }
    expect(markdownOf('*a* '.repeat(30_000))).toBeNull()
  })
})

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const inline = { from: 'base64', type: 'image/png', base64: png }

describe('media', () => {
  const content = { _type: 'CustomWeaveType', files: { 'image.png': 'abc', 'metadata.json': 'def' } }
  it.each([
    ['OpenAI', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }, inline],
    ['OpenAI responses', { type: 'input_image', image_url: `data:image/png;base64,${png}` }, inline],
    ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }, inline],
    ['Gemini', { inlineData: { mimeType: 'image/png', data: png } }, inline],
    ['Vercel', { type: 'file', mediaType: 'image/png', data: png }, inline],
    ['OpenTelemetry', { type: 'blob', mime_type: 'image/png', content: png }, inline],
    ['sound', { type: 'input_audio', input_audio: { data: png, format: 'wav' } }, { ...inline, type: 'audio/wav' }],
    ['Weave', { type: 'image_url', image_url: { url: content } }, { from: 'file', digest: 'abc' }],
    ['elsewhere', { type: 'image_url', image_url: { url: 'https://a.example/x' } }, { from: 'address' }],
    [
      'what a server took out',
      { type: 'image_url', image_url: { url: 'weave:///a/b/object/image-12ab.png:xyz' } },
      { from: 'ref' },
    ],
  ])('of messages are found: %s', (_, part, source) => {
    const said = conversationOf({ messages: [{ role: 'user', content: [part] }] }, null)
    expect(said?.[0]?.parts).toEqual([
      expect.objectContaining({ is: 'media', source: expect.objectContaining(source) }),
    ])
  })

  it('are cut out of texts where they are images of known types, up to a size and a number', () => {
    const uri = (type: string, letters = 'QUJD'.repeat(8)) => `data:${type};base64,${letters}`
    const shape = (text: string) => withPictures(text).map((one) => (typeof one === 'string' ? one : one.type))
    expect(shape(`a ${uri('image/png')} b${uri('image/webp')}`)).toEqual(['a ', 'image/png', ' b', 'image/webp'])
    for (const text of ['', 'plain', uri('image/svg+xml'), uri('text/html'), uri('image/png', 'QUI='), ';base64,'])
      expect(shape(text)).toEqual([text])
    const long = uri('image/png', 'A'.repeat(2 ** 18 + 4))
    expect(shape(long)).toEqual([long])
    expect(shape(uri('image/png').concat(' ').repeat(100)).filter((one) => one === 'image/png')).toHaveLength(20)
    expect([maybePicture('data:image/png;base64,', 100), maybePicture('data:image/png;base64,', 1e6)]).toEqual([
      true,
      false,
    ])
    expect(maybePicture('data:image/svg+xml;base64,', 100)).toBe(false)
  })

  it('of payloads are found with their paths; other texts are none', () => {
    const value = {
      a: [{ picture: content }],
      b: `data:image/png;base64,${png}`,
      c: png,
      d: 'weave:///a/b/object/thing:x',
    }
    expect(mediaIn(value, 'inputs').map(({ path }) => path)).toEqual(['inputs.a.0.picture', 'inputs.b'])
    expect(mediaIn({ _type: 'CustomWeaveType', files: { 'obj.py': 'x' } }, 'inputs')).toEqual([])
    expect(
      mediaIn(
        Array.from({ length: 100 }, () => content),
        'output',
      ),
    ).toHaveLength(24)
  })

  it('are shown only as what their first bytes are', () => {
    const bytes = Uint8Array.from(Buffer.from(png, 'base64'))
    expect(shownAs(bytes, null)).toEqual({ type: 'image/png', kind: 'image' })
    expect(shownAs(bytes, 'image/png')?.kind).toBe('image')
    expect(shownAs(bytes, 'image/jpeg')).toBeNull()
    for (const text of ['<svg onload=alert(1)>', '<html>', 'GIF8', '%PDF-1.7', ''])
      expect([text, shownAs(new TextEncoder().encode(text), 'image/svg+xml')]).toEqual([text, null])
    expect(fileName('../../<x>.html')).toBe('-..-x-.html')
  })
})
