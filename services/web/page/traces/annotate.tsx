// Answering a question of the project, an annotation spec, of the call in the reader, without a queue.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import type { FeedbackItem } from '../engine/feedback.ts'
import { type Spec, specOf } from '../engine/question-specs.ts'
import { type AnswerDraft, Question } from '../parts/question.tsx'
import { callRef, type Giving } from '../parts/use-feedback.ts'
import '../annotation-queues/queues.css'

const maxSpecs = 200

/** Questions by their latest version. */
const useSpecs = (projectId: string) =>
  useQuery({
    queryKey: ['objects', projectId, 'specs'],
    async queryFn({ signal }): Promise<Spec[]> {
      const filter = { base_object_classes: ['AnnotationSpec'], latest_only: true }
      const { objs } = await json('objects.query', { project_id: projectId, filter, limit: maxSpecs }, { signal })
      return objs
        .map(({ object_id, digest, val }) => specOf(`weave:///${projectId}/object/${object_id}:${digest}`, val))
        .sort((a, b) => a.label.localeCompare(b.label))
    },
    staleTime: 60_000,
  })

type Props = { projectId: string; id: string; items: readonly FeedbackItem[]; giving: Giving }

export function Annotate({ projectId, id, items, giving }: Props) {
  const { reason, prefix, isOwn } = giving
  const client = useQueryClient()
  const { data: specs } = useSpecs(projectId)
  const [name, setName] = useState('')
  const [draft, setDraft] = useState<AnswerDraft>({})
  const spec = specs?.find((one) => one.name === name) ?? specs?.[0]
  const feedback_type = `${prefix}.annotation.${spec?.name ?? ''}`
  const earlier = items.findLast((item) => item.feedback_type === feedback_type && isOwn(item))
  const save = useMutation({
    mutationFn: ({ ref, value }: { ref: string; value: unknown }) => {
      const feedback = { project_id: projectId, weave_ref: callRef(projectId, id), feedback_type }
      const item = { ...feedback, annotation_ref: ref, payload: { value } }
      return earlier === undefined
        ? json('feedback.create', item)
        : json('feedback.replace', { ...item, feedback_id: earlier.id })
    },
    onSuccess: () => {
      setDraft({})
      return client.invalidateQueries({ queryKey: ['feedback', projectId] })
    },
  })
  if (specs === undefined || spec === undefined) return null
  const value = draft[spec.name] ?? earlier?.payload.value
  const isNew = draft[spec.name] !== undefined && draft[spec.name] !== earlier?.payload.value
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isNew) save.mutate({ ref: spec.ref, value })
  }
  return (
    <form className="annotate" aria-label="Answer a question" onSubmit={submit}>
      {specs.length > 1 && (
        <select
          aria-label="Question"
          value={spec.name}
          disabled={reason !== undefined}
          onChange={({ target }) => {
            save.reset()
            setName(target.value)
          }}
        >
          {specs.map((one) => (
            <option key={one.ref} value={one.name}>
              {one.label.slice(0, 120)}
            </option>
          ))}
        </select>
      )}
      <Question
        spec={spec}
        value={value}
        reason={reason}
        isAt={false}
        hasKeys={false}
        fault={save.error?.message}
        others={[]}
        onFocus={() => undefined}
        onAnswer={(answer) => {
          save.reset()
          setDraft({ ...draft, [spec.name]: answer })
        }}
      />
      <button type="submit" className="line" disabled={!isNew || reason !== undefined || save.isPending} title={reason}>
        Save answer
      </button>
    </form>
  )
}
