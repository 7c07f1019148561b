// The left side of the playground: messages, variables, tools, and the form of the answer.
import { type DragEvent, useState } from 'react'
import { Button, IconButton } from '../parts/button.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'
import { T } from '../parts/text.tsx'
import { Attach, attachmentsOf, withFiles } from './attach.tsx'
import {
  type Draft,
  type DraftMessage,
  emptyMessage,
  emptyVariables,
  type Format,
  formats,
  hasFiles,
  roleNames,
  variablesOf,
} from './draft.ts'

type Props = { draft: Draft; change(part: Partial<Draft>): void }

export function Messages({ draft, change }: Props) {
  const setMessage = (key: number, part: Partial<DraftMessage>) =>
    change({ messages: draft.messages.map((one) => (one.key === key ? { ...one, ...part } : one)) })
  return (
    <section className="prompt" aria-label="Messages" tabIndex={0}>
      {draft.messages.map((message, place) => (
        <MessageForm
          key={message.key}
          message={message}
          place={place}
          onChange={(part) => setMessage(message.key, part)}
          onRemove={() => change({ messages: draft.messages.filter(({ key }) => key !== message.key) })}
        />
      ))}
      <div className="acts">
        <Button onClick={() => change({ messages: [...draft.messages, emptyMessage()] })}>Add a message</Button>
      </div>
      <Variables draft={draft} change={change} />
      <label className="labelled">
        <span>Response format</span>
        <Select value={draft.format} of={formats} onValue={(value) => change({ format: value as Format })} />
      </label>
      {draft.format === 'json_schema' && (
        <label className="labelled">
          <span>JSON Schema</span>
          <textarea
            className="mono"
            rows={6}
            spellCheck={false}
            value={draft.schema}
            onChange={({ target }) => change({ schema: target.value })}
          />
        </label>
      )}
      <details open={draft.tools !== ''}>
        <summary>
          Tools <span className="dim">JSON, in the format of the OpenAI API</span>
        </summary>
        <textarea
          className="mono"
          aria-label="Tools"
          rows={6}
          spellCheck={false}
          value={draft.tools}
          onChange={({ target }) => change({ tools: target.value })}
        />
      </details>
    </section>
  )
}

type MessageProps = {
  message: DraftMessage
  place: number
  onChange(part: Partial<DraftMessage>): void
  onRemove(): void
}

function MessageForm({ message, place, onChange, onRemove }: MessageProps) {
  const [isOver, setOver] = useState(false)
  const [fault, setFault] = useState<string>()
  // Models are sent files of users alone.
  const takesFiles = message.role === 'user'
  const take = async (files: Iterable<File>) => {
    const { fault: why, ...attached } = await withFiles(attachmentsOf(message), files)
    setFault(why)
    onChange(attached)
  }
  const drop = takesFiles && {
    'data-drop': isOver ? 'file' : undefined,
    onDragOver: (event: DragEvent) => {
      if (!event.dataTransfer.types.includes('Files')) return
      event.preventDefault()
      setOver(true)
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      setOver(false)
      if (event.dataTransfer.files.length === 0) return
      event.preventDefault()
      void take([...event.dataTransfer.files])
    },
  }
  return (
    <div className={`message by-${message.role}`} {...drop}>
      <div className="message-head">
        <Select
          aria-label={`Role of message ${place + 1}`}
          value={message.role}
          of={roleNames.map((role) => [role, role] as const)}
          onValue={(value) => onChange({ role: value as DraftMessage['role'] })}
        />
        {message.role === 'tool' && (
          <label className="labelled">
            <span>Tool call ID</span>
            <Input
              aria-label={`Tool call ID that message ${place + 1} answers`}
              value={message.toolCallId}
              onText={(text) => onChange({ toolCallId: text })}
            />
          </label>
        )}
        {message.toolCalls !== undefined && <span className="dim">with tool calls</span>}
        <span className="grow" />
        <IconButton icon="close" label={`Remove message ${place + 1}`} onClick={onRemove} />
      </div>
      <textarea
        aria-label={`Message ${place + 1}`}
        dir="auto"
        rows={Math.min(14, Math.max(2, message.text.split('\n').length))}
        value={message.text}
        onChange={({ target }) => onChange({ text: target.value })}
        onPaste={(event) => {
          const files = [...event.clipboardData.files]
          if (files.length === 0 || !takesFiles) return
          event.preventDefault()
          void take(files)
        }}
      />
      {(takesFiles || hasFiles(message)) && (
        <Attach
          label={`message ${place + 1}`}
          attached={attachmentsOf(message)}
          fault={fault}
          onFiles={(files) => void take(files)}
          onChange={onChange}
        />
      )}
    </div>
  )
}

const doubleBraces = /\{\{\s*\w+\s*\}\}/

function Variables({ draft, change }: Props) {
  const names = variablesOf(draft.messages)
  const hint = draft.messages.some(({ text }) => doubleBraces.test(text)) && (
    <p className="second" role="status">
      Double braces are {names.length === 0 ? 'sent as they are' : 'not variables'}. A variable has single braces:{' '}
      {'{name}'}
    </p>
  )
  if (names.length === 0) return hint
  const empty = emptyVariables(draft)
  return (
    <fieldset className="variables">
      <legend>Variables</legend>
      {hint}
      {names.map((name) => (
        <label key={name} className="labelled">
          <span>
            <T text={name} max={60} />
            {empty.includes(name) && <span className="s-warning"> is empty</span>}
          </span>
          <textarea
            rows={1}
            aria-label={name}
            value={draft.variables[name] ?? ''}
            onChange={({ target }) => change({ variables: { ...draft.variables, [name]: target.value } })}
          />
        </label>
      ))}
    </fieldset>
  )
}
