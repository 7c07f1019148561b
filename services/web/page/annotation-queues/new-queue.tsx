// A new queue with its questions.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { useProject } from '../parts/project.ts'
import { areWhole, emptyQuestion, madeQuestions, QuestionFields, type WrittenQuestion } from './questions.tsx'

export function NewQueue({ onClose, onMade }: { onClose(): void; onMade(id: string): void }) {
  const { projectId } = useProject()
  const client = useQueryClient()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [questions, setQuestions] = useState<WrittenQuestion[]>([emptyQuestion(0)])
  const make = useMutation({
    async mutationFn() {
      const refs = await madeQuestions(projectId, questions)
      const asked = { project_id: projectId, name: name.trim(), description, scorer_refs: refs }
      return json('annotation_queues.create', asked)
    },
    async onSuccess({ id }) {
      await client.invalidateQueries({ queryKey: ['queues', projectId] })
      onMade(id)
    },
  })
  const isReady = name.trim() !== '' && areWhole(questions)
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
        <QuestionFields questions={questions} least={1} onChange={setQuestions} />
        {make.error && (
          <p className="s-error" role="alert">
            {make.error.message.slice(0, 400)}
          </p>
        )}
        <button type="submit" className="first" disabled={!isReady || make.isPending}>
          Create queue
        </button>
      </form>
    </Dialog>
  )
}
