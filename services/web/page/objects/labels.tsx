// Tags and aliases of a version: shown, added and taken away.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { mayWrite, useSession } from '../api/session.ts'
import { plainOf } from '../engine/safe-text.ts'
import { Button } from '../parts/button.tsx'
import { Fault, FormDialog, TextField } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { T } from '../parts/text.tsx'

type Version = { projectId: string; objectId: string; digest: string }
type Kind = 'tag' | 'alias'

/** The server keeps these itself. */
const ownAlias = /^(?:latest|v\d+)$/

async function change({ projectId, objectId, digest }: Version, kind: Kind, label: string, isAdded: boolean) {
  const project_id = projectId
  const ofObject = { params: { object_id: objectId } }
  const ofVersion = { params: { object_id: objectId, digest } }
  if (kind === 'tag')
    await (isAdded
      ? json('objects.add_tags', { project_id, tags: [label] }, ofVersion)
      : json('objects.remove_tags', { project_id, tags: [label] }, ofVersion))
  else
    await (isAdded
      ? json('objects.set_aliases', { project_id, digest, aliases: [label] }, ofObject)
      : json('objects.remove_aliases', { project_id, aliases: [label] }, ofObject))
}

export function Labels({ tags, aliases, ...version }: Version & { tags: string[]; aliases: string[] }) {
  const { data: session } = useSession()
  const client = useQueryClient()
  const [kind, setKind] = useState<Kind>()
  const [label, setLabel] = useState('')
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ['object'] })
    void client.invalidateQueries({ queryKey: ['objects'] })
  }
  const removal = useMutation({
    mutationFn: ([of, one]: [Kind, string]) => change(version, of, one, false),
    onSettled: refresh,
  })
  const may = mayWrite(session)
  const isOwn = (of: Kind, one: string) => may && !(of === 'alias' && ownAlias.test(one))
  const shown = [
    ...tags.map((one) => ['tag', one] as [Kind, string]),
    ...aliases.map((one) => ['alias', one] as [Kind, string]),
  ]
  return (
    <div className="labels">
      <ul aria-label="Tags and aliases">
        {shown.map(([of, one]) => (
          <li key={`${of} ${one}`} className={isOwn(of, one) ? 'chip' : 'chip plain'}>
            <span className="second">{of}</span> <T text={one} max={80} />
            {isOwn(of, one) && (
              <button
                type="button"
                aria-label={`Remove ${of} ${plainOf(one, 60)}`}
                disabled={removal.isPending}
                onClick={() => removal.mutate([of, one])}
              >
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {may &&
        (['tag', 'alias'] as const).map((of) => (
          <Button
            key={of}
            onClick={() => {
              setLabel('')
              setKind(of)
            }}
          >
            Add {of}…
          </Button>
        ))}
      <Fault error={removal.error} />
      {kind !== undefined && (
        <FormDialog
          title={`Add ${kind}`}
          act="Add"
          isReady={label.trim() !== ''}
          run={() => change(version, kind, label.trim(), true)}
          onClose={() => setKind(undefined)}
          onDone={() => {
            setKind(undefined)
            refresh()
          }}
        >
          <TextField
            label={kind === 'tag' ? 'Tag' : 'Alias'}
            hint={
              kind === 'tag'
                ? 'Several versions can have the same tag.'
                : 'Only one version has an alias. If another version has it, it moves to this one.'
            }
            value={label}
            onText={setLabel}
            maxLength={200}
          />
        </FormDialog>
      )}
    </div>
  )
}
