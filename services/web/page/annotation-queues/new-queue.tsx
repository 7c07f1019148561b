// A new queue with its questions: each becomes an `AnnotationSpec`, an object with versions like all others.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { useProject } from '../frame/project-page.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'

const kinds = { boolean: 'Yes or no', choice: 'One of some words', number: 'A number', text: 'Text' } as const
type Kind = keyof typeof kinds
type Question = { key: number; label: string; kind: Kind; choices: string; min: string; max: string }

const objectId = (label: string): string =>
  label
    .trim()
    .replaceAll(/[^\w.-]+/g, '-')
    .slice(0, 100)
const choicesOf = (text: string): string[] => [
  ...new Set(
    text
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
  ),
]

function schemaOf({ kind, choices, min, max }: Question): Record<string, unknown> {
  if (kind === 'choice') return { type: 'string', enum: choicesOf(choices) }
  if (kind !== 'number') return { type: kind === 'text' ? 'string' : kind }
  return {
    type: 'number',
    ...(min !== '' && { minimum: Number(min) }),
    ...(max !== '' && { maximum: Number(max) }),
  }
}

const isWhole = ({ label, kind, choices, min, max }: Question): boolean =>
  /\w/.test(label) &&
  (kind !== 'choice' || choicesOf(choices).length > 1) &&
  (kind !== 'number' || min === '' || max === '' || Number(min) < Number(max))

export function NewQueue({ onClose, onMade }: { onClose(): void; onMade(id: string): void }) {
  const { projectId } = useProject()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [next, setNext] = useState(1)
  const [questions, setQuestions] = useState<Question[]>([
    { key: 0, label: '', kind: 'boolean', choices: '', min: '', max: '' },
  ])
  const change = (key: number, part: Partial<Question>) =>
    setQuestions((all) => all.map((one) => (one.key === key ? { ...one, ...part } : one)))
  const make = useMutation({
    async mutationFn() {
      const refs: string[] = []
      for (const question of questions) {
        const object_id = objectId(question.label)
        const val = { name: question.label.trim(), field_schema: schemaOf(question) }
        const { digest } = await json('objects.create', {
          obj: { project_id: projectId, object_id, builtin_object_class: 'AnnotationSpec', val },
        })
        refs.push(`weave:///${projectId}/object/${object_id}:${digest}`)
      }
      const asked = { project_id: projectId, name: name.trim(), description, scorer_refs: refs }
      return json('annotation_queues.create', asked)
    },
    async onSuccess({ id }) {
      await client.invalidateQueries({ queryKey: ['queues', projectId] })
      onMade(id)
    },
  })
  const ids = questions.map(({ label }) => objectId(label))
  const isReady = name.trim() !== '' && questions.every(isWhole) && new Set(ids).size === ids.length
  const submit = (event: FormEvent) => {
    event.preventDefault()
    make.mutate()
  }
  return (
    <Dialog title="New queue" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label className="field wide">
          <span>Name</span>
          <input type="text" autoFocus value={name} onChange={({ target }) => setName(target.value)} />
        </label>
        <label className="field wide">
          <span>Description</span>
          <input type="text" value={description} onChange={({ target }) => setDescription(target.value)} />
        </label>
        {questions.map((question, place) => (
          <fieldset key={question.key} className="question">
            <legend>Question {place + 1}</legend>
            <input
              type="text"
              aria-label={`Question ${place + 1}`}
              placeholder="helpful"
              value={question.label}
              onChange={({ target }) => change(question.key, { label: target.value })}
            />
            <select
              aria-label={`Answer ${place + 1}`}
              value={question.kind}
              onChange={({ target }) => change(question.key, { kind: target.value as Kind })}
            >
              {(Object.keys(kinds) as Kind[]).map((kind) => (
                <option key={kind} value={kind}>
                  {kinds[kind]}
                </option>
              ))}
            </select>
            {question.kind === 'choice' && (
              <input
                type="text"
                aria-label={`Words of question ${place + 1}`}
                placeholder="good, fair, bad"
                value={question.choices}
                onChange={({ target }) => change(question.key, { choices: target.value })}
              />
            )}
            {question.kind === 'number' &&
              (['min', 'max'] as const).map((bound) => (
                <input
                  key={bound}
                  type="number"
                  step="any"
                  aria-label={`${bound === 'min' ? 'Least' : 'Most'} of question ${place + 1}`}
                  placeholder={bound === 'min' ? 'from' : 'to'}
                  value={question[bound]}
                  onChange={({ target }) => change(question.key, { [bound]: target.value })}
                />
              ))}
            {questions.length > 1 && (
              <button
                type="button"
                className="icon"
                aria-label={`Remove question ${place + 1}`}
                onClick={() => setQuestions((all) => all.filter(({ key }) => key !== question.key))}
              >
                <Icon name="close" />
              </button>
            )}
          </fieldset>
        ))}
        <div className="acts">
          <button
            type="button"
            className="line"
            onClick={() => {
              setQuestions((all) => [...all, { key: next, label: '', kind: 'boolean', choices: '', min: '', max: '' }])
              setNext(next + 1)
            }}
          >
            Add a question
          </button>
        </div>
        {make.error && (
          <p className="s-error" role="alert">
            {make.error.message.slice(0, 400)}
          </p>
        )}
        <button type="submit" className="first" disabled={!isReady || make.isPending}>
          Make the queue
        </button>
      </form>
    </Dialog>
  )
}
