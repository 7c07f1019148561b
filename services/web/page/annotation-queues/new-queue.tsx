// A new queue with its questions.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { ErrorLine } from '../parts/fault.tsx'
import { Input } from '../parts/input.tsx'
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
          <Input autoFocus value={name} onText={setName} />
        </label>
        <label className="field wide">
          <span>Description</span>
          <Input value={description} onText={setDescription} />
        </label>
        <QuestionFields questions={questions} least={1} onChange={setQuestions} />
        <ErrorLine text={make.error?.message} />
        <DialogActs onClose={onClose}>
          <button type="submit" className="first" disabled={!isReady || make.isPending}>
            Create queue
          </button>
        </DialogActs>
      </form>
    </Dialog>
  )
}
