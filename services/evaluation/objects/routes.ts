// The object routes of the evaluation interface: create, list, read a version and delete, for each of the five kinds.
import type { z } from 'zod'
import {
  datasetCreateRequest,
  datasetCreateResponse,
  datasetRead,
  deleteResponse,
  evaluationCreateRequest,
  evaluationCreateResponse,
  evaluationRead,
  modelCreateRequest,
  modelCreateResponse,
  modelRead,
  opCreateRequest,
  opCreateResponse,
  opRead,
  scorerCreateRequest,
  scorerCreateResponse,
  scorerRead,
} from '../../../schemas/evaluation-objects.ts'
import type { Clock } from '../../core/clock/clock.ts'
import type { Invoke, InvokeCaller } from '../../core/http/invoke.ts'
import { type Reply, type Route, type RouteContext, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import { boundsOfPage, checkBoolean } from '../query-params.ts'
import { dataset, type EvaluationKind, evaluation, modelKind, op, scorer } from './kinds.ts'
import { createWriteOps } from './ops.ts'
import { callerOf, deleteVersions, listVersions, readerOf, readVersion } from './reads.ts'
import {
  create,
  type Making,
  makeDataset,
  makeEvaluation,
  makeModel,
  makeOp,
  makeScorer,
  type WriteDeps,
} from './writes.ts'

type EvaluationObjectDeps = { invoke: Invoke; log: Pick<Log, 'append'>; clock: Clock }

/** The routes of a kind as far as they differ from those of the others. */
type Declared<Input extends z.ZodType = z.ZodType> = {
  kind: EvaluationKind
  /** Path segment. */
  plural: string
  create: {
    name: string
    request: Input
    response: z.ZodType
    topics: string[]
    make(making: Making, input: z.output<Input>): Promise<{ objectId: string; digest: string }>
    /** Member of the answer that holds the new version's ref. */
    ref?: string
  }
  list: { name: string }
  /** `flag`: a boolean of the query string that is taken, and changes nothing. */
  read: { name: string; response: z.ZodType; flag?: string }
  remove: { name: string }
}

/** Keeps the body's type for `make`. */
const declare = <Input extends z.ZodType>(one: Declared<Input>): Declared => one as unknown as Declared

const declared: Declared[] = [
  declare({
    kind: op,
    plural: 'ops',
    create: {
      name: 'ops.create',
      request: opCreateRequest,
      response: opCreateResponse,
      topics: ['files', 'objects'],
      make: makeOp,
    },
    list: { name: 'ops.list' },
    read: { name: 'ops.read', response: opRead, flag: 'eager' },
    remove: { name: 'ops.delete' },
  }),
  declare({
    kind: dataset,
    plural: 'datasets',
    create: {
      name: 'datasets.create',
      request: datasetCreateRequest,
      response: datasetCreateResponse,
      topics: ['tables', 'objects'],
      make: makeDataset,
    },
    list: { name: 'datasets.list' },
    read: { name: 'datasets.read', response: datasetRead },
    remove: { name: 'datasets.delete' },
  }),
  declare({
    kind: scorer,
    plural: 'scorers',
    create: {
      name: 'scorers.create',
      request: scorerCreateRequest,
      response: scorerCreateResponse,
      topics: ['files', 'objects'],
      make: makeScorer,
      ref: 'scorer',
    },
    list: { name: 'scorers.list' },
    read: { name: 'scorers.read', response: scorerRead },
    remove: { name: 'scorers.delete' },
  }),
  declare({
    kind: evaluation,
    plural: 'evaluations',
    create: {
      name: 'evaluations.create',
      request: evaluationCreateRequest,
      response: evaluationCreateResponse,
      topics: ['files', 'objects'],
      make: makeEvaluation,
      ref: 'evaluation_ref',
    },
    list: { name: 'evaluations.list' },
    read: { name: 'evaluations.read', response: evaluationRead },
    remove: { name: 'evaluations.delete' },
  }),
  declare({
    kind: modelKind,
    plural: 'models',
    create: {
      name: 'models.create',
      request: modelCreateRequest,
      response: modelCreateResponse,
      topics: ['files', 'objects'],
      make: makeModel,
      ref: 'model_ref',
    },
    list: { name: 'models.list' },
    read: { name: 'models.read', response: modelRead },
    remove: { name: 'models.delete' },
  }),
]

const projectOf = ({ params, project }: RouteContext): ProjectId => project(`${params.entity}/${params.project}`)

const linesType = 'application/jsonl'

function routesOf({ kind, plural, create: creation, list, read, remove }: Declared, deps: WriteDeps): Route[] {
  const { invoke } = deps
  const path = `/v2/{entity}/{project}/${plural}`
  const of = (context: RouteContext, as: InvokeCaller) => {
    const { mayTakeLong } = context
    return { invoke, kind, projectId: projectOf(context), as, mayTakeLong }
  }
  const objectId = ({ params }: RouteContext): string => params.object_id as string
  const sources = kind.hasSource ? ['files'] : []
  return [
    route({
      name: creation.name,
      method: 'POST',
      path,
      summary: `Stores a version of one of the ${plural}`,
      body: { type: 'json', schema: creation.request, check: 'schema' },
      response: creation.response,
      topics: creation.topics,
      tables: ['objects', 'object_events'],
      async handle(context) {
        const projectId = projectOf(context)
        const sent = { projectId, body: context.body.bytes }
        const { created, headers } = await create(deps, callerOf(context), sent, (making) =>
          creation.make(making, context.input),
        )
        const ref = `weave:///${projectId}/object/${created.object_id}:${created.digest}`
        return { json: creation.ref === undefined ? created : { ...created, [creation.ref]: ref }, headers }
      },
    }),
    route({
      name: list.name,
      method: 'GET',
      path,
      summary: `${kind.latestOnly ? 'The latest versions' : 'Every live version'} of the ${plural} of a project`,
      body: { type: 'none' },
      response: null,
      responseType: linesType,
      tables: ['objects', 'object_events', ...sources],
      async handle(context): Promise<Reply> {
        const asked = of(context, readerOf(context))
        const { lines, headers } = await listVersions(asked, boundsOfPage(context.query))
        return { lines, contentType: linesType, headers }
      },
    }),
    route({
      name: read.name,
      method: 'GET',
      path: `${path}/{object_id}/versions/{digest}`,
      summary: `One version of one of the ${plural}, by digest, number or alias`,
      body: { type: 'none' },
      response: read.response,
      tables: ['objects', 'object_events', 'object_labels', ...sources],
      async handle(context) {
        const asked = of(context, readerOf(context))
        if (read.flag !== undefined) checkBoolean(context.query, read.flag)
        const { text, headers } = await readVersion(asked, objectId(context), context.params.digest as string)
        return { jsonText: text, headers }
      },
    }),
    route({
      name: remove.name,
      method: 'DELETE',
      path: `${path}/{object_id}`,
      summary: `Deletes versions of one of the ${plural}: the ones that are named, or all`,
      body: { type: 'none' },
      response: deleteResponse,
      topics: ['objects'],
      tables: ['objects', 'object_events'],
      async handle(context) {
        const asked = of(context, callerOf(context))
        const { count, headers } = await deleteVersions(asked, objectId(context), context.query.getAll('digests'))
        return { json: { num_deleted: count }, headers }
      },
    }),
  ]
}

export function createEvaluationObjectRoutes({ invoke, log, clock }: EvaluationObjectDeps): Route[] {
  const deps = { invoke, writeOps: createWriteOps({ log, clock }) }
  return declared.flatMap((one) => routesOf(one, deps))
}
