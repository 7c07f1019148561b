// One question of a queue, answered by mouse or keys; a refusal of its schema stands beside it.
import { useEffect, useRef } from 'react'
import { type Annotation, answerOf, type Spec } from '../engine/question-specs.ts'
import { ErrorLine } from './fault.tsx'
import { T } from './text.tsx'

/** Answers by the name of their question. */
export type AnswerDraft = Record<string, unknown>

type QuestionProps = {
  spec: Spec
  isAt: boolean
  value: unknown
  fault: string | undefined
  reason: string | undefined
  others: readonly Annotation[]
  /** Whether the keys that its answers show choose them. */
  hasKeys?: boolean
  onFocus(): void
  onAnswer(value: unknown): void
}

export function Question({
  spec,
  isAt,
  value,
  fault,
  reason,
  others,
  hasKeys = true,
  onFocus,
  onAnswer,
}: QuestionProps) {
  const box = useRef<HTMLFieldSetElement>(null)
  const { answering } = spec
  useEffect(() => {
    if (!isAt) return
    box.current?.scrollIntoView({ block: 'nearest' })
    // A field in which somebody types takes the keys; elsewhere the page does.
    const active = document.activeElement
    if (active instanceof HTMLInputElement && active.type === 'text' && !box.current?.contains(active)) active.blur()
  }, [isAt])
  const choices: [unknown, string, string][] =
    answering.is === 'boolean'
      ? [
          [true, 'Yes', 'y'],
          [false, 'No', 'n'],
        ]
      : answering.is === 'choice'
        ? answering.choices.map((choice, n) => [choice, String(choice), n < 9 ? String(n + 1) : ''])
        : []
  return (
    <fieldset ref={box} className={`asked${isAt ? ' at' : ''}`} onFocus={onFocus} disabled={reason !== undefined}>
      <legend>
        <T text={spec.label} max={120} />
      </legend>
      {spec.description !== '' && (
        <p className="second">
          <T text={spec.description} max={1_000} />
        </p>
      )}
      {choices.length > 0 ? (
        <div className="seg wraps">
          {choices.map(([choice, label, key]) => (
            <button key={label} type="button" aria-pressed={value === choice} onClick={() => onAnswer(choice)}>
              <T text={label} max={60} /> {hasKeys && key !== '' && <kbd>{key}</kbd>}
            </button>
          ))}
        </div>
      ) : (
        <input
          type="text"
          inputMode={answering.is === 'number' ? 'decimal' : 'text'}
          aria-label={spec.label}
          aria-invalid={fault !== undefined}
          placeholder={answering.is === 'number' ? `${answering.min ?? '…'} to ${answering.max ?? '…'}` : ''}
          value={value === undefined || value === null ? '' : String(value)}
          {...(answering.is === 'text' && answering.maxLength !== undefined && { maxLength: answering.maxLength })}
          onChange={({ target }) => onAnswer(answerOf(target.value, answering) ?? (target.value || undefined))}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
      )}
      <ErrorLine text={fault} />
      {others.length > 0 && (
        <p className="dim">
          {others.slice(0, 6).map(({ id, by, value: said }, place) => (
            <span key={id}>
              {place > 0 && ' · '}
              <T text={by} max={30} />: <T text={String(said)} max={60} />
            </span>
          ))}
        </p>
      )}
    </fieldset>
  )
}
