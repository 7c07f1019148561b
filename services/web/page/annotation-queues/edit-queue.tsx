// Changes a queue: its name, what it is about, and which questions it asks from now on.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import type { Spec } from '../engine/question-specs.ts'
import { plainOf } from '../engine/safe-text.ts'
import { FormDialog, TextField } from '../parts/forms.tsx'
import { areWhole, madeQuestions, QuestionFields, type WrittenQuestion } from './questions.tsx'
import type { Queue } from './use-queues.ts'

type Props = { projectId: string; queue: Queue; specs: readonly Spec[]; onClose(): void }

export function EditQueue({ projectId, queue, specs, onClose }: Props) {
  const client = useQueryClient()
  const [name, setName] = useState(queue.name)
  const [description, setDescription] = useState(queue.description)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set(specs.map(({ ref }) => ref)))
  const [questions, setQuestions] = useState<WrittenQuestion[]>([])
  const kept = specs.filter(({ ref }) => left.has(ref))
  const toggle = (ref: string) => {
    const next = new Set(left)
    if (!next.delete(ref)) next.add(ref)
    setLeft(next)
  }
  const isChanged =
    name.trim() !== queue.name ||
    description !== queue.description ||
    kept.length < specs.length ||
    questions.length > 0
  return (
    <FormDialog
      title="Edit queue"
      act="Save"
      isReady={
        isChanged &&
        name.trim() !== '' &&
        areWhole(
          questions,
          kept.map((spec) => spec.name),
        )
      }
      run={async () => {
        const made = await madeQuestions(projectId, questions)
        const scorer_refs = [...kept.map(({ ref }) => ref), ...made]
        const asked = { project_id: projectId, name: name.trim(), description, scorer_refs }
        await json('annotation_queues.update', asked, { params: { queue_id: queue.id } })
        await Promise.all(['queue', 'queues'].map((key) => client.invalidateQueries({ queryKey: [key, projectId] })))
      }}
      onClose={onClose}
    >
      <TextField label="Name" value={name} maxLength={1_000} onText={setName} />
      <TextField label="Description" value={description} onText={setDescription} />
      {specs.length > 0 && (
        <fieldset className="choices">
          <legend>Questions</legend>
          {specs.map(({ ref, label }) => (
            <label key={ref} className="field">
              <input type="checkbox" checked={left.has(ref)} onChange={() => toggle(ref)} /> {plainOf(label, 120)}
            </label>
          ))}
        </fieldset>
      )}
      <QuestionFields questions={questions} least={0} onChange={setQuestions} />
      <p className="second">Existing answers are kept, including those to removed questions.</p>
    </FormDialog>
  )
}
