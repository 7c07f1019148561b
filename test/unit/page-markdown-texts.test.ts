// Markdown of answers, mark by mark: what each is, what stays text, and that nothing hostile is followed or made a part.
import { describe, expect, it } from 'vitest'
import { type Block, followed, type Inline, markdownOf } from '../../services/web/page/engine/markdown.ts'

const inlineText = (part: Inline): string => {
  if (typeof part === 'string') return part
  if (part.is === 'break') return '¶'
  if (part.is === 'code') return `code(${part.text})`
  if (part.is === 'image') return `image(${part.text} ${part.address})`
  const inner = part.inner.map(inlineText).join('')
  return part.is === 'link' ? `link(${inner} ${part.address})` : `${part.is}(${inner})`
}
const textOf = (parts: readonly Inline[]) => parts.map(inlineText).join('')

/** A block in one line: its kind, and within brackets what is in it. */
const blockText = (block: Block): string => {
  switch (block.is) {
    case 'paragraph':
      return `p ${textOf(block.inner)}`
    case 'heading':
      return `h${block.level} ${textOf(block.inner)}`
    case 'code':
      return `code ${block.language}|${block.text}`
    case 'quote':
      return `quote[${block.blocks.map(blockText).join('; ')}]`
    case 'list':
      return `list ${block.start ?? '-'}[${block.items.map((item) => item.map(blockText).join('; ')).join(' / ')}]`
    case 'table':
      return `table[${[block.head, ...block.rows].map((row) => row.map(textOf).join(' | ')).join(' / ')}]`
    default:
      return block.is
  }
}
const read = (text: string): string[] | null => markdownOf(text)?.map(blockText) ?? null

describe('addresses', () => {
  it.each<[text: string, ...blocks: string[]]>([
    ['[a](https://ok.example)', 'p link(a https://ok.example/)'],
    ['[a](<https://ok.example/b>)', 'p link(a https://ok.example/b)'],
    ["[a](https://ok.example 'title')", 'p link(a https://ok.example/)'],
    ['[a](  https://ok.example  )', 'p link(a https://ok.example/)'],
    ['[**a** `b`](https://ok.example)', 'p link(strong(a) code(b) https://ok.example/)'],
    ['[a [b] c](https://ok.example)', 'p link(a [b] c https://ok.example/)'],
    ['[a\\]b](https://ok.example)', 'p link(a]b https://ok.example/)'],
    ['[](https://ok.example)', 'p link( https://ok.example/)'],
    ['[mail](mailto:a@b.example)', 'p link(mail mailto:a@b.example)'],
    // A reader sees where it leads, whatever it looks like.
    [
      '[https://bank.example](https://evil.example)',
      'p link(link(https://bank.example https://bank.example/) https://evil.example/)',
    ],
    ['[a](https://bank.example@evil.example/)', 'p link(a https://bank.example@evil.example/)'],
    ['[a](HTTPS://OK.EXAMPLE/B)', 'p link(a https://ok.example/B)'],
    ['[a](https:ok.example)', 'p link(a https://ok.example/)'],
    ['[![i](https://e.example/x)](https://ok.example)', 'p link(image(i https://e.example/x) https://ok.example/)'],
    ['![i](data:image/png;base64,AAAA)', 'p image(i null)'],
    ['![i](javascript:alert(1))', 'p image(i null)'],
    ['![*i*](https://e.example/x.svg)', 'p image(*i* https://e.example/x.svg)'],
    ['<https://ok.example>', 'p <link(https://ok.example https://ok.example/)>'],
    ['https://ok.example/a_b_c?d=*e*&f', 'p link(https://ok.example/a_b_c?d=*e*&f https://ok.example/a_b_c?d=*e*&f)'],
    ['"https://ok.example", he said.', 'p "link(https://ok.example https://ok.example/)", he said.'],
    ['(https://ok.example)', 'p (link(https://ok.example https://ok.example/))'],
    ['(https://ok.example/a_(b)).', 'p (link(https://ok.example/a_(b) https://ok.example/a_(b))).'],
    ['https://ok.example/(x)', 'p link(https://ok.example/(x) https://ok.example/(x))'],
    ['***both*** _**a**_', 'p strong(emphasis(both)) emphasis(strong(a))'],
    ['**https://ok.example**', 'p strong(link(https://ok.example https://ok.example/))'],
    ['xhttps://ok.example', 'p xhttps://ok.example'],
    ['https://', 'p https://'],
    ['http:// a', 'p http:// a'],
    ['`https://ok.example`', 'p code(https://ok.example)'],
  ])('%s', (text, ...blocks) => {
    expect(read(text)).toEqual(blocks)
  })

  it.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](<javascript:alert(1)>)',
    '[a](java\tscript:alert(1))',
    '[a](\u0001javascript:alert(1))',
    '[a](\u200bjavascript:alert(1))',
    '[a](vbscript:x)',
    '[a](data:text/html,<script>alert(1)</script>)',
    '[a](blob:null/1)',
    '[a](file:///etc/passwd)',
    '[a](filesystem:x)',
    '[a](weave:///a/b/object/c:d)',
    '[a](view-source:ok.example)',
    '[a](/settings)',
    '[a](../x)',
    '[a](//evil.example)',
    '[a](#x)',
    '[a](?x=1)',
    '[a]()',
    '[a](https://)',
    '[a] (b)',
    '[a][b]',
    '[a',
    'a](b)',
    '[a](b',
    'javascript:alert(1)',
    '<javascript:alert(1)>',
    'ftp://a.example',
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">a</a>',
    '<!-- a -->',
    '&lt;b&gt; &amp; &#106;avascript:',
  ])('%s leads nowhere and is all there as text', (text) => {
    expect(read(text)).toEqual([`p ${text}`])
  })

  it.each<[address: string, href: string | null]>([
    ['https://a.example', 'https://a.example/'],
    [' https://a.example ', 'https://a.example/'],
    ['https://a.example/"><script>', 'https://a.example/%22%3E%3Cscript%3E'],
    ['https://a.example/ü?q=ü', 'https://a.example/%C3%BC?q=%C3%BC'],
    ['http://[::1]:8080/x', 'http://[::1]:8080/x'],
    ['http://0x7f.1', 'http://127.0.0.1/'],
    ['mailto:', 'mailto:'],
    ['http://a.example:99999', null],
    ['http://a b.example', null],
    ['https:\\\\a.example', 'https://a.example/'],
    ['\njavascript:1', null],
    ['about:blank', null],
    ['tel:112', null],
    ['__proto__', null],
  ])('%j is followed to %j', (address, href) => {
    expect(followed(address)).toBe(href)
  })
})

describe('marks in a line', () => {
  it.each<[text: string, ...blocks: string[]]>([
    ['*a* _b_ **c** __d__ ~~e~~', 'p emphasis(a) emphasis(b) strong(c) strong(d) strike(e)'],
    ['**a *b* `*c*`**', 'p strong(a emphasis(b) code(*c*))'],
    ['größe*n*', 'p größeemphasis(n)'],
    ['größe_n_ a__init__.py', 'p größe_n_ a__init__.py'],
    ['名_前_', 'p 名_前_'],
    ['5*6*7', 'p 5emphasis(6)7'],
    ['a * b * c', 'p a * b * c'],
    ['** a **', 'p ** a **'],
    ['~a~', 'p ~a~'],
    ['****', 'rule'],
    ['a ****', 'p a ****'],
    ['\\*a\\* \\`b\\` \\[c](https://ok.example)', 'p *a* `b` [c](link(https://ok.example https://ok.example/))'],
    ['C:\\new\\table', 'p C:\\new\\table'],
    ['a\\', 'p a\\'],
    ['``a ` b``', 'p code(a ` b)'],
    ['` `` `', 'p code(``)'],
    ['`a', 'p `a'],
    ['`a\nb`', 'p code(a b)'],
    ['*a\nb*', 'p emphasis(a¶b)'],
    ['*a\n\nb*', 'p *a', 'p b*'],
    ['😀*😀*', 'p 😀emphasis(😀)'],
    ['constructor __proto__', 'p constructor strong(proto)'],
    ['\u202eabc', 'p \u202eabc'],
  ])('%j', (text, ...blocks) => {
    expect(read(text)).toEqual(blocks)
  })
})

describe('blocks', () => {
  it.each<[text: string, ...blocks: string[]]>([
    [''],
    ['   \n\t\n'],
    ['a\r\nb\r\n\r\nc', 'p a¶b', 'p c'],
    ['# a', 'h1 a'],
    ['###### a #', 'h6 a'],
    ['####### a', 'p ####### a'],
    ['#a', 'p #a'],
    ['# C#', 'h1 C#'],
    ['#', 'h1 '],
    ['    # a', 'p # a'],
    ['a\n# b\nc', 'p a', 'h1 b', 'p c'],
    ['---', 'rule'],
    ['- - -', 'rule'],
    ['a\n---', 'p a', 'rule'],
    ['--', 'p --'],
    ['> a\n> > b\n> - c', 'quote[p a; quote[p b]; list -[p c]]'],
    ['> a\nb', 'quote[p a]', 'p b'],
    ['>', 'quote[]'],
  ])('%j', (text, ...blocks) => {
    expect(read(text)).toEqual(blocks)
  })

  it.each<[text: string, ...blocks: string[]]>([
    ['- a\n- b', 'list -[p a / p b]'],
    ['* a\n+ b', 'list -[p a / p b]'],
    ['- a\n  - b\n    - c\n  - d\n- e', 'list -[p a; list -[p b; list -[p c] / p d] / p e]'],
    ['- a\n\n  more\n- b', 'list -[p a; p more / p b]'],
    ['- a\nb', 'list -[p a¶b]'],
    ['- a\n\nb', 'list -[p a]', 'p b'],
    ['- a\n# b', 'list -[p a]', 'h1 b'],
    ['- ```\n  x\n  ```\n- b', 'list -[code |x / p b]'],
    ['- > a\n- # b', 'list -[quote[p a] / h1 b]'],
    ['- [ ] a\n- [x] b', 'list -[p [ ] a / p [x] b]'],
    ['1. a\n2. b\n7. c', 'list 1[p a / p b / p c]'],
    ['0) a', 'list 0[p a]'],
    ['2026. was a year', 'list 2026[p was a year]'],
    ['1234567890. a', 'p 1234567890. a'],
    ['1. a\n- b', 'list 1[p a]', 'list -[p b]'],
    ['1. a\n   - b\n2. c', 'list 1[p a; list -[p b] / p c]'],
    ['-a', 'p -a'],
    ['1.a', 'p 1.a'],
    ['-', 'list -[]'],
    // A line that may be a rule is one.
    ['- a\n- ---\n- b', 'list -[p a]', 'rule', 'list -[p b]'],
    ['-5 degrees', 'p -5 degrees'],
  ])('lists: %j', (text, ...blocks) => {
    expect(read(text)).toEqual(blocks)
  })

  it.each<[text: string, ...blocks: string[]]>([
    ['|a|b|\n|-|-|\n|1|2|', 'table[a | b / 1 | 2]'],
    ['a|b\n:-|-:\n1|2', 'table[a | b / 1 | 2]'],
    ['|a|\n|-|', 'table[a]'],
    ['|a|b|\n|-|-|\n|1|', 'table[a | b / 1 | ]'],
    ['|a|b|\n|-|-|\n||2|', 'table[a | b /  | 2]'],
    ['|*a*|\n|-|\n|[x](javascript:1)|\n|<b>|', 'table[emphasis(a) / [x](javascript:1) / <b>]'],
    ['|a|\n|-|\n|x\\|y|', 'table[a / x|y]'],
    ['|a|\n|-|\ntext', 'table[a]', 'p text'],
    // None of these is one.
    ['|a|b|\n|-|', 'p |a|b|¶|-|'],
    ['|a|b|', 'p |a|b|'],
    ['a|b\nc|d', 'p a|b¶c|d'],
    ['a\n|-|', 'p a¶|-|'],
  ])('tables: %j', (text, ...blocks) => {
    expect(read(text)).toEqual(blocks)
  })

  it.each<[text: string, ...blocks: string[]]>([
    ['```ts\nlet a\n```', 'code ts|let a'],
    ['~~~\n<script>\n~~~\na', 'code |<script>', 'p a'],
    ['```\n# a\n- b\n**c**\n```', 'code |# a\n- b\n**c**'],
    ['````\n```\n````', 'code |```'],
    ['```\n~~~\n```', 'code |~~~'],
    ['```c++\nx', 'code c++|x'],
    ['```', 'code |'],
    ['```\n\n\na\n\n```', 'code |\n\na\n'],
    ['a\n```\nb\n```', 'p a', 'code |b'],
    ['```js title="x"\na\n```', 'code js|a'],
    ['``` `a` ```', 'p code(`a`)'],
    ['```"><img src=x onerror=1>\na\n```', 'code |a'],
    ['```__proto__\na\n```', 'code __proto__|a'],
  ])('code: %j', (text, ...blocks) => {
    expect(read(text)).toEqual(blocks)
  })
})

it.each<[name: string, text: string]>([
  ['quotes within quotes', '> '.repeat(500).concat('a')],
  ['lists within lists', Array.from({ length: 60 }, (_, n) => `${'  '.repeat(n)}- a`).join('\n')],
  ['emphasis in emphasis', `${'*_'.repeat(200)}a${'_*'.repeat(200)}`],
  ['links in links', `${'['.repeat(50)}a${'](https://ok.example)'.repeat(50)}`],
  ['half letters', '\ud83d*\ude00*'],
  ['ends of text', '\u0000**a\u0000**'],
])('%s end, and keep the text', (_, text) => {
  const blocks = markdownOf(text)
  expect(blocks === null || JSON.stringify(blocks).includes('a') || text.includes('\ud83d')).toBe(true)
})
