// Removing a project: closed at once, erased after that, by an owner who writes its name.
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { useSession } from '../api/session.ts'
import { FormDialog, TextField } from '../parts/forms.tsx'
import { partsOf } from './project.ts'

function RemoveDialog({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const [confirm, setConfirm] = useState('')
  const navigate = useNavigate()
  const run = () => json('projects.delete', { confirm }, { params: partsOf(projectId) })
  return (
    <FormDialog
      title="Remove project"
      act="Remove permanently"
      isDangerous
      run={run}
      onClose={onClose}
      isReady={confirm === projectId}
      onDone={() => void navigate({ to: '/' })}
    >
      <p>
        <strong>{projectId}</strong> is closed immediately and all of its data is erased. The name cannot be used again.
      </p>
      <TextField
        label="Project name"
        hint={`Type ${projectId} to confirm`}
        autoComplete="off"
        value={confirm}
        onText={setConfirm}
      />
    </FormDialog>
  )
}

export function RemoveProject({ projectId }: { projectId: string }) {
  const { data: session } = useSession()
  const [isAsking, setAsking] = useState(false)
  const mayRemove = session?.role === undefined || session.role === 'owner'
  return (
    <section className="part" aria-labelledby="remove-project">
      <div className="section-head">
        <div>
          <h2 id="remove-project">Remove project</h2>
          <p className="second">Closes the project and erases all of its data.</p>
        </div>
        <button
          type="button"
          className="line danger"
          disabled={!mayRemove}
          title={mayRemove ? undefined : 'Only owners can remove projects'}
          onClick={() => setAsking(true)}
        >
          Remove project…
        </button>
      </div>
      {isAsking && <RemoveDialog projectId={projectId} onClose={() => setAsking(false)} />}
    </section>
  )
}
