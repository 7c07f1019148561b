// Markdown as elements of a closed list: nothing of the text becomes HTML, nothing is loaded.
import { memo, type ReactNode, useMemo } from 'react'
import { type Block, type Inline, markdownOf } from '../engine/markdown.ts'
import { setPreference, usePreference } from '../preferences.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { T } from './text.tsx'
import './media.css'

/** A link to elsewhere: it tells its address, and that other page learns nothing of this one. */
export const OutLink = ({ address, children }: { address: string; children: ReactNode }) => (
  <a className="out" href={address} title={address} target="_blank" rel="noopener noreferrer nofollow">
    {children}
  </a>
)

const elements = { strong: 'strong', emphasis: 'em', strike: 'del' } as const

function inlineOf(part: Inline): ReactNode {
  if (typeof part === 'string') return <T text={part} max={65_536} />
  switch (part.is) {
    case 'code':
      return (
        <code>
          <T text={part.text} max={65_536} />
        </code>
      )
    case 'link':
      return <OutLink address={part.address}>{inlinesOf(part.inner)}</OutLink>
    case 'image':
      return (
        <span className="elsewhere">
          <Icon name="image" label="image, not loaded" /> <T text={part.text} max={200} />{' '}
          {part.address !== null && <OutLink address={part.address}>{part.address.slice(0, 120)}</OutLink>}
        </span>
      )
    case 'break':
      return <br />
    default: {
      const Element = elements[part.is]
      return <Element>{inlinesOf(part.inner)}</Element>
    }
  }
}

const inlinesOf = (parts: readonly Inline[]): ReactNode[] =>
  // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text never move
  parts.map((part, place) => <Shown key={place} part={part} />)

const Shown = ({ part }: { part: Inline }) => inlineOf(part)

function Table({ head, rows }: { head: readonly Inline[][]; rows: readonly Inline[][][] }) {
  const cells = (line: readonly Inline[][], Cell: 'th' | 'td') =>
    // biome-ignore lint/suspicious/noArrayIndexKey: cells of one text never move
    line.map((cell, place) => <Cell key={place}>{inlinesOf(cell)}</Cell>)
  return (
    <div className="wide-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{cells(head, 'th')}</tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of one text never move
            <tr key={place}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Headings of an answer stand below those of the page. */
const headings = ['h4', 'h5', 'h6', 'h6', 'h6', 'h6'] as const

function BlockShown({ block }: { block: Block }) {
  switch (block.is) {
    case 'paragraph':
      return <p>{inlinesOf(block.inner)}</p>
    case 'heading': {
      const Heading = headings[block.level - 1] ?? 'h6'
      return <Heading>{inlinesOf(block.inner)}</Heading>
    }
    case 'code':
      return (
        <pre>
          <T text={block.text} max={65_536} />
        </pre>
      )
    case 'quote':
      return <blockquote>{blocksOf(block.blocks)}</blockquote>
    case 'list': {
      // biome-ignore lint/suspicious/noArrayIndexKey: items of one text never move
      const items = block.items.map((item, place) => <li key={place}>{blocksOf(item)}</li>)
      return block.start === null ? <ul>{items}</ul> : <ol start={block.start}>{items}</ol>
    }
    case 'table':
      return <Table head={block.head} rows={block.rows} />
    case 'rule':
      return <hr />
    default:
      return block satisfies never
  }
}

const blocksOf = (blocks: readonly Block[]): ReactNode[] =>
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one text never move
  blocks.map((block, place) => <BlockShown key={place} block={block} />)

/** Null where the text is too large for it: then it stands as it was sent. */
export const Markdown = memo(function Markdown({ text, verbatim }: { text: string; verbatim: ReactNode }) {
  const blocks = useMemo(() => markdownOf(text), [text])
  return blocks === null ? (
    verbatim
  ) : (
    <div className="markdown" dir="auto">
      {blocksOf(blocks)}
    </div>
  )
})

export function MarkdownSwitch() {
  const isOn = usePreference('markdown') === 'on'
  return (
    <Button
      aria-pressed={isOn}
      title="Answers as Markdown or as plain text (m)"
      onClick={() => setPreference('markdown', isOn ? 'off' : 'on')}
    >
      Markdown
    </Button>
  )
}
