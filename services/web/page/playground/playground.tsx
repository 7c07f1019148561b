// The playground: messages with variables, sent to one to four models side by side; from a recorded call or a version of a
// prompt, and saved as its next one.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { mayWrite, useSession } from '../api/session.ts'
import { plural } from '../engine/format.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'
import { AnswerColumn } from './answer-column.tsx'
import { DatasetRows } from './dataset-rows.tsx'
import { useDifferences } from './differences.ts'
import {
  type Draft,
  emptyColumn,
  emptyDraft,
  emptyVariables,
  isSaid,
  keepDraft,
  type ModelColumn,
  maxColumns,
  readDraft,
} from './draft.ts'
import { PromptBar } from './edited-prompt.tsx'
import { Messages } from './messages.tsx'
import { NoModels } from './missing.tsx'
import { runRefusalOf } from './refusal.ts'
import { draftWith, type EditedPrompt, type Started, usePrompt, useRecorded } from './use-start.ts'
import './playground.css'

const route = '/signed-in/p/$entity/$project/playground'

function noticeOf(started: Started | null | undefined, what: 'call' | 'prompt'): string | undefined {
  if (started === null) return `This ${what} was not found, or has no messages to a model.`
  if (started === undefined || started.left === 0) return undefined
  const files = plural(started.left, 'file')
  return `${files} of this ${what} not included. Images (PNG, JPEG, GIF, WebP) and PDFs are included up to 4 MiB each, at most four of each per message.`
}

/** Names of the models that the project may use; typed ones are taken all the same. */
const useModels = (projectId: string) =>
  useQuery({
    queryKey: ['models', projectId],
    async queryFn({ signal }) {
      const headers = { 'X-Callhouse-Page': '1', 'OpenAI-Project': projectId }
      const response = await fetch(new URL('inference/v1/models', baseUrl), { headers, signal })
      if (!response.ok) throw new Error(runRefusalOf(await response.text()).message)
      const { data } = (await response.json()) as { data?: { id?: unknown }[] }
      return (data ?? []).flatMap(({ id }) => (typeof id === 'string' ? id : [])).slice(0, 1_000)
    },
    retry: false,
    staleTime: 60_000,
  })

export function Playground() {
  const { projectId } = useProject()
  const { call, prompt, model } = useSearch({ from: route })
  // The draft stays where the address names nothing else, or the prompt that it changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again with each address
  const kept = useMemo(() => readDraft(projectId), [projectId, call, prompt, model])
  const ofCall = useRecorded(projectId, call)
  const asked = call === undefined ? (prompt ?? kept.prompt) : undefined
  const ofPrompt = usePrompt(projectId, asked)
  const isKept = prompt === undefined || prompt === kept.prompt
  const started = call === undefined ? ofPrompt : ofCall
  const addressOf = (prompt: string | undefined, more = '') => `${projectId} ${prompt ?? ''} ${more}`
  const address = addressOf(asked, `${call ?? ''} ${model ?? ''}`.trim())
  // The saved version has its own address, and the draft stays as it is.
  const [own, setOwn] = useState<{ address: string; key: string }>()
  const key = own?.address === address ? own.key : address
  const isAsked = call !== undefined || asked !== undefined
  // A draft is not lost because its prompt is.
  if (isAsked && started.error && (call !== undefined || !isKept))
    return (
      <ProjectPage title="Playground">
        <FaultBox error={started.error} onRetry={() => void started.refetch()} />
      </ProjectPage>
    )
  if (isAsked && started.data === undefined && !started.error)
    return (
      <ProjectPage title="Playground">
        <Loading what="the messages" />
      </ProjectPage>
    )
  const first = () => {
    if (call !== undefined) return started.data?.draft ?? kept
    if (model !== undefined) return draftWith(projectId, model)
    return isKept ? kept : (started.data?.draft ?? kept)
  }
  return (
    <Bench
      key={key}
      first={first}
      onPrompt={(prompt) => setOwn({ address: addressOf(prompt), key })}
      edited={call === undefined ? (started.data?.edited ?? undefined) : undefined}
      notice={isAsked ? noticeOf(started.data, call === undefined ? 'prompt' : 'call') : undefined}
    />
  )
}

type BenchProps = {
  first(): Draft
  edited: EditedPrompt | undefined
  notice: string | undefined
  /** Called with a saved version, before the address names it. */
  onPrompt(prompt: string): void
}

function Bench({ first, edited, notice, onPrompt }: BenchProps) {
  const { projectId } = useProject()
  const navigate = useNavigate({ from: '/p/$entity/$project/playground' })
  const { data: session } = useSession()
  const models = useModels(projectId)
  const [draft, setDraft] = useState<Draft>(first)
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
  const empty = emptyVariables(draft)
  const reason = mayWrite(session) ? undefined : "You don't have permission to run models"
  useEffect(() => keepDraft(projectId, draft), [projectId, draft])
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const isReady = draft.columns.some(({ model }) => model.trim() !== '') && draft.messages.some(isSaid)
  const run = () => reason === undefined && isReady && setSerial((n) => n + 1)
  useKeys({ run })
  const onSaved = (prompt: string) => {
    const next = { ...draft, prompt }
    setDraft(next)
    keepDraft(projectId, next)
    onPrompt(prompt)
    void navigate({ search: { prompt }, replace: true })
  }
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
        <Button disabled={running.size === 0} onClick={() => setStops((n) => n + 1)}>
          Stop
        </Button>
        <Button
          disabled={draft.columns.length >= maxColumns}
          onClick={() => change({ columns: [...draft.columns, emptyColumn()] })}
        >
          Add a model
        </Button>
        <label className="field">
          <input type="checkbox" checked={draft.keeps} onChange={() => change({ keeps: !draft.keeps })} />
          Record calls
        </label>
        <label className="field" title="Probability of each token of the answer, if the provider returns it">
          <input type="checkbox" checked={draft.likely} onChange={() => change({ likely: !draft.likely })} /> Log
          probabilities
        </label>
        <Button onClick={() => setRows(true)}>Run on dataset…</Button>
        {differences.isOffered && (
          <Button
            aria-pressed={differences.isShown}
            title="Compare with the first model's answer, word by word"
            onClick={differences.toggle}
          >
            Differences
          </Button>
        )}
        <span className="grow" />
        <Button
          onClick={() => {
            setDraft(emptyDraft())
            keepDraft(projectId, emptyDraft())
            void navigate({ search: {} })
          }}
        >
          Clear
        </Button>
      </div>
      <PromptBar
        edited={edited}
        messages={draft.messages}
        model={draft.columns[0]?.model.trim() ?? ''}
        onSaved={onSaved}
        onReset={() => edited && change({ messages: [...edited.messages] })}
      />
      {notice && (
        <p className="notice" role="status">
          {notice}
        </p>
      )}
      {(models.error !== null || models.data?.length === 0) && <NoModels error={models.error} />}
      {serial > 0 && empty.length > 0 && (
        <p className="notice" role="status">
          <span>
            {plural(empty.length, 'variable')} sent without a value: <T text={empty.join(', ')} max={200} />
          </span>
        </p>
      )}
      {isRows && (
        <DatasetRows
          projectId={projectId}
          draft={draft}
          whyNot={isReady ? reason : 'Choose a model and write a message first'}
          onUse={(variables) => change({ variables: { ...draft.variables, ...variables } })}
          onClose={() => setRows(false)}
        />
      )}
      <datalist id="models">
        {models.data?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <div className="playground">
        <Messages draft={draft} change={change} />
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
