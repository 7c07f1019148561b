// The playground: messages with variables, sent to one to four models side by side; from a recorded call or a prompt, or
// saved as a prompt.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { mayWrite, useSession } from '../api/session.ts'
import { count } from '../engine/format.ts'
import { ProjectPage, useProject } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { openQuery } from '../traces/trace-query.ts'
import { ask } from '../worker/client.ts'
import { AnswerColumn } from './answer-column.tsx'
import { Attach, attachmentsOf, withFiles } from './attach.tsx'
import { DatasetRows } from './dataset-rows.tsx'
import { useDifferences } from './differences.ts'
import {
  type Draft,
  type DraftMessage,
  emptyColumn,
  emptyDraft,
  emptyMessage,
  hasFiles,
  isSaid,
  keepDraft,
  type ModelColumn,
  maxColumns,
  messagesOf,
  messagesOfPrompt,
  readDraft,
  roleNames,
  variablesOf,
} from './draft.ts'
import { withRecordedFiles } from './recorded-files.ts'
import { SavePrompt } from './save-prompt.tsx'
import './playground.css'

const route = '/signed-in/p/$entity/$project/playground'
/** Inputs beyond this are no request to a model. */
const maxInputs = 2 ** 21

/** Parameters of a recorded request; what is missing stays empty. */
async function parametersOf(node: { doc: number; start: number; end: number } | undefined) {
  if (node === undefined || node.end - node.start > maxInputs) return {}
  const inputs = JSON.parse(await ask('copy', [node.doc, node.start, node.end])) as Record<string, unknown> | null
  return inputs !== null && typeof inputs === 'object' ? inputs : {}
}

/** What the page starts with; of `left` files of the call there are no copies in it. */
type Started = { draft: Draft; left: number }

function noticeOf(started: Started | null | undefined, what: 'call' | 'prompt'): string | undefined {
  if (started === null) return `This ${what} is not here, or holds no messages to a model.`
  if (started === undefined || started.left === 0) return undefined
  const files = started.left === 1 ? '1 file of this call is' : `${count(started.left)} files of this call are`
  return `${files} not among the messages: images (PNG, JPEG, GIF, WebP) and PDFs go along, up to 4 MiB each and four of each in a message.`
}

/** A recorded call as a draft; null when it holds no conversation. */
function useRecorded(projectId: string, id: string | undefined) {
  const client = useQueryClient()
  return useQuery({
    queryKey: ['playground call', projectId, id],
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn({ signal }): Promise<Started | null> {
      const opened = await client.fetchQuery(openQuery(projectId, id as string))
      if (!opened?.conversation) return null
      const { model, temperature, max_tokens, tools } = await parametersOf(opened.sections.inputs)
      const named = typeof model === 'string' ? model : (opened.row.model ?? '')
      const column = { ...emptyColumn(named.split(', ')[0]) }
      if (typeof temperature === 'number') column.temperature = String(temperature)
      if (typeof max_tokens === 'number') column.maxTokens = String(max_tokens)
      const said = messagesOf(opened.conversation)
      const { messages, left } = await withRecordedFiles(projectId, opened.conversation, said, signal)
      const draft = {
        ...emptyDraft(),
        messages,
        columns: [column],
        ...(Array.isArray(tools) && { tools: JSON.stringify(tools, null, 2) }),
      }
      return { draft, left }
    },
  })
}

/** A version of a prompt, `<object id>/<digest>`, as a draft; null when it holds no messages. */
const usePrompt = (project_id: string, prompt: string | undefined) =>
  useQuery({
    queryKey: ['playground prompt', project_id, prompt],
    enabled: prompt !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn({ signal }): Promise<Started | null> {
      const [, object_id = '', digest = ''] = /^(.*)\/([^/]*)$/.exec(prompt as string) ?? []
      const { obj } = await json('objects.read', { project_id, object_id, digest }, { signal })
      const messages = messagesOfPrompt(obj.val)
      return messages && { draft: { ...emptyDraft(), messages }, left: 0 }
    },
  })

/** What was being written, for one model. */
const draftWith = (projectId: string, model: string): Draft => ({
  ...readDraft(projectId),
  columns: [emptyColumn(model)],
})

/** Names of the models that the project may use; typed ones are taken all the same. */
const useModels = (projectId: string) =>
  useQuery({
    queryKey: ['models', projectId],
    async queryFn({ signal }) {
      const headers = { 'X-Callhouse-Page': '1', 'OpenAI-Project': projectId }
      const response = await fetch(new URL('inference/v1/models', baseUrl), { headers, signal })
      if (!response.ok) return []
      const { data } = (await response.json()) as { data?: { id?: unknown }[] }
      return (data ?? []).flatMap(({ id }) => (typeof id === 'string' ? id : [])).slice(0, 1_000)
    },
    retry: false,
    staleTime: 60_000,
  })

export function Playground() {
  const { projectId } = useProject()
  const { call, prompt, model } = useSearch({ from: route })
  const ofCall = useRecorded(projectId, call)
  const ofPrompt = usePrompt(projectId, prompt)
  const [asked, recorded] = call === undefined ? [prompt, ofPrompt] : [call, ofCall]
  if (asked !== undefined && recorded.error)
    return (
      <ProjectPage title="Playground">
        <FaultBox error={recorded.error} onRetry={() => void recorded.refetch()} />
      </ProjectPage>
    )
  if (asked !== undefined && recorded.data === undefined)
    return (
      <ProjectPage title="Playground">
        <div className="center">
          <span className="hidden" role="status">
            Loading the messages
          </span>
        </div>
      </ProjectPage>
    )
  return (
    <Bench
      key={`${projectId} ${asked ?? ''} ${model ?? ''}`}
      first={recorded.data?.draft ?? (model === undefined ? undefined : draftWith(projectId, model))}
      notice={noticeOf(recorded.data, call === undefined ? 'prompt' : 'call')}
    />
  )
}

function Bench({ first, notice }: { first: Draft | undefined; notice: string | undefined }) {
  const { projectId } = useProject()
  const navigate = useNavigate()
  const { data: session } = useSession()
  const { data: models } = useModels(projectId)
  const [draft, setDraft] = useState<Draft>(() => first ?? readDraft(projectId))
  const [serial, setSerial] = useState(0)
  const [stops, setStops] = useState(0)
  const [running, setRunning] = useState<ReadonlySet<ModelColumn['key']>>(new Set())
  const onRunning = useCallback(
    (key: ModelColumn['key'], isRunning: boolean) =>
      setRunning((before) => new Set([...before].filter((one) => one !== key).concat(isRunning ? key : []))),
    [],
  )
  const [isRows, setRows] = useState(false)
  const differences = useDifferences(draft.columns)
  const names = variablesOf(draft.messages)
  const reason = mayWrite(session) ? undefined : 'This key may not ask models'
  useEffect(() => keepDraft(projectId, draft), [projectId, draft])
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const setMessage = (key: number, part: Partial<DraftMessage>) =>
    change({ messages: draft.messages.map((one) => (one.key === key ? { ...one, ...part } : one)) })
  const isReady = draft.columns.some(({ model }) => model.trim() !== '') && draft.messages.some(isSaid)
  const run = () => reason === undefined && isReady && setSerial((n) => n + 1)
  useKeys({ run })
  return (
    <ProjectPage title="Playground">
      <h1 className="hidden">Playground</h1>
      <div className="bar">
        <button
          type="button"
          className="first"
          disabled={!isReady || reason !== undefined}
          title={reason}
          onClick={run}
        >
          Run <kbd>Ctrl Enter</kbd>
        </button>
        <button type="button" className="line" disabled={running.size === 0} onClick={() => setStops((n) => n + 1)}>
          Stop
        </button>
        <button
          type="button"
          className="line"
          disabled={draft.columns.length >= maxColumns}
          onClick={() => change({ columns: [...draft.columns, emptyColumn()] })}
        >
          Add a model
        </button>
        <label className="field">
          <input type="checkbox" checked={draft.keeps} onChange={() => change({ keeps: !draft.keeps })} />
          Keep these calls
        </label>
        <label className="field" title="How likely the model found each part of its answer, where its provider tells">
          <input type="checkbox" checked={draft.likely} onChange={() => change({ likely: !draft.likely })} />{' '}
          Probabilities
        </label>
        <button type="button" className="line" onClick={() => setRows(true)}>
          Rows of a dataset…
        </button>
        {differences.isOffered && (
          <button
            type="button"
            className="line"
            aria-pressed={differences.isShown}
            title="Against the first model's answer, by words"
            onClick={differences.toggle}
          >
            Differences
          </button>
        )}
        <span className="grow" />
        <SavePrompt messages={draft.messages} />
        <button
          type="button"
          className="line"
          onClick={() => {
            setDraft(emptyDraft())
            void navigate({ to: '.', search: {} })
          }}
        >
          Clear
        </button>
      </div>
      {notice && (
        <p className="notice" role="status">
          {notice}
        </p>
      )}
      {isRows && (
        <DatasetRows
          projectId={projectId}
          draft={draft}
          whyNot={isReady ? reason : 'Name a model and write a message first'}
          onUse={(variables) => change({ variables: { ...draft.variables, ...variables } })}
          onClose={() => setRows(false)}
        />
      )}
      <datalist id="models">
        {models?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div className="playground">
        <section className="prompt" aria-label="Messages" tabIndex={0}>
          {draft.messages.map((message, place) => (
            <div key={message.key} className={`message by-${message.role}`}>
              <div className="message-head">
                <select
                  aria-label={`Role of message ${place + 1}`}
                  value={message.role}
                  onChange={({ target }) => setMessage(message.key, { role: target.value as DraftMessage['role'] })}
                >
                  {roleNames.map((role) => (
                    <option key={role} value={role}>
                      {role}
                    </option>
                  ))}
                </select>
                {message.role === 'tool' && (
                  <input
                    type="text"
                    aria-label={`Tool call that message ${place + 1} answers`}
                    placeholder="id of the tool call"
                    value={message.toolCallId}
                    onChange={({ target }) => setMessage(message.key, { toolCallId: target.value })}
                  />
                )}
                {message.toolCalls !== undefined && <span className="dim">with tool calls</span>}
                <span className="grow" />
                <button
                  type="button"
                  className="icon"
                  aria-label={`Remove message ${place + 1}`}
                  onClick={() => change({ messages: draft.messages.filter(({ key }) => key !== message.key) })}
                >
                  <Icon name="close" />
                </button>
              </div>
              <textarea
                aria-label={`Message ${place + 1}`}
                dir="auto"
                rows={Math.min(14, Math.max(2, message.text.split('\n').length))}
                value={message.text}
                onChange={({ target }) => setMessage(message.key, { text: target.value })}
                onPaste={(event) => {
                  const files = [...event.clipboardData.files]
                  if (files.length === 0 || message.role !== 'user') return
                  event.preventDefault()
                  void withFiles(attachmentsOf(message), files).then(({ images, documents }) =>
                    setMessage(message.key, { images, documents }),
                  )
                }}
              />
              {(message.role === 'user' || hasFiles(message)) && (
                <Attach
                  label={`message ${place + 1}`}
                  attached={attachmentsOf(message)}
                  onChange={(attached) => setMessage(message.key, attached)}
                />
              )}
            </div>
          ))}
          <div className="acts">
            <button
              type="button"
              className="line"
              onClick={() => change({ messages: [...draft.messages, emptyMessage()] })}
            >
              Add a message
            </button>
          </div>
          {names.length > 0 && (
            <fieldset className="variables">
              <legend>Variables</legend>
              {names.map((name) => (
                <label key={name} className="field wide">
                  <span>
                    <T text={name} max={60} />
                  </span>
                  <textarea
                    rows={1}
                    value={draft.variables[name] ?? ''}
                    onChange={({ target }) => change({ variables: { ...draft.variables, [name]: target.value } })}
                  />
                </label>
              ))}
            </fieldset>
          )}
          <Json
            label="Tools"
            help="a list as OpenAI takes it"
            value={draft.tools}
            onChange={(tools) => change({ tools })}
          />
          <Json
            label="Schema of the answer"
            help="a JSON Schema"
            value={draft.schema}
            onChange={(schema) => change({ schema })}
          />
        </section>
        {draft.columns.map((column, place) => (
          <AnswerColumn
            key={column.key}
            draft={draft}
            column={column}
            serial={serial}
            stops={stops}
            projectId={projectId}
            place={place}
            canGo={draft.columns.length > 1}
            before={differences.beforeOf(place)}
            onAnswer={differences.onAnswer}
            onRunning={onRunning}
            onChange={(next) =>
              change({ columns: draft.columns.map((one) => (one.key === column.key ? { ...one, ...next } : one)) })
            }
            onRemove={() => change({ columns: draft.columns.filter(({ key }) => key !== column.key) })}
            onTools={(messages) => change({ messages: [...draft.messages, ...messages] })}
          />
        ))}
      </div>
    </ProjectPage>
  )
}

type JsonProps = { label: string; help: string; value: string; onChange(text: string): void }

const Json = ({ label, help, value, onChange }: JsonProps) => (
  <details open={value !== ''}>
    <summary>
      {label} <span className="dim">{help}</span>
    </summary>
    <textarea
      className="mono"
      aria-label={label}
      rows={6}
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </details>
)
