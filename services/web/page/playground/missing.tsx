// Shows what a project lacks for requests to models, and where to add it.
import { Link } from '@tanstack/react-router'
import { mayAdminister, useSession } from '../api/session.ts'
import { useProject } from '../parts/project.ts'
import { placeOf } from '../parts/sections.ts'
import { T } from '../parts/text.tsx'

/** @param name of the key of a provider */
export function MissingSecret({ name }: { name: string }) {
  const { projectId } = useProject()
  const { data: session } = useSession()
  return (
    <p className="s-error" role="alert">
      There is no API key for this model: the secret <T text={name} max={120} /> is missing.{' '}
      {mayAdminister(session) ? (
        <>
          Add it under{' '}
          <Link {...placeOf('secrets')} search={{ project: projectId }}>
            Settings, Secrets
          </Link>
          .
        </>
      ) : (
        'Somebody with admin rights can add it under Settings, Secrets.'
      )}
    </p>
  )
}

/** @param error why the list of models could not be read; null where it is empty */
export function NoModels({ error }: { error: Error | null }) {
  const { projectId } = useProject()
  const search = { project: projectId }
  return (
    <p className="notice" role="status">
      <span>
        {error === null
          ? 'No model can be used in this project yet.'
          : `Models are not listed: ${error.message.slice(0, 200)}`}{' '}
        Add a provider under{' '}
        <Link {...placeOf('providers')} search={search}>
          Settings, Providers
        </Link>{' '}
        and its API key under{' '}
        <Link {...placeOf('secrets')} search={search}>
          Secrets
        </Link>
        . The name of a model can also be typed.
      </span>
    </p>
  )
}
