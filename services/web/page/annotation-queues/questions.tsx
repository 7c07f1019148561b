// Questions that somebody writes for a queue: each becomes an `AnnotationSpec`, an object with versions like all others.
import { json } from '../api/client.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Input } from '../parts/input.tsx'
import { Select } from '../parts/select.tsx'

const kinds = { boolean: 'Yes or no', choice: 'Single choice', number: 'Number', text: 'Text' } as const
type Kind = keyof typeof kinds
export type WrittenQuestion = { key: number; label: string; kind: Kind; choices: string; min: string; max: string }

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

function schemaOf({ kind, choices, min, max }: WrittenQuestion): Record<string, unknown> {
  if (kind === 'choice') return { type: 'string', enum: choicesOf(choices) }
  if (kind !== 'number') return { type: kind === 'text' ? 'string' : kind }
  return {
    type: 'number',
    ...(min !== '' && { minimum: Number(min) }),
    ...(max !== '' && { maximum: Number(max) }),
  }
}

const isWhole = ({ label, kind, choices, min, max }: WrittenQuestion): boolean =>
  /\w/.test(label) &&
  (kind !== 'choice' || choicesOf(choices).length > 1) &&
  (kind !== 'number' || min === '' || max === '' || Number(min) < Number(max))

export const emptyQuestion = (key: number): WrittenQuestion => ({
  key,
  label: '',
  kind: 'boolean',
  choices: '',
  min: '',
  max: '',
})

/** Whether all of them can be asked, beside those of the queue that have these names already. */
export function areWhole(questions: readonly WrittenQuestion[], taken: readonly string[] = []): boolean {
  const ids = [...taken, ...questions.map(({ label }) => objectId(label))]
  return questions.every(isWhole) && new Set(ids).size === ids.length
}

/** Refs of the questions, once they are stored. @throws ApiFault */
export async function madeQuestions(projectId: string, questions: readonly WrittenQuestion[]): Promise<string[]> {
  const refs: string[] = []
  for (const question of questions) {
    const object_id = objectId(question.label)
    const val = { name: question.label.trim(), field_schema: schemaOf(question) }
    const { digest } = await json('objects.create', {
      obj: { project_id: projectId, object_id, builtin_object_class: 'AnnotationSpec', val },
    })
    refs.push(`weave:///${projectId}/object/${object_id}:${digest}`)
  }
  return refs
}

type FieldsProps = {
  questions: readonly WrittenQuestion[]
  /** So many stay. */
  least: number
  onChange(questions: WrittenQuestion[]): void
}

export function QuestionFields({ questions, least, onChange }: FieldsProps) {
  const change = (key: number, part: Partial<WrittenQuestion>) =>
    onChange(questions.map((one) => (one.key === key ? { ...one, ...part } : one)))
  const add = () => onChange([...questions, emptyQuestion(Math.max(-1, ...questions.map(({ key }) => key)) + 1)])
  return (
    <>
      {questions.map((question, place) => (
        <fieldset key={question.key} className="question">
          <legend>Question {place + 1}</legend>
          <Input
            aria-label={`Question ${place + 1}`}
            placeholder="helpful"
            value={question.label}
            onText={(text) => change(question.key, { label: text })}
          />
          <Select
            aria-label={`Answer ${place + 1}`}
            value={question.kind}
            of={(Object.keys(kinds) as Kind[]).map((kind) => [kind, kinds[kind]] as const)}
            onValue={(value) => change(question.key, { kind: value as Kind })}
          />
          {question.kind === 'choice' && (
            <Input
              aria-label={`Choices of question ${place + 1}`}
              placeholder="good, fair, bad"
              value={question.choices}
              onText={(text) => change(question.key, { choices: text })}
            />
          )}
          {question.kind === 'number' &&
            (['min', 'max'] as const).map((bound) => (
              <Input
                key={bound}
                type="number"
                step="any"
                aria-label={`${bound === 'min' ? 'Minimum' : 'Maximum'} of question ${place + 1}`}
                placeholder={bound === 'min' ? 'from' : 'to'}
                value={question[bound]}
                onText={(text) => change(question.key, { [bound]: text })}
              />
            ))}
          {questions.length > least && (
            <IconButton
              icon="close"
              label={`Remove question ${place + 1}`}
              onClick={() => onChange(questions.filter(({ key }) => key !== question.key))}
            />
          )}
        </fieldset>
      ))}
      <div className="acts">
        <Button onClick={add}>Add question</Button>
      </div>
    </>
  )
}
