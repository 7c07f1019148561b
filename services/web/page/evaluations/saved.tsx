// Saved comparisons: objects of the class `ComparisonView`, as the Weave SDK knows them.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog, DialogActs } from '../parts/dialog.tsx'
import { ErrorLine } from '../parts/fault.tsx'
import { Input } from '../parts/input.tsx'
import { Menu } from '../parts/menu.tsx'
import { useProject } from '../parts/project.ts'
import { T } from '../parts/text.tsx'

type View = { name: string; runs: string[]; metrics: string[] }

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && !one.includes(',')) : []

function viewOf(object_id: string, val: unknown): View {
  const { label, definition } = (val ?? {}) as Record<string, unknown>
  const { evaluation_call_ids, selected_metrics } = (definition ?? {}) as Record<string, unknown>
  const name = typeof label === 'string' ? label : object_id
  return { name, runs: texts(evaluation_call_ids), metrics: texts(selected_metrics) }
}

export function SavedComparisons({ projectId }: { projectId: string }) {
  const { entity, project } = useProject()
  const navigate = useNavigate()
  const { data } = useQuery({
    queryKey: ['comparisons', projectId],
    async queryFn({ signal }) {
      const filter = { base_object_classes: ['ComparisonView'], latest_only: true }
      const { objs } = await json('objects.query', { project_id: projectId, filter, limit: 100 }, { signal })
      return objs.map(({ object_id, val }) => viewOf(object_id, val)).filter(({ runs }) => runs.length > 1)
    },
  })
  if (data === undefined || data.length === 0) return null
  return (
    <Menu label="Saved comparisons" className="line" button="Saved comparisons">
      {(close) =>
        data.map(({ name, runs, metrics }) => (
          <button
            key={name}
            type="button"
            className="item"
            onClick={() => {
              close()
              const search = { runs: runs.join(','), ...(metrics.length > 0 && { metrics: metrics.join(',') }) }
              void navigate({ to: '/p/$entity/$project/evaluations/compare', params: { entity, project }, search })
            }}
          >
            <T text={name} max={60} /> <span className="dim">{plural(runs.length, 'run')}</span>
          </button>
        ))
      }
    </Menu>
  )
}

export function SaveComparison({ runs, metrics }: { runs: string[]; metrics: string[] }) {
  const { projectId } = useProject()
  const client = useQueryClient()
  const { data: session } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [label, setLabel] = useState('')
  const save = useMutation({
    mutationFn: () =>
      json('objects.create', {
        obj: {
          project_id: projectId,
          object_id: label
            .trim()
            .replaceAll(/[^\w.-]+/g, '-')
            .slice(0, 120),
          builtin_object_class: 'ComparisonView',
          val: { label: label.trim(), definition: { evaluation_call_ids: runs, selected_metrics: metrics } },
        },
      }),
    async onSuccess() {
      setOpen(false)
      await client.invalidateQueries({ queryKey: ['comparisons', projectId] })
    },
  })
  const reason = mayWrite(session) ? undefined : noWrite
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <>
      <Button whyNot={reason} onClick={() => setOpen(true)}>
        Save
      </Button>
      {isOpen && (
        <Dialog title="Save comparison" onClose={() => setOpen(false)}>
          <form className="stack" onSubmit={submit}>
            <label className="field">
              <span>Name</span>
              <Input autoFocus value={label} onText={setLabel} />
            </label>
            <ErrorLine text={save.error?.message} />
            <DialogActs onClose={() => setOpen(false)}>
              <button type="submit" className="first" disabled={!/\w/.test(label) || save.isPending}>
                Save
              </button>
            </DialogActs>
          </form>
        </Dialog>
      )}
    </>
  )
}
