// One model of the playground: its name and parameters, and its answer as it comes.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { codeOf, type Language } from '../engine/code-of.ts'
import { count, duration, money } from '../engine/format.ts'
import { schemaFaults } from '../engine/json-schema.ts'
import { AnswerGrounds } from '../parts/answer-grounds.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Input } from '../parts/input.tsx'
import { Menu } from '../parts/menu.tsx'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'
import { Words } from '../parts/words.tsx'
import type { AnswerDifferences } from './differences.ts'
import {
  completionRequestOf,
  type Draft,
  type DraftMessage,
  emptyMessage,
  type ModelColumn,
  type ParameterName,
  parameterNames,
  parameters,
} from './draft.ts'
import { MissingSecret } from './missing.tsx'
import type { Run } from './run.ts'
import { useRun } from './use-run.ts'

const maxShown = 65_536

type ColumnProps = {
  draft: Draft
  column: ModelColumn
  projectId: string
  place: number
  /** Grows with each run that is asked for, and with each stop. */
  serial: number
  stops: number
  canGo: boolean
  onChange(next: Partial<ModelColumn>): void
  onRemove(): void
  onTools(messages: DraftMessage[]): void
  /** The answer that this one is shown against, by words. */
  before: string | undefined
  onAnswer: AnswerDifferences['onAnswer']
  onRunning(key: ModelColumn['key'], isRunning: boolean): void
}

export function AnswerColumn(props: ColumnProps) {
  const { draft, column, projectId, place, serial, stops, canGo, onChange, onRemove, onAnswer, onRunning } = props
  const { run, start, stop } = useRun(projectId)
  const latest = useRef({ draft, column })
  latest.current = { draft, column }
  const begun = useRef(serial)
  useEffect(() => {
    if (begun.current === serial) return
    begun.current = serial
    const { draft: now, column: of } = latest.current
    if (of.model.trim() !== '') void start(now, of)
  }, [serial, start])
  useEffect(() => {
    if (stops > 0) stop()
  }, [stops, stop])
  const said = run === undefined || run.isRunning || run.fault !== null ? undefined : run.answer.text
  const { key } = column
  useEffect(() => onAnswer(key, said), [key, said, onAnswer])
  const isRunning = run?.isRunning === true
  useEffect(() => {
    if (!isRunning) return
    onRunning(key, true)
    return () => onRunning(key, false)
  }, [key, isRunning, onRunning])
  const name = `model ${place + 1}`
  return (
    <section className="answer-column" aria-label={`Answer of ${name}`}>
      <div className="model-head">
        <label className="labelled">
          <span>Model</span>
          <Input
            list="models"
            aria-label={`Name of ${name}`}
            value={column.model}
            onText={(text) => onChange({ model: text })}
          />
        </label>
        {canGo && <IconButton icon="close" label={`Remove ${name}`} onClick={onRemove} />}
      </div>
      <div className="parameters">
        {parameterNames.map((one) => (
          <Parameter key={one} of={one} name={name} column={column} onChange={onChange} />
        ))}
      </div>
      <CopyCode draft={draft} column={column} projectId={projectId} name={name} />
      {run && (
        <Shown
          run={run}
          projectId={projectId}
          before={props.before}
          onTools={props.onTools}
          schema={draft.format === 'json_schema' ? draft.schema.trim() : ''}
          isKept={draft.keeps}
        />
      )}
    </section>
  )
}

type ParameterProps = Pick<ColumnProps, 'column' | 'onChange'> & { of: ParameterName; name: string }

function Parameter({ of, name, column, onChange }: ParameterProps) {
  const { label, hint } = parameters[of]
  const field = {
    'aria-label': `${label} of ${name}`,
    placeholder: hint,
    value: column[of],
    onChange: ({ target }: { target: { value: string } }) => onChange({ [of]: target.value }),
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is one of two
    <label className="labelled">
      <span>{label}</span>
      {of === 'stop' ? (
        <textarea rows={Math.max(1, column.stop.split('\n').length)} {...field} />
      ) : (
        <input type="text" inputMode="decimal" {...field} />
      )}
    </label>
  )
}

const languages: readonly [Language, string][] = [
  ['curl', 'As curl'],
  ['python', 'As Python'],
  ['node', 'As Node'],
]

type CodeProps = { draft: Draft; column: ModelColumn; projectId: string; name: string }

/** The request as code; the key is a variable of whoever runs it. */
function CopyCode({ draft, column, projectId, name }: CodeProps) {
  const [said, setSaid] = useState('')
  const copy = (language: Language) => {
    try {
      const code = codeOf(language, { base: baseUrl, projectId, body: completionRequestOf(draft, column) })
      void navigator.clipboard.writeText(code).then(() => setSaid('Copied'))
    } catch (error) {
      setSaid(error instanceof Error ? error.message : 'The request is not valid')
    }
  }
  return (
    <div className="acts">
      <Menu label={`Copy as… for ${name}`} className="line" button="Copy as…">
        {(close) =>
          languages.map(([language, label]) => (
            <button
              key={language}
              type="button"
              className="item"
              onClick={() => {
                close()
                copy(language)
              }}
            >
              {label}
            </button>
          ))
        }
      </Menu>
      <span className="second" role="status">
        {said.slice(0, 200)}
      </span>
    </div>
  )
}

/** Cost of the recorded call; undefined while it is not known, and where there is no price. */
function useCost(projectId: string, callId: string | null) {
  const { data } = useQuery({
    queryKey: ['cost', projectId, callId],
    queryFn: ({ signal }) => json('costs.explain', { project_id: projectId, call_id: callId ?? '' }, { signal }),
    enabled: callId !== null,
    // The record of a call may come a moment after its answer.
    retry: 2,
  })
  return data?.models.some(({ price }) => price !== null) ? data.total : undefined
}

/** Faults of an answer, as lines; none where it keeps to the schema. */
function faultsOf(text: string, schema: string): string[] {
  try {
    return schemaFaults(JSON.parse(text), JSON.parse(schema)).map(({ path, reason }) => `${path || 'it'} ${reason}`)
  } catch (error) {
    return [`it is not valid JSON: ${error instanceof Error ? error.message : ''}`]
  }
}

function SchemaCheck({ text, schema }: { text: string; schema: string }) {
  const faults = faultsOf(text, schema)
  if (faults.length === 0) return <p className="s-success">The answer matches the schema.</p>
  return (
    <div className="s-error">
      <p>The answer does not match the schema:</p>
      <ul>
        {faults.slice(0, 5).map((fault) => (
          <li key={fault}>
            <T text={fault} max={200} />
          </li>
        ))}
      </ul>
      {faults.length > 5 && <p>and {count(faults.length - 5)} more</p>}
    </div>
  )
}

type ShownProps = { run: Run; projectId: string; schema: string; isKept: boolean } & Pick<
  ColumnProps,
  'onTools' | 'before'
>

/** Tokens per second once the answer has begun; null where it was too short to tell. */
function speedOf({ answer: { tokensOut }, firstMs, totalMs }: Run): number | null {
  if (tokensOut === null || totalMs === null || firstMs === null) return null
  const writingMs = totalMs - firstMs
  return writingMs < 1 ? null : (tokensOut / writingMs) * 1000
}

/** Names and texts of the facts about an answer; null where they are not known. */
function factsOf(run: Run, cost: number | undefined): [name: string, text: string | null][] {
  const { answer, firstMs, totalMs } = run
  const perSecond = speedOf(run)
  return [
    ['Time to first token', firstMs === null ? null : duration(Math.round(firstMs))],
    ['Duration', totalMs === null ? null : duration(Math.round(totalMs))],
    ['Tokens', answer.tokensIn === null ? null : `${count(answer.tokensIn)} → ${count(answer.tokensOut ?? 0)}`],
    ['Speed', perSecond === null ? null : `${perSecond.toPrecision(3)} tokens/s`],
    ['Cost', cost === undefined ? null : money(cost)],
    ['Finish reason', answer.finish],
  ]
}

function Shown({ run, projectId, onTools, schema, isKept, before }: ShownProps) {
  const { entity, project } = useProject()
  const { answer, isRunning, fault, secret, callId } = run
  const cost = useCost(projectId, isKept && !isRunning && fault === null ? callId : null)
  return (
    <div className="answered" tabIndex={0} role="group" aria-label="Answer" aria-busy={isRunning}>
      {secret !== null ? (
        <MissingSecret name={secret} />
      ) : (
        fault && (
          <p className="s-error" role="alert">
            <T text={fault} max={2_000} />
          </p>
        )
      )}
      {answer.reasoning !== '' && (
        <details>
          <summary>Reasoning</summary>
          <div className="said second" dir="auto">
            <T text={answer.reasoning} max={maxShown} />
          </div>
        </details>
      )}
      <div className="said" dir="auto">
        {before === undefined || answer.text === '' ? (
          <T text={answer.text || answer.refusal} max={maxShown} />
        ) : (
          <Words before={before} now={answer.text} max={maxShown} />
        )}
        {isRunning && <span className="dim">▍</span>}
      </div>
      <AnswerGrounds tokens={answer.tokens} citations={answer.citations} />
      {answer.toolCalls.map(({ id, name, arguments: given }) => (
        <div key={id} className="tool-call">
          <p>
            <Icon name="tool" label="calls" className="k-tool" /> <T text={name} /> <T text={id} max={60} />
          </p>
          <div className="said mono">
            <T text={given} max={maxShown} />
          </div>
        </div>
      ))}
      {!isRunning && answer.toolCalls.length > 0 && (
        <Button
          onClick={() =>
            onTools([
              {
                ...emptyMessage('assistant', answer.text),
                toolCalls: answer.toolCalls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
              },
              ...answer.toolCalls.map(({ id }) => ({ ...emptyMessage('tool'), toolCallId: id })),
            ])
          }
        >
          Answer tool calls
        </Button>
      )}
      {!isRunning && schema !== '' && answer.text !== '' && <SchemaCheck text={answer.text} schema={schema} />}
      <p className="hidden" role="status">
        {isRunning ? 'The model answers' : fault === null && 'The answer is complete'}
      </p>
      <dl className="facts">
        {factsOf(run, cost)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        {!isRunning && callId && (
          <div>
            <dt className="hidden">Call</dt>
            <dd>
              <Link to="/p/$entity/$project/calls/$id" params={{ entity, project, id: callId }}>
                View call
              </Link>
            </dd>
          </div>
        )}
      </dl>
    </div>
  )
}
