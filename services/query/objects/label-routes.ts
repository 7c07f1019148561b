// Tags and aliases of object versions: setting, removing and listing. Served here, because versions are found by reading.
import type { z } from 'zod'
import {
  aliasesRemoveRequest,
  aliasesResponse,
  aliasesSetRequest,
  labelsChanged,
  tagsRequest,
  tagsResponse,
} from '../../../schemas/object-labels.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import { isLongerThan } from '../../core/json/characters.ts'
import { type Freshness, throwIfStale } from '../../core/log/freshness.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import type { Store } from '../../core/store/store.ts'
import { type LabelChange, labelRecord } from '../../events/object-labels.ts'
import { distinctLabels } from './labels.ts'
import { findDigest } from './read.ts'

export type LabelDeps = {
  store: Pick<Store, 'rows'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
}

const maxLabels = 1_000
const tagForm = /^[\p{L}\p{N}_-]+(?: [\p{L}\p{N}_-]+)*$/u

/** @throws Fault 400 */
function checkTags(tags: readonly string[]): void {
  for (const tag of tags)
    if (!tagForm.test(tag) || isLongerThan(tag, 256))
      throw fault(
        400,
        `Tag ${JSON.stringify(tag.slice(0, 300))} must be at most 256 letters, digits, "_", "-" and single inner spaces`,
      )
}

/** @throws Fault 400 */
function checkAliases(aliases: readonly string[]): void {
  for (const alias of aliases) {
    const shown = JSON.stringify(alias.slice(0, 300))
    if (alias.trim() === '' || isLongerThan(alias, 128))
      throw fault(400, `Alias ${shown} must have 1 to 128 characters`)
    if (/[/:]/.test(alias)) throw fault(400, `Alias ${shown} must not hold "/" or ":"`)
    if (alias === 'latest' || /^v\d+$/.test(alias)) throw fault(400, `Alias ${shown} is kept for versions`)
  }
}

type Sent = { project: string; kind: LabelChange['kind']; labels: string[]; version: string | null; isSet: boolean }

/** Appends a change of labels and answers it. */
async function change(
  { store, log, clock, freshness }: LabelDeps,
  context: Pick<RouteContext, 'header' | 'query' | 'signal' | 'params' | 'project'>,
  { project, kind, labels, version, isSet }: Sent,
): Promise<Reply> {
  const projectId = context.project(project)
  if (labels.length > maxLabels) throw fault(400, `More than ${maxLabels} labels in one request`)
  if (kind === 'tag') checkTags(labels)
  else checkAliases(labels)
  const objectId = context.params.object_id as string
  let headers: Record<string, string> = {}
  let digest = ''
  if (version !== null) {
    headers = await freshness.wait(context, ['objects', 'object_labels'])
    // The version may not be there yet, or no longer be the one with this alias.
    throwIfStale(headers)
    digest = await findDigest(store, { projectId, objectId, version }, { signal: context.signal })
  }
  if (labels.length === 0) return { json: {}, headers }
  const record = labelRecord({ projectId, objectId, kind, labels, digest, isSet, clock: clock.next() })
  const position = await log.append('object_labels', [record])
  return { json: {}, headers: { ...headers, [positionHeader]: formatPositions([position]) } }
}

const topics = ['object_labels']
const tables = ['object_events', 'object_labels']
const written = { response: labelsChanged, topics, tables }

/** The routes that change the tags of a version. */
const tagRoutes = (deps: LabelDeps): Route[] => {
  const handle =
    (isSet: boolean) =>
    (context: RouteContext<z.output<typeof tagsRequest>>): Promise<Reply> => {
      const { project_id: project, tags: labels } = context.input
      return change(deps, context, { project, kind: 'tag', labels, version: context.params.digest as string, isSet })
    }
  return [
    route({
      ...written,
      name: 'objects.add_tags',
      method: 'PUT',
      path: '/objs/{object_id}/versions/{digest}/tags',
      summary: 'Adds tags to a version of an object',
      body: { type: 'json', schema: tagsRequest, check: 'schema' },
      handle: handle(true),
    }),
    route({
      ...written,
      name: 'objects.remove_tags',
      method: 'POST',
      path: '/objs/{object_id}/versions/{digest}/tags/remove',
      summary: 'Removes tags from a version of an object',
      body: { type: 'json', schema: tagsRequest, check: 'schema' },
      handle: handle(false),
    }),
  ]
}

const setAliasesRoute = (deps: LabelDeps): Route =>
  route({
    ...written,
    name: 'objects.set_aliases',
    method: 'PUT',
    path: '/objs/{object_id}/aliases',
    summary: 'Sets aliases of a version of an object; they move from another version',
    body: { type: 'json', schema: aliasesSetRequest, check: 'schema' },
    handle: (context) => {
      const { project_id: project, aliases: labels, digest: version } = context.input
      return change(deps, context, { project, kind: 'alias', labels, version, isSet: true })
    },
  })

const removeAliasesRoute = (deps: LabelDeps): Route =>
  route({
    ...written,
    tables: [],
    name: 'objects.remove_aliases',
    method: 'POST',
    path: '/objs/{object_id}/aliases/remove',
    summary: 'Removes aliases from an object; unknown ones are ignored',
    body: { type: 'json', schema: aliasesRemoveRequest, check: 'schema' },
    handle: (context) => {
      const { project_id: project, aliases: labels } = context.input
      return change(deps, context, { project, kind: 'alias', labels, version: null, isSet: false })
    },
  })

/** The routes that list the distinct labels of a project. */
const listRoutes = ({ store, freshness }: LabelDeps): Route[] => {
  const list = (kind: LabelChange['kind']) => async (context: RouteContext) => {
    const project = context.query.get('project_id')
    if (project === null) throw invalid({ loc: ['query', 'project_id'], msg: 'Field required', type: 'missing' })
    const projectId: ProjectId = context.project(project)
    const headers = await freshness.wait(context, ['objects', 'object_labels'])
    const found = await distinctLabels(store, projectId, kind, { signal: context.signal })
    return { json: { [kind === 'tag' ? 'tags' : 'aliases']: found }, headers }
  }
  const listed = { method: 'GET', body: { type: 'none' }, tables } as const
  return [
    route({
      ...listed,
      name: 'objects.list_tags',
      path: '/tags',
      summary: 'The distinct tags of a project',
      response: tagsResponse,
      handle: list('tag'),
    }),
    route({
      ...listed,
      name: 'objects.list_aliases',
      path: '/aliases',
      summary: 'The distinct aliases of a project, without `latest`',
      response: aliasesResponse,
      handle: list('alias'),
    }),
  ]
}

export const createObjectLabelRoutes = (deps: LabelDeps): Route[] => [
  ...tagRoutes(deps),
  setAliasesRoute(deps),
  removeAliasesRoute(deps),
  ...listRoutes(deps),
]
