// The messages of a model call: who said what, tools by name with their arguments and answers, text as it was sent.

import { type ReactNode, type RefObject, useRef } from 'react'
import { plural } from '../engine/format.ts'
import { withPictures } from '../engine/media.ts'
import type { Message, Part } from '../engine/message-parts.ts'
import { useKeys } from '../keys.ts'
import { usePreference } from '../preferences.ts'
import { AnswerGrounds } from './answer-grounds.tsx'
import { HtmlPreview } from './html-preview.tsx'
import { Icon } from './icon.tsx'
import { Markdown } from './markdown.tsx'
import { Media, SmallMedia } from './media.tsx'
import { T } from './text.tsx'

/** Longer texts are cut here: the tab of inputs and output has all of them. */
const maxText = 65_536
/** Longer system prompts are folded. */
const foldedLines = 12

const roleNames: Record<string, string> = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' }

/** Images that are written into the text show in their places. */
function Verbatim({ text }: { text: string }) {
  const pieces = withPictures(text)
  let left = maxText
  return (
    <div className="said" dir="auto">
      {pieces.map((piece, place) => {
        if (left <= 0) return null
        if (typeof piece !== 'string')
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
            <SmallMedia key={place} projectId="" source={piece} label={piece.name} tabIndex={0}>
              <T text={`data:${piece.name};base64,${piece.base64}`} max={200} />
            </SmallMedia>
          )
        const max = left
        left -= piece.length
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
        return <T key={place} text={piece} max={max} />
      })}
      {left < 0 && <p className="dim">Truncated. See Input / Output for all of it.</p>}
    </div>
  )
}

const Folded = ({ title, text }: { title: string; text: string }) => (
  <details>
    <summary>
      {title} <span className="dim">{plural(text.split('\n').length, 'line')}</span>
    </summary>
    <Verbatim text={text} />
  </details>
)

/** A call of a tool, or its answer. */
function ToolPart({ head, text, isFolded }: { head: ReactNode; text: string; isFolded: boolean }) {
  if (isFolded && text !== '')
    return (
      <details className="tool-call">
        <summary>{head}</summary>
        <Verbatim text={text} />
      </details>
    )
  return (
    <div className="tool-call">
      {head && <p>{head}</p>}
      {text !== '' && <Verbatim text={text} />}
    </div>
  )
}

/** A text that was said: answers as Markdown and pages, long system prompts folded. */
function Said({ text, role, isMarkdown }: { text: string; role: string; isMarkdown: boolean }) {
  if (role === 'system' && text.split('\n').length > foldedLines) return <Folded title="Prompt" text={text} />
  const verbatim = <Verbatim text={text} />
  if (role !== 'assistant') return verbatim
  return (
    <>
      {isMarkdown && text.length <= maxText ? <Markdown text={text} verbatim={verbatim} /> : verbatim}
      <HtmlPreview text={text} />
    </>
  )
}

type ShownProps = {
  projectId: string
  part: Part
  role: string
  isMarkdown: boolean
  isFolded: boolean
  toolLink: ToolLink | undefined
}

function Shown({ projectId, part, role, isMarkdown, isFolded, toolLink }: ShownProps) {
  switch (part.is) {
    case 'text':
      return <Said text={part.text} role={role} isMarkdown={isMarkdown} />
    case 'json':
      return <Verbatim text={part.text} />
    case 'reasoning':
      return <Folded title="Reasoning" text={part.text} />
    case 'compaction':
      return part.text === '' ? (
        <p className="second">
          <Icon name="text" /> Context compacted
        </p>
      ) : (
        <Folded title="Context compacted" text={part.text} />
      )
    case 'refusal':
      return (
        <div className="s-error">
          Refused: <T text={part.text} max={maxText} />
        </div>
      )
    case 'call': {
      const head = (
        <>
          <Icon name="tool" label="calls" className="k-tool" />{' '}
          {toolLink?.(part, <T text={part.name} />) ?? <T text={part.name} />} <T text={part.id ?? ''} max={60} />
        </>
      )
      return <ToolPart head={head} isFolded={isFolded} text={part.arguments} />
    }
    case 'answer': {
      const isNamed = (part.name ?? part.id) !== null
      const head = isNamed && (
        <>
          <Icon name="right" label="answers" /> <T text={part.name ?? ''} /> <T text={part.id ?? ''} max={60} />
        </>
      )
      return <ToolPart head={head || (isFolded && 'Answer')} isFolded={isFolded} text={part.text} />
    }
    case 'media':
      return part.source !== null ? (
        <Media projectId={projectId} source={part.source} />
      ) : (
        <p className="second">
          <Icon name="text" /> <T text={part.text} />
        </p>
      )
    default:
      return part satisfies never
  }
}

type ToolLink = (part: Part, name: ReactNode) => ReactNode | undefined

type ConversationProps = {
  projectId: string
  messages: readonly Message[]
  /** Whether what tools were asked and answered unfolds only when somebody wants it. */
  foldsTools?: boolean
  /** Link to the span of a tool call; undefined where there is none. */
  toolLink?: ToolLink
  /** Whether keys go from message to message: of several conversations on a page, in none. */
  hasKeys?: boolean
}

/** Keys that go to the message behind, or before, the one that has the focus. */
function useMessageKeys(list: RefObject<HTMLElement | null>, isOn: boolean): void {
  const step = (by: 1 | -1) => {
    const items = [...(list.current?.children ?? [])] as HTMLElement[]
    const at = items.findIndex((item) => item.contains(document.activeElement))
    const next = items[at < 0 ? (by === 1 ? 0 : -1) : at + by]
    next?.focus({ preventScroll: true })
    next?.scrollIntoView({ block: 'start' })
  }
  useKeys(isOn ? { nextMessage: () => step(1), previousMessage: () => step(-1) } : {})
}

export function Conversation(props: ConversationProps) {
  const { projectId, messages, toolLink, foldsTools = false, hasKeys = false } = props
  const isMarkdown = usePreference('markdown') === 'on'
  const list = useRef<HTMLOListElement>(null)
  useMessageKeys(list, hasKeys)
  return (
    <ol ref={list} className="conversation scroll" tabIndex={0} aria-label="Messages">
      {messages.map((message, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages of one call stay where they are
        <li key={place} tabIndex={-1} className={`message by-${message.role in roleNames ? message.role : 'other'}`}>
          <h3>
            <T text={(Object.hasOwn(roleNames, message.role) && roleNames[message.role]) || message.role} max={40} />{' '}
            {message.name !== null && (
              <span className="dim">
                <T text={message.name} max={60} />
              </span>
            )}
          </h3>
          {message.parts.map((part, at) => (
            <Shown
              // biome-ignore lint/suspicious/noArrayIndexKey: parts of one message stay where they are
              key={at}
              projectId={projectId}
              part={part}
              isMarkdown={isMarkdown}
              role={message.role}
              isFolded={foldsTools}
              toolLink={toolLink}
            />
          ))}
          {message.grounds && <AnswerGrounds {...message.grounds} />}
          {message.others !== undefined && <Folded title="Other fields" text={message.others} />}
          {message.parts.length === 0 && <p className="dim">nothing</p>}
        </li>
      ))}
    </ol>
  )
}
