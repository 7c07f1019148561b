// One version of a prompt: its messages, variables and labels beside the other versions, and what differs from one of them.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { baseUrl, json } from '../api/client.ts'
import { ApiFault } from '../api/send.ts'
import { moment } from '../engine/format.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { Labels } from '../objects/labels.tsx'
import { VersionActs } from '../objects/version-acts.tsx'
import { Versions } from '../objects/versions.tsx'
import { Loading } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { useProject } from '../parts/project.ts'
import { sideText } from '../parts/sides.ts'
import { T } from '../parts/text.tsx'
import { promptModel, promptTexts } from '../playground/prompt-value.ts'
import { useZone } from '../preferences.ts'
import { ask } from '../worker/client.ts'
import { MessageDifferences, PromptMessages } from './messages.tsx'
import { userOf } from './prompts.tsx'
import { type ShownMessage, shownMessages, variablesOfPrompt } from './versions.ts'
import '../parts/reader.css'
import '../objects/objects.css'
import './prompts.css'

const route = '/signed-in/p/$entity/$project/prompts/$objectId/$version'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const useVersion = (projectId: string, objectId: string, version: string | undefined) =>
  useQuery({
    queryKey: ['object', projectId, objectId, version, 'messages'],
    enabled: version !== undefined,
    async queryFn({ signal }) {
      const asked = [baseUrl, projectId, objectId, version as string] as const
      const { head, value } = await ask('objectTexts', [...asked], { signal })
      const parsed: unknown = JSON.parse(value)
      return { head, length: value.length, ...promptTexts(parsed), messages: shownMessages(parsed) }
    },
    staleTime: 60_000,
  })

/** Indexes and digests of the versions, the latest first. */
const useIndexes = (project_id: string, objectId: string) =>
  useQuery({
    queryKey: ['objects', project_id, objectId, 'indexes'],
    async queryFn({ signal }) {
      const filter = { object_ids: [objectId], is_op: false }
      const sort_by = [{ field: 'created_at', direction: 'desc' as const }]
      const asked = { project_id, filter, sort_by, limit: 1_000, metadata_only: true }
      const { objs } = await json('objects.query', asked, { signal })
      return objs.map(({ digest, version_index }) => ({ digest, index: version_index }))
    },
    staleTime: 60_000,
  })

export function PromptVersion() {
  const { entity, project, objectId, version } = useParams({ from: route })
  const { against, tz } = useSearch({ from: route })
  const projectId = `${entity}/${project}`
  const { data, error, refetch } = useVersion(projectId, objectId, version)
  const digest = textOf(data?.head.digest)
  const kept = { ...(tz && { tz }) }
  const variables = variablesOfPrompt(data?.messages ?? [])
  const isGone = error instanceof ApiFault && error.values.status === 404
  const shown = () => {
    if (isGone)
      return (
        <div className="center" role="status">
          <h1>Version not found</h1>
          <p className="second">It was deleted or never existed.</p>
        </div>
      )
    if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
    if (data === undefined) return <Loading what="the prompt" />
    return (
      <article className="reader object-version" aria-label="Prompt">
        <header>
          <h1 className="name">
            <T text={objectId} />
          </h1>
          {data.description !== '' && (
            <p>
              <T text={data.description} max={2_000} />
            </p>
          )}
          <VersionFacts head={data.head} model={data.model} tz={tz} />
          <Labels
            projectId={projectId}
            objectId={objectId}
            digest={digest}
            tags={listOf(data.head.tags)}
            aliases={listOf(data.head.aliases)}
          />
          <div className="prompt-acts">
            <Link
              to="/p/$entity/$project/playground"
              params={{ entity, project }}
              search={{ prompt: `${objectId}/${digest}` }}
              className="line"
            >
              Edit in playground
            </Link>
            <Link
              to="/p/$entity/$project/objects/$objectId/$version"
              params={{ entity, project, objectId, version: digest }}
              search={kept}
            >
              View as JSON
            </Link>
          </div>
          <VersionActs
            page="prompts"
            projectId={projectId}
            objectId={objectId}
            digest={digest}
            bytes={data.length}
            key={digest}
            isOp={false}
            isLatest={data.head.is_latest === 1}
          />
        </header>
        {variables.length > 0 && (
          <section aria-label="Variables" className="prompt-section">
            <h3>Variables</h3>
            <p className="mono">
              <T text={variables.join(', ')} max={2_000} />
            </p>
          </section>
        )}
        <MessagesSection objectId={objectId} digest={digest} messages={data.messages} against={against} />
      </article>
    )
  }
  return (
    <ProjectPage
      title={objectId}
      crumb={
        <Link to="/p/$entity/$project/prompts" params={{ entity, project }} search={kept}>
          Prompts
        </Link>
      }
    >
      <div className="object-page">
        <Versions
          to="/p/$entity/$project/prompts/$objectId/$version"
          compareWith={(one) => ({ against: one, ...kept })}
          projectId={projectId}
          objectId={objectId}
          version={version}
          search={kept}
        />
        {shown()}
      </div>
    </ProjectPage>
  )
}

type SectionProps = {
  objectId: string
  digest: string
  /** Null where the value holds none. */
  messages: ShownMessage[] | null
  /** The version that they are compared with. */
  against: string | undefined
}

function MessagesSection({ objectId, digest, messages, against }: SectionProps) {
  const { entity, project, projectId } = useProject()
  const navigate = useNavigate({ from: '/p/$entity/$project/prompts/$objectId/$version' })
  const other = useVersion(projectId, objectId, against)
  const { data: indexes } = useIndexes(projectId, objectId)
  return (
    <section aria-label="Messages" className="prompt-section">
      <div className="prompt-acts">
        <h3>Messages</h3>
        {indexes !== undefined && indexes.length > 1 && (
          <label>
            <span className="second">Compare with</span>{' '}
            <select
              value={indexes.find((one) => one.digest === against)?.digest ?? ''}
              onChange={({ target }) =>
                void navigate({ search: (old) => ({ ...old, against: target.value || undefined }) })
              }
            >
              <option value="">No version</option>
              {indexes
                .filter((one) => one.digest !== digest)
                .map((one) => (
                  <option key={one.digest} value={one.digest}>
                    v{one.index}
                  </option>
                ))}
            </select>
          </label>
        )}
        {against !== undefined && (
          <Link
            to="/p/$entity/$project/diff"
            params={{ entity, project }}
            search={{
              a: sideText({ object: objectId, digest: against }),
              b: sideText({ object: objectId, digest }),
            }}
          >
            All differences
          </Link>
        )}
      </div>
      {messages === null ? (
        <p className="second">This prompt has no messages to show. View it as JSON.</p>
      ) : against === undefined ? (
        <PromptMessages messages={messages} />
      ) : other.error ? (
        <FaultBox error={other.error} onRetry={() => void other.refetch()} />
      ) : other.data === undefined ? (
        <Loading what="the other version" />
      ) : (
        <MessageDifferences before={other.data.messages ?? []} now={messages} />
      )}
    </section>
  )
}

type FactsProps = { head: Record<string, unknown>; model: string; tz: string | undefined }

function VersionFacts({ head, model, tz }: FactsProps) {
  const zone = useZone(tz)
  const facts: [name: string, value: string][] = [
    ['Version', `v${String(head.version_index ?? '?')}${head.is_latest === 1 ? ', the latest' : ''}`],
    ['Model', promptModel(model)],
    ['Created', moment(textOf(head.created_at), zone)],
    ['By', userOf(head)],
    ['Digest', textOf(head.digest)],
  ]
  return <Facts facts={facts} />
}
