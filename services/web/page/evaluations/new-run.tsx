// Asks the server to run an evaluation with a model; the run that it makes is opened.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { plainOf } from '../engine/safe-text.ts'
import { FaultBox } from '../parts/fault.tsx'
import { Field, FormDialog } from '../parts/forms.tsx'
import { useProject } from '../parts/project.ts'
import { Select } from '../parts/select.tsx'

const listed = 500
const evaluationClasses = ['Evaluation']
const modelClasses = ['Model', 'LLMStructuredCompletionModel']
type Choice = { ref: string; label: string }

/** Latest versions of objects of a class. */
const useLatest = (project_id: string, classes: string[]) =>
  useQuery({
    queryKey: ['objects.latest', project_id, classes],
    async queryFn({ signal }): Promise<Choice[]> {
      const filter = { base_object_classes: classes, latest_only: true, is_op: false }
      const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
      const { objs } = await json(
        'objects.query',
        { project_id, filter, sort_by, limit: listed, metadata_only: true },
        { signal },
      )
      return objs.map(({ object_id, digest, version_index }) => ({
        ref: `weave:///${project_id}/object/${object_id}:${digest}`,
        label: `${plainOf(object_id, 80)} v${version_index}`,
      }))
    },
  })

const Choose = ({
  label,
  of,
  value,
  onChange,
}: {
  label: string
  of: Choice[]
  value: string
  onChange(ref: string): void
}) => (
  <Field label={label}>
    <Select value={value} of={of.map(({ ref, label }) => [ref, label] as const)} onValue={onChange} />
  </Field>
)

export function NewRun({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const { entity, project } = useProject()
  const navigate = useNavigate()
  const evaluations = useLatest(projectId, evaluationClasses)
  const models = useLatest(projectId, modelClasses)
  const [evaluation, setEvaluation] = useState('')
  const [model, setModel] = useState('')
  const [chosenEvaluation, chosenModel] = [evaluation || evaluations.data?.[0]?.ref, model || models.data?.[0]?.ref]
  const fault = evaluations.error ?? models.error
  const isKnown = evaluations.data !== undefined && models.data !== undefined
  return (
    <FormDialog
      title="New run"
      act="Run"
      isReady={chosenEvaluation !== undefined && chosenModel !== undefined}
      run={async () => {
        if (chosenEvaluation === undefined || chosenModel === undefined) return
        const asked = { project_id: projectId, evaluation_ref: chosenEvaluation, model_ref: chosenModel }
        const { call_id } = await json('evaluations.evaluate_model', asked)
        await navigate({ to: '/p/$entity/$project/evaluations/$runId', params: { entity, project, runId: call_id } })
      }}
      onClose={onClose}
    >
      {fault && <FaultBox error={fault} onRetry={() => void Promise.all([evaluations.refetch(), models.refetch()])} />}
      {evaluations.data?.length === 0 && <p className="second">This project has no evaluations yet.</p>}
      {models.data?.length === 0 && <p className="second">This project has no models yet.</p>}
      {isKnown && evaluations.data.length > 0 && (
        <Choose label="Evaluation" of={evaluations.data} value={chosenEvaluation ?? ''} onChange={setEvaluation} />
      )}
      {isKnown && models.data.length > 0 && (
        <Choose label="Model" of={models.data} value={chosenModel ?? ''} onChange={setModel} />
      )}
      <p className="second">The server runs the model on each row of the dataset, then the scorers on each answer.</p>
    </FormDialog>
  )
}
