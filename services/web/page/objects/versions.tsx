// The versions of an object beside the one that shows, each with what differs from it.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { json } from '../api/client.ts'
import { sideText } from '../parts/sides.ts'
import { Moment, T } from '../parts/text.tsx'
import { useZone } from '../preferences.ts'

const shownVersions = 100

/** Pages that show one version beside the others. */
type VersionPath = `/p/$entity/$project/${'objects' | 'prompts'}/$objectId/$version`

type Props = {
  /** The page that versions are opened on. */
  to?: VersionPath
  /** The search of a comparison with this version, where that page compares itself. */
  compareWith?(digest: string): { against: string; tz?: string | undefined }
  projectId: string
  objectId: string
  /** Digest or alias of the address. */
  version: string
  search: { op?: '1' | undefined; tz?: string | undefined }
}

const objectPath = '/p/$entity/$project/objects/$objectId/$version'

export function Versions({ to = objectPath, compareWith, projectId, objectId, version, search }: Props) {
  const zone = useZone(search.tz)
  const [entity = '', project = ''] = projectId.split('/')
  const { data } = useQuery({
    queryKey: ['objects', projectId, objectId, 'versions', search.op],
    async queryFn({ signal }) {
      const body = {
        project_id: projectId,
        filter: { object_ids: [objectId], is_op: search.op === '1' },
        sort_by: [{ field: 'created_at', direction: 'desc' as const }],
        limit: shownVersions,
        metadata_only: true,
        include_tags_and_aliases: true,
      }
      return (await json('objects.query', body, { signal })).objs
    },
    staleTime: 60_000,
  })
  const versions = data ?? []
  const isShown = (one: (typeof versions)[number]) =>
    one.digest === version || (one.aliases ?? []).includes(version) || `v${one.version_index}` === version
  const at = versions.find(isShown)
  if (data?.length === 0) return null
  return (
    <nav className="versions" aria-label="Versions">
      <ol>
        {versions.map((one) => (
          <li key={one.digest} aria-current={isShown(one) ? 'page' : undefined}>
            <Link to={to} params={{ entity, project, objectId, version: one.digest }} search={search}>
              <b className="num">v{one.version_index}</b> <Moment at={one.created_at} zone={zone} />
              <span className="second labels-of">
                <T text={[...(one.tags ?? []), ...(one.aliases ?? [])].join(', ')} max={60} />
              </span>
            </Link>
            {at !== undefined && at.digest !== one.digest && compareWith && (
              <Link
                to={to}
                params={{ entity, project, objectId, version: at.digest }}
                search={compareWith(one.digest)}
                aria-label={`Compare v${one.version_index} with v${at.version_index}`}
                className="second"
              >
                Compare
              </Link>
            )}
            {at !== undefined && at.digest !== one.digest && !compareWith && (
              <Link
                to="/p/$entity/$project/diff"
                params={{ entity, project }}
                search={{
                  a: sideText({ object: objectId, digest: one.digest }),
                  b: sideText({ object: objectId, digest: at.digest }),
                }}
                aria-label={`Compare v${one.version_index} with v${at.version_index}`}
                className="second"
              >
                Compare
              </Link>
            )}
          </li>
        ))}
      </ol>
      {versions.length === shownVersions && (
        <Link to="/p/$entity/$project/objects/$objectId" params={{ entity, project, objectId }} search={search}>
          All versions
        </Link>
      )}
    </nav>
  )
}
