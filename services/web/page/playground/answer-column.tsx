// One model of the playground: its name and parameters, and its answer as it comes.
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { count, duration } from '../engine/format.ts'
import { useProject } from '../frame/project-page.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'
import { type Draft, type DraftMessage, emptyMessage, type ModelColumn } from './draft.ts'
import { type Run, useRun } from './use-run.ts'

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
}

export function AnswerColumn(props: ColumnProps) {
  const { draft, column, projectId, place, serial, stops, canGo, onChange, onRemove } = props
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
  const name = `model ${place + 1}`
  return (
    <section className="answer-column" aria-label={`Answer of ${name}`}>
      <div className="model-head">
        <input
          type="text"
          list="models"
          aria-label={`Name of ${name}`}
          placeholder="Model"
          value={column.model}
          onChange={({ target }) => onChange({ model: target.value })}
        />
        {canGo && (
          <button type="button" className="icon" aria-label={`Remove ${name}`} onClick={onRemove}>
            <Icon name="close" />
          </button>
        )}
        <input
          type="text"
          inputMode="decimal"
          aria-label={`Temperature of ${name}`}
          placeholder="Temperature"
          value={column.temperature}
          onChange={({ target }) => onChange({ temperature: target.value })}
        />
        <input
          type="text"
          inputMode="numeric"
          aria-label={`Most tokens of ${name}`}
          placeholder="Most tokens"
          value={column.maxTokens}
          onChange={({ target }) => onChange({ maxTokens: target.value })}
        />
      </div>
      {run && <Shown run={run} onTools={props.onTools} hasSchema={draft.schema.trim() !== ''} />}
    </section>
  )
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function Shown({ run, onTools, hasSchema }: { run: Run; onTools: ColumnProps['onTools']; hasSchema: boolean }) {
  const { entity, project } = useProject()
  const { answer, isRunning, fault, callId, firstMs, totalMs } = run
  const writingMs = totalMs === null || firstMs === null ? null : totalMs - firstMs
  const perSecond =
    answer.tokensOut === null || writingMs === null || writingMs < 1 ? null : (answer.tokensOut / writingMs) * 1000
  const facts: [string, string | null][] = [
    ['First', firstMs === null ? null : duration(Math.round(firstMs))],
    ['Took', totalMs === null ? null : duration(Math.round(totalMs))],
    ['Tokens', answer.tokensIn === null ? null : `${count(answer.tokensIn)} → ${count(answer.tokensOut ?? 0)}`],
    ['Speed', perSecond === null ? null : `${perSecond.toPrecision(3)} tokens/s`],
    ['Ended by', answer.finish],
  ]
  return (
    <div className="answered" tabIndex={0} role="group" aria-label="Answer" aria-busy={isRunning}>
      {fault && (
        <p className="s-error" role="alert">
          <T text={fault} max={2_000} />
        </p>
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
        <T text={answer.text || answer.refusal} max={maxShown} />
        {isRunning && <span className="dim">▍</span>}
      </div>
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
        <button
          type="button"
          className="line"
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
          Answer the tools
        </button>
      )}
      {!isRunning && hasSchema && answer.text !== '' && (
        <p className={isJson(answer.text) ? 's-success' : 's-error'}>
          {isJson(answer.text) ? 'The answer is JSON.' : 'The answer is no JSON.'}
        </p>
      )}
      <p className="hidden" role="status">
        {isRunning ? 'The model answers' : 'The answer is complete'}
      </p>
      <dl className="facts">
        {facts
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
                The call
              </Link>
            </dd>
          </div>
        )}
      </dl>
    </div>
  )
}
