// Actions on a version: copy its ref and code that reads it, make a new version, delete it; and the number of calls
// that used it.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { baseUrl, json } from '../api/client.ts'
import { mayWrite, noWrite, useSession } from '../api/session.ts'
import { createVersion } from '../datasets/versions.ts'
import { jsonFault, prettyJson } from '../engine/json-texts.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Copy, FormDialog, TextField } from '../parts/forms.tsx'
import { T } from '../parts/text.tsx'
import { callsText, UsedBy, useGivenTo } from '../parts/used-by.tsx'
import { ask } from '../worker/client.ts'

type Props = {
  /** The page that a new version is opened on, and the list that is left to after deleting one. */
  page?: 'objects' | 'prompts'
  projectId: string
  objectId: string
  digest: string
  isOp: boolean
  /** Whether there is no later version. */
  isLatest: boolean
  /** Size of the value; larger ones are not edited in the page. */
  bytes: number
}

const maxEdited = 65_536

const snippets = (projectId: string, ref: string): Record<'Python' | 'Node', string> => ({
  Python: `import weave\n\nweave.init(${JSON.stringify(projectId)})\nvalue = weave.ref(${JSON.stringify(ref)}).get()\n`,
  Node: `import * as weave from 'weave'\n\nconst client = await weave.init(${JSON.stringify(projectId)})\nconst value = await client.get(weave.ObjectRef.fromUri(${JSON.stringify(ref)}))\n`,
})

/** Everything that names objects is read again. */
const useReadAgain = () => {
  const client = useQueryClient()
  return () => client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('object') })
}

function NewVersion({ page = 'objects', projectId, objectId, digest, isLatest, onClose }: Props & { onClose(): void }) {
  const [entity = '', project = ''] = projectId.split('/')
  const navigate = useNavigate()
  const readAgain = useReadAgain()
  const [edited, setEdited] = useState<string>()
  const { data: stored, error } = useQuery({
    queryKey: ['object-text', projectId, objectId, digest],
    queryFn: async ({ signal }) =>
      prettyJson((await ask('objectTexts', [baseUrl, projectId, objectId, digest], { signal })).value),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const text = edited ?? stored ?? ''
  const fault = stored === undefined ? undefined : jsonFault(text)
  return (
    <FormDialog
      title="New version"
      act="Save"
      isReady={edited !== undefined && edited !== stored && fault === undefined}
      run={async () => {
        const version = await createVersion(projectId, objectId, text)
        await readAgain()
        void navigate({
          to: `/p/$entity/$project/${page}/$objectId/$version`,
          params: { entity, project, objectId, version },
          search: {},
        })
      }}
      onClose={onClose}
    >
      <p>
        The current version is not changed. {!isLatest && 'There is a newer version; its changes are not included.'}
      </p>
      <TextField
        label="Value"
        hint={(error ?? undefined)?.message ?? fault ?? 'JSON. Numbers are stored exactly as written.'}
        rows={16}
        spellCheck={false}
        dir="auto"
        value={text}
        readOnly={stored === undefined}
        onText={setEdited}
      />
    </FormDialog>
  )
}

function Deletion({
  page = 'objects',
  projectId,
  objectId,
  digest,
  used,
  onClose,
}: Props & { used: number | undefined; onClose(): void }) {
  const [entity = '', project = ''] = projectId.split('/')
  const navigate = useNavigate()
  const readAgain = useReadAgain()
  return (
    <Confirm
      title="Delete version"
      act="Delete"
      run={async () => {
        await json('objects.delete', { project_id: projectId, object_id: objectId, digests: [digest] })
        await readAgain()
        void navigate({ to: `/p/$entity/$project/${page}`, params: { entity, project }, search: {} })
      }}
      onClose={onClose}
    >
      <p>
        This deletes one version of <T text={objectId} max={80} />. Other versions are kept.
        {used !== undefined && ` Calls that used it: ${callsText(used)}.`} References to it stop working.
      </p>
    </Confirm>
  )
}

export function VersionActs(props: Props) {
  const { projectId, objectId, digest, isOp, bytes } = props
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const { data: session } = useSession()
  const ref = `weave:///${projectId}/${isOp ? 'op' : 'object'}/${objectId}:${digest}`
  const { data: used } = useGivenTo(projectId, [ref])
  const mayNot = mayWrite(session) ? undefined : noWrite
  const tooLong = bytes > maxEdited ? 'Values above 64 KiB cannot be edited here' : undefined
  const close = () => setOpen(undefined)
  return (
    <div className="acts">
      <Copy label="Copy ref" text={ref} />
      {Object.entries(snippets(projectId, ref)).map(([name, text]) => (
        <Copy key={name} label={`Copy for ${name}`} text={text} />
      ))}
      {!isOp && (
        <Button disabled={(mayNot ?? tooLong) !== undefined} title={mayNot ?? tooLong} onClick={() => setOpen('edit')}>
          New version…
        </Button>
      )}
      <Button className="line danger" whyNot={mayNot} onClick={() => setOpen('delete')}>
        Delete…
      </Button>
      <UsedBy projectId={projectId} refs={[ref]} />
      {open === 'edit' && <NewVersion {...props} onClose={close} />}
      {open === 'delete' && <Deletion {...props} used={used?.count} onClose={close} />}
    </div>
  )
}
