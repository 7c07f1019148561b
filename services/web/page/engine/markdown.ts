// Markdown as a tree of a few kinds of parts, for answers of models. HTML in it stays text, and work has bounds.

export type Inline =
  | string
  | { is: 'code'; text: string }
  | { is: 'strong' | 'emphasis' | 'strike'; inner: Inline[] }
  | { is: 'link'; address: string; inner: Inline[] }
  /** Never loaded: its address is shown. */
  | { is: 'image'; address: string | null; text: string }
  | { is: 'break' }

export type Block =
  | { is: 'paragraph'; inner: Inline[] }
  | { is: 'heading'; level: number; inner: Inline[] }
  | { is: 'code'; language: string; text: string }
  | { is: 'quote'; blocks: Block[] }
  | { is: 'list'; start: number | null; items: Block[][] }
  | { is: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { is: 'rule' }

const maxParts = 20_000
const maxDepth = 8
const maxMs = 50
/** A mark whose other half is further away is text. */
const maxReach = 4_000

/** Thrown away with the tree: the text is shown as it is then. */
class TooMuch extends Error {}

type Budget = { parts: number; until: number }

function spend(budget: Budget): void {
  if (--budget.parts < 0 || (budget.parts % 64 === 0 && performance.now() > budget.until)) throw new TooMuch()
}

/** The address as a browser reads it, of the kinds that a reader may follow; null for all others. */
export function followed(address: string): string | null {
  try {
    const { protocol, href } = new URL(address)
    return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : null
  } catch {
    return null
  }
}

const pairs = [
  { mark: '**', is: 'strong' },
  { mark: '__', is: 'strong' },
  { mark: '~~', is: 'strike' },
  { mark: '*', is: 'emphasis' },
  { mark: '_', is: 'emphasis' },
] as const

/** Whether it is white space; so is what lies beyond the text. */
const isSpace = (sign = ' '): boolean => /\s/.test(sign)
const letter = /[\p{L}\p{N}_]/u
const escapable = /[!-/:-@[-`{-~]/
const bare = /https?:\/\/[^\s<>"'`]+/y
const target = /\(\s*<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+(?:"[^"\n]{0,300}"|'[^'\n]{0,300}'))?\s*\)/y

const at = (pattern: RegExp, text: string, from: number): RegExpExecArray | null => {
  pattern.lastIndex = from
  return pattern.exec(text)
}

type Read = { part: Inline; end: number } | null

function codeAt(text: string, from: number): Read {
  let ticks = 1
  while (text[from + ticks] === '`') ticks++
  const fence = '`'.repeat(ticks)
  let end = text.indexOf(fence, from + ticks)
  while (end !== -1 && text[end + ticks] === '`') end = text.indexOf(fence, end + ticks + 1)
  if (end === -1 || end - from > maxReach) return null
  // The end of a line is a space in code.
  const code = text.slice(from + ticks, end).replaceAll('\n', ' ')
  return { part: { is: 'code', text: code.replace(/^ (.+) $/, '$1') }, end: end + ticks }
}

function linkAt(text: string, from: number, budget: Budget, depth: number): Read {
  const isImage = text[from] === '!'
  const open = isImage ? from + 1 : from
  if (text[open] !== '[') return null
  let level = 0
  let close = open
  for (; close < text.length && close - open < 1_000; close++) {
    if (text[close] === '\\') close++
    else if (text[close] === '[') level++
    else if (text[close] === ']' && --level === 0) break
  }
  if (level !== 0 || text[close] !== ']') return null
  const found = at(target, text, close + 1)
  if (found === null) return null
  const end = close + 1 + found[0].length
  const address = followed(found[1] ?? '')
  const label = text.slice(open + 1, close)
  if (isImage) return { part: { is: 'image', address, text: label }, end }
  if (address === null) return null
  return { part: { is: 'link', address, inner: inlinesOf(label, budget, depth + 1) }, end }
}

/** Whether what stands at `end` belongs to a longer mark, or to the inner one of `***both***`. */
function isOfAnother(text: string, mark: string, start: number, end: number): boolean {
  if (mark.length === 1) return text[end + 1] === mark || text[end - 1] === mark
  return text[start] === mark[0] && text[end + mark.length] === mark[0]
}

function pairAt(text: string, from: number, budget: Budget, depth: number): Read {
  for (const { mark, is } of pairs) {
    if (!text.startsWith(mark, from)) continue
    const start = from + mark.length
    // Underscores within words are text.
    const isWord = (place: number) => mark.startsWith('_') && letter.test(text[place] ?? '')
    if (isWord(from - 1) || isSpace(text[start])) continue
    for (let end = text.indexOf(mark, start); end !== -1 && end - from < maxReach; end = text.indexOf(mark, end + 1)) {
      if (end === start || isOfAnother(text, mark, start, end) || isWord(end + mark.length) || isSpace(text[end - 1]))
        continue
      return { part: { is, inner: inlinesOf(text.slice(start, end), budget, depth + 1) }, end: end + mark.length }
    }
  }
  return null
}

/** An address without the signs of the sentence that it stands in; a bracket that it opens is its own. */
function withoutClosing(address: string): string {
  let end = address.length
  let unopened = address.split(')').length - address.split('(').length
  for (; /[.,;:!?)\]}*_]/.test(address[end - 1] ?? ''); end--) if (address[end - 1] === ')' && unopened-- <= 0) break
  return address.slice(0, end)
}

function addressAt(text: string, from: number): Read {
  if (letter.test(text[from - 1] ?? '')) return null
  const found = at(bare, text, from)?.[0]
  const written = found === undefined ? undefined : withoutClosing(found)
  const address = written === undefined ? null : followed(written)
  return written === undefined || address === null
    ? null
    : { part: { is: 'link', address, inner: [written] }, end: from + written.length }
}

function readInline(text: string, from: number, budget: Budget, depth: number): Read {
  const sign = text[from] as string
  if (sign === '\n') return { part: { is: 'break' }, end: from + 1 }
  if (sign === '`') return codeAt(text, from)
  if (sign === '[' || sign === '!') return linkAt(text, from, budget, depth)
  if (sign === 'h') return addressAt(text, from)
  return pairAt(text, from, budget, depth)
}

const signs = /[\n`[!h*_~\\]/g

function inlinesOf(text: string, budget: Budget, depth = 0): Inline[] {
  const parts: Inline[] = []
  let plain = ''
  let from = 0
  const put = (part: Inline) => {
    if (plain !== '') parts.push(plain)
    plain = ''
    parts.push(part)
  }
  while (from < text.length) {
    signs.lastIndex = from
    const next = depth > maxDepth ? text.length : (signs.exec(text)?.index ?? text.length)
    plain += text.slice(from, next)
    from = next
    if (from === text.length) break
    spend(budget)
    if (text[from] === '\\' && escapable.test(text[from + 1] ?? '')) {
      plain += text[from + 1]
      from += 2
      continue
    }
    const read = readInline(text, from, budget, depth)
    if (read === null) plain += text[from++]
    else {
      put(read.part)
      from = read.end
    }
  }
  if (plain !== '') parts.push(plain)
  return parts
}

const heading = /^ {0,3}(#{1,6})(?:[ \t]+|$)/
const fenceStart = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]{0,30})[^`]*$/
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/
const quote = /^ {0,3}> ?/
const item = /^( {0,3})([-*+]|(\d{1,9})[.)])( {1,4}|\t|$)/
const tableRule = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/

/** Lines that are taken from the front, and the block that they are. */
type Taken = { block: Block; lines: number } | null

function fenceOf(lines: readonly string[], from: number): Taken {
  const found = fenceStart.exec(lines[from] as string)
  const fence = found?.[1]
  if (fence === undefined) return null
  const isEnd = (line: string) => {
    const trimmed = line.trim()
    return trimmed.length >= fence.length && trimmed === (fence[0] as string).repeat(trimmed.length)
  }
  let end = from + 1
  while (end < lines.length && !isEnd(lines[end] as string)) end++
  const text = lines.slice(from + 1, end).join('\n')
  return { block: { is: 'code', language: found?.[2] ?? '', text }, lines: Math.min(end + 1, lines.length) - from }
}

function quoteOf(lines: readonly string[], from: number, budget: Budget, depth: number): Taken {
  if (!quote.test(lines[from] as string)) return null
  let end = from
  while (end < lines.length && quote.test(lines[end] as string)) end++
  const inner = lines.slice(from, end).map((line) => line.replace(quote, ''))
  return { block: { is: 'quote', blocks: blocksOf(inner, budget, depth + 1) }, lines: end - from }
}

function listOf(lines: readonly string[], from: number, budget: Budget, depth: number): Taken {
  const first = item.exec(lines[from] as string)
  if (first === null) return null
  const isOrdered = first[3] !== undefined
  const items: string[][] = []
  let width = 0
  let end = from
  for (; end < lines.length; end++) {
    const line = lines[end] as string
    const found = item.exec(line)
    const indent = line.length - line.trimStart().length
    const isBlank = line.trim() === ''
    if (!isBlank && items.length > 0 && indent >= width) items.at(-1)?.push(line.slice(width))
    else if (found !== null && (found[3] !== undefined) === isOrdered && !rule.test(line)) {
      width = found[0].length
      items.push([line.slice(width)])
    } else if (isBlank && items.length > 0) items.at(-1)?.push('')
    // A line that goes on without an indent, unless a blank one is before it.
    else if (items.length > 0 && (lines[end - 1] as string).trim() !== '' && !startsBlock(line))
      items.at(-1)?.push(line.trim())
    else break
  }
  return {
    block: {
      is: 'list',
      start: isOrdered ? Number(first[3]) : null,
      items: items.map((inner) => blocksOf(inner, budget, depth + 1)),
    },
    lines: end - from,
  }
}

const cellsOf = (line: string): string[] => {
  const cells = line
    .trim()
    .replace(/^\|/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
  return cells.length > 1 && cells.at(-1) === '' ? cells.slice(0, -1) : cells
}

function tableOf(lines: readonly string[], from: number, budget: Budget): Taken {
  const [first = '', second = ''] = [lines[from], lines[from + 1]]
  if (!first.includes('|') || !second.includes('-') || second.length > 2_000 || !tableRule.test(second)) return null
  const head = cellsOf(first)
  if (cellsOf(second).length !== head.length) return null
  let end = from + 2
  while (end < lines.length && (lines[end] as string).includes('|')) end++
  const rows = lines.slice(from + 2, end).map((line) => {
    const cells = cellsOf(line)
    return head.map((_, n) => inlinesOf(cells[n] ?? '', budget))
  })
  return { block: { is: 'table', head: head.map((cell) => inlinesOf(cell, budget)), rows }, lines: end - from }
}

function headingOf(line: string, budget: Budget): Block | null {
  const found = heading.exec(line)
  if (found === null) return null
  const text = line.slice(found[0].length).trim()
  const shown = text.replace(/(?:^|[ \t])#+$/, '')
  return { is: 'heading', level: (found[1] as string).length, inner: inlinesOf(shown, budget) }
}

const startsBlock = (line: string): boolean =>
  heading.test(line) || fenceStart.test(line) || quote.test(line) || rule.test(line) || item.test(line)

function blocksOf(lines: readonly string[], budget: Budget, depth = 0): Block[] {
  const blocks: Block[] = []
  let from = 0
  while (from < lines.length) {
    spend(budget)
    const line = lines[from] as string
    if (line.trim() === '') {
      from++
      continue
    }
    const isDeep = depth > maxDepth
    const taken =
      fenceOf(lines, from) ??
      (isDeep ? null : quoteOf(lines, from, budget, depth)) ??
      (isDeep || rule.test(line) ? null : listOf(lines, from, budget, depth)) ??
      tableOf(lines, from, budget)
    if (taken !== null) {
      blocks.push(taken.block)
      from += taken.lines
      continue
    }
    const single: Block | null = rule.test(line) ? { is: 'rule' } : headingOf(line, budget)
    if (single !== null) {
      blocks.push(single)
      from++
      continue
    }
    let end = from + 1
    while (end < lines.length && (lines[end] as string).trim() !== '' && !startsBlock(lines[end] as string)) end++
    // Line breaks of a model's answer are meant.
    const text = lines
      .slice(from, end)
      .map((one) => one.trim())
      .join('\n')
    blocks.push({ is: 'paragraph', inner: inlinesOf(text, budget) })
    from = end
  }
  return blocks
}

/** The tree of a text; null where it is too large or too deep for that, which is shown as it is. */
export function markdownOf(text: string): Block[] | null {
  try {
    return blocksOf(text.split(/\r?\n/), { parts: maxParts, until: performance.now() + maxMs })
  } catch (error) {
    if (error instanceof TooMuch || error instanceof RangeError) return null
    throw error
  }
}
