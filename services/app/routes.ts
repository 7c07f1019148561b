// Every declared route of the product, by role. The server, the OpenAPI document and `npm run paths` walk this list.

import { createAccessRoutes } from '../access/routes.ts'
import { createSignInRoutes } from '../access/sign-in/routes.ts'
import { createContent } from '../content/extract.ts'
import type { Maskings } from '../content/masking/maskings.ts'
import { createNameBinding } from '../content/name-binding.ts'
import { createOpObjects } from '../content/op-objects.ts'
import type { Audit } from '../core/audit/audit.ts'
import type { Blobs } from '../core/blobs/blobs.ts'
import type { Clock } from '../core/clock/clock.ts'
import type { KeyedLock } from '../core/concurrency/keyed-lock.ts'
import type { SharedSlots, Slots } from '../core/concurrency/slots.ts'
import type { Directory } from '../core/directory/directory.ts'
import type { Hold } from '../core/directory/holds.ts'
import type { RetentionSource } from '../core/directory/retention.ts'
import { createInvoke, type Invoke } from '../core/http/invoke.ts'
import type { KeyUses } from '../core/http/key-uses.ts'
import type { Keys } from '../core/http/keys.ts'
import type { RequestThreads } from '../core/http/long-requests.ts'
import type { Route } from '../core/http/route.ts'
import type { Freshness } from '../core/log/freshness.ts'
import type { EdgeLog, RecordSplit } from '../core/log/log.ts'
import type { Logger } from '../core/process/logger.ts'
import { type OpenedStore, openedOnly, recordedOnce, writtenOnce } from '../core/store/opened.ts'
import type { Store } from '../core/store/store.ts'
import { evaluationWork } from '../evaluation/evaluate-model/evaluate-model.ts'
import { evaluateModelRoute } from '../evaluation/evaluate-model/routes.ts'
import { createEnsureOps } from '../evaluation/objects/ops.ts'
import { createEvaluationObjectRoutes } from '../evaluation/objects/routes.ts'
import { createRunRoutes } from '../evaluation/routes.ts'
import { createCalls } from '../evaluation/runs/calls.ts'
import { keepRoutes } from '../inference/keep-answer.ts'
import type { Providers } from '../inference/providers.ts'
import { createRecorder } from '../inference/record.ts'
import { createInferenceRoutes } from '../inference/routes.ts'
import { createSecretRoutes } from '../inference/secret-routes.ts'
import type { OwnSecrets } from '../inference/secrets.ts'
import { createAnnotationQueueWriteRoutes } from '../ingest/annotation-queues/routes.ts'
import { createCallWriteRoutes } from '../ingest/calls/routes.ts'
import { createCostWriteRoutes } from '../ingest/costs/routes.ts'
import { createFeedbackWriteRoutes } from '../ingest/feedback/routes.ts'
import { createFileWriteRoutes } from '../ingest/files/routes.ts'
import { createObjectWriteRoutes } from '../ingest/objects/routes.ts'
import { createOtelRoutes, type OtelDeps } from '../ingest/otel/routes.ts'
import { createTableWriteRoutes } from '../ingest/tables/routes.ts'
import { createQueueCheck } from '../query/annotation-queues/read.ts'
import { createAnnotationQueueRoutes } from '../query/annotation-queues/routes.ts'
import { auditRoute } from '../query/audit/routes.ts'
import { createAggregateRoutes } from '../query/call-aggregate/routes.ts'
import { explainCostRoute } from '../query/call-costs/routes.ts'
import { createCallStatsRoutes } from '../query/call-stats/routes.ts'
import { unpricedModelsRoute } from '../query/call-stats/unpriced.ts'
import { createCallDeleteRoutes } from '../query/calls/delete.ts'
import { createExportRoutes } from '../query/calls/export/routes.ts'
import { createCallReadRoutes } from '../query/calls/routes.ts'
import { loadDefaultPrices } from '../query/costs/default-prices.ts'
import { createPrices } from '../query/costs/prices.ts'
import { createCostReadRoutes } from '../query/costs/routes.ts'
import { createErasureRoutes } from '../query/erasures/routes.ts'
import { createAnnotationSchema } from '../query/feedback/annotation-schema.ts'
import { createThrowIfHeld } from '../query/feedback/held.ts'
import { createThrowUnlessOwn } from '../query/feedback/owners.ts'
import { createFeedbackReadRoutes } from '../query/feedback/routes.ts'
import { createFileReadRoutes } from '../query/files/routes.ts'
import { logDeleteRoute } from '../query/logs/delete.ts'
import { createLogReadRoutes } from '../query/logs/routes.ts'
import { createMaskingRoutes } from '../query/masking/routes.ts'
import { createBaseClasses } from '../query/objects/base-classes.ts'
import { createObjectDeleteRoutes } from '../query/objects/delete.ts'
import { createObjectLabelRoutes } from '../query/objects/label-routes.ts'
import { createObjectListRoutes } from '../query/objects/query.ts'
import { createObjectReadRoutes } from '../query/objects/routes.ts'
import { projectDeleteRoute } from '../query/projects/remove.ts'
import { createProjectRoutes } from '../query/projects/routes.ts'
import { createSettingsRoutes } from '../query/projects/settings.ts'
import { createRefReadRoutes } from '../query/refs/routes.ts'
import { createRequestErasure, erasureHeader } from '../query/request-erasure.ts'
import { createGraphqlRoutes } from '../query/service/graphql.ts'
import { createNotServedRoutes } from '../query/service/not-served.ts'
import { createServiceRoutes, type ServiceDeps } from '../query/service/routes.ts'
import { createServerRoutes, type OperatorDeps } from '../query/service/server-routes.ts'
import { createTableReadRoutes } from '../query/tables/routes.ts'
import { createTableUpdateRoutes } from '../query/tables/update.ts'
import { createThreadRoutes } from '../query/threads/routes.ts'
import { createTraceTreeRoutes } from '../query/trace-tree/routes.ts'
import { tracesQueryRoute } from '../query/traces/routes.ts'
import { createWholeTraces } from '../query/traces/whole-traces.ts'
import { jobOfKeyQuery } from '../query/training-jobs/of-key.ts'
import { projectUsageRoute } from '../query/usage/by-key.ts'
import { createUsageRoutes } from '../query/usage/routes.ts'
import { createTrainingRoutes } from '../training-jobs/routes.ts'
import type { Assets } from '../web/assets.ts'
import { createPageRoutes } from '../web/routes.ts'
import { createSessionRoutes, type SessionRouteDeps } from '../web/session-routes.ts'
import type { Config } from './config.ts'
import { does, type ServerRole } from './roles.ts'

/** Dependencies of routes, in whichever thread they run. */
export type RouteDeps = {
  config: Config
  log: EdgeLog
  /** The limits for splitting rows of calls. */
  split: RecordSplit
  store: Pick<Store, 'rows' | 'bytes'>
  clock: Clock
  blobs: Blobs
  freshness: Freshness
  lock: KeyedLock
  slots: Slots
  /** Slots for rows of evaluations. */
  rowSlots: SharedSlots
  providers: () => Providers
  maskings: Maskings
  onFaults: OtelDeps['onFaults']
  retention: RetentionSource
  /** Holds of all projects, by their ids. */
  holds(): ReadonlyMap<string, Hold>
  /** The key that seals secrets of the server and makes hashes; undefined where it is not set. */
  masterKey(): Buffer | undefined
  /** Secrets of projects and entities. */
  secrets: OwnSecrets
  /** Users, keys, settings, rules and secrets; absent where routes run in a thread. */
  directory?: Directory
  /** Absent with it. */
  keyUses?: Pick<KeyUses, 'lastMs'>
  audit: Audit
  logger: Pick<Logger, 'warn'>
  /** About the process itself; without it the routes that tell of it are left out. */
  service?: ServiceDeps
  /** Ports of the server itself; absent where routes run in a thread. */
  operator?: OperatorDeps
  /** The web page; without it, it is not served. */
  web?: { assets: Assets; masterKey(): Buffer | undefined; keys: Keys } & Omit<SessionRouteDeps, 'logger' | 'keys'>
  /** Threads for long work of the server itself; without them it runs here. */
  threads?: Pick<RequestThreads, 'run'>
}

/** Handlers read by what their requests have opened. */
type HandlerDeps = Omit<RouteDeps, 'store'> & { store: OpenedStore }

const ingestRoutes = (deps: HandlerDeps): Route[] => {
  const { config, log, split, store, clock, blobs, freshness, lock, maskings, onFaults, logger, audit, masterKey } =
    deps
  const requestErasure = createRequestErasure({ log, clock, config, masterKey })
  const content = createContent({ log, clock, blobs })
  const annotationSchema = createAnnotationSchema({ store, freshness })
  const checkQueue = createQueueCheck({ store, freshness })
  const binding = createNameBinding(createBaseClasses({ store, freshness }), lock)
  const { wirePrefix, wireAliases, edgeWasm } = config
  return [
    ...createCallWriteRoutes({
      log,
      split,
      clock,
      content,
      maskings,
      wirePrefix,
      wireAliases,
      edgeWasm,
      // Clients that send in the background do not look at the answers.
      onRefused: (batch) => logger.warn(batch, 'items of a batch were refused'),
    }),
    ...createOtelRoutes({
      log,
      split,
      clock,
      content,
      maskings,
      onFaults,
      opObjects: createOpObjects({ log, clock }),
      config,
    }),
    ...createObjectWriteRoutes({ log, clock, binding, maskings, config }),
    ...createFileWriteRoutes({ log, clock, blobs, maskings, config }),
    ...createCostWriteRoutes({ log, clock, audit }),
    ...createFeedbackWriteRoutes({
      log,
      clock,
      maskings,
      config,
      annotationSchema,
      checkQueue,
      throwUnlessOwn: createThrowUnlessOwn(deps),
      throwIfHeld: createThrowIfHeld(deps),
      audit,
      async requestRemoval(context, projectId, feedbackId) {
        const selector = { feedback_ids: [feedbackId] }
        return { [erasureHeader]: (await requestErasure(context, projectId, { calls: 0, feedback: 1, selector })).id }
      },
    }),
    ...createTableWriteRoutes({ log, clock, maskings }),
    ...createAnnotationQueueWriteRoutes({ log, clock, maskings }),
  ]
}

const queryRoutes = (deps: HandlerDeps): Route[] => {
  const { config, log, split, store, clock, blobs, freshness, lock, logger, directory, retention, audit, operator } =
    deps
  const { maskings, masterKey } = deps
  const { wirePrefix, feedbackPrefix, wordIndex } = config
  const prices = createPrices({ store, shipped: loadDefaultPrices(config.pricesFile) })
  const onMissingRefs = (projectId: string, digests: string[]) =>
    logger.warn({ projectId, digests: digests.slice(0, 100) }, 'refs that are to be expanded point at nothing')
  const calls = {
    store,
    freshness,
    log,
    clock,
    prices,
    wholeTraces: createWholeTraces({ store, prices }),
    wirePrefix,
    feedbackPrefix,
    onMissingRefs,
    words: wordIndex,
  }
  const requestErasure = createRequestErasure({ log, clock, config, masterKey })
  return [
    ...createCallReadRoutes(calls),
    ...createAggregateRoutes(calls),
    ...createThreadRoutes(calls),
    ...createTraceTreeRoutes(calls),
    ...createCallDeleteRoutes({ ...calls, split, audit }, requestErasure),
    ...createErasureRoutes({ ...calls, split, audit, requestErasure, config }),
    ...createCallStatsRoutes(calls),
    unpricedModelsRoute(calls),
    tracesQueryRoute(calls),
    ...createUsageRoutes({ ...calls, usageOwnOnly: config.usageOwnOnly }),
    ...createObjectReadRoutes({ store, freshness, config }),
    ...createObjectListRoutes({ store, freshness, config }),
    ...createObjectDeleteRoutes({ store, log, clock, freshness, audit }),
    ...createObjectLabelRoutes({ store, log, clock, freshness }),
    ...createFileReadRoutes({ store, freshness, blobs }),
    ...createCostReadRoutes({ store, log, clock, freshness, audit }),
    explainCostRoute({ store, prices, freshness }),
    ...createFeedbackReadRoutes(
      { store, log, clock, freshness, config, audit, throwIfHeld: createThrowIfHeld(deps) },
      requestErasure,
    ),
    ...createRefReadRoutes({ store, freshness }),
    ...createTableReadRoutes({ store, freshness }),
    ...createTableUpdateRoutes({ store, log, clock, freshness, maskings }),
    ...createAnnotationQueueRoutes({ store, log, clock, freshness, lock, audit, maskings }),
    ...createLogReadRoutes({ store, freshness }),
    logDeleteRoute({ store, log, clock, freshness, audit }, requestErasure),
    ...createProjectRoutes({ store, freshness, retention }),
    projectUsageRoute({ store, freshness }),
    auditRoute({ store, freshness }),
    ...(directory === undefined ? [] : createSettingsRoutes({ directory, retention, store, config })),
    ...(operator === undefined ? [] : createServerRoutes(operator)),
    ...(directory === undefined ? [] : [projectDeleteRoute({ directory, requestErasure, store })]),
    ...createNotServedRoutes(),
  ]
}

/** Routes that SDKs call first, whichever role they reach. */
const commonRoutes = ({ service, config }: Pick<RouteDeps, 'service' | 'config'>): Route[] => [
  ...(service === undefined ? [] : createServiceRoutes(service)),
  ...createGraphqlRoutes(config?.tlsCert !== undefined),
]

const accessRoutes = ({ directory, keyUses, config }: Pick<RouteDeps, 'directory' | 'keyUses' | 'config'>): Route[] =>
  directory === undefined || keyUses === undefined ? [] : createAccessRoutes({ directory, keyUses, config })

const webRoutes = ({ web, logger, directory, config }: HandlerDeps): Route[] => {
  if (web === undefined) return []
  const signIn = directory === undefined ? [] : createSignInRoutes({ ...web, directory, config })
  return [...createPageRoutes(web.assets), ...createSessionRoutes({ ...web, logger }), ...signIn]
}

/** Files that the page saves: their addresses are signed as its sessions are. */
const exportRoutes = ({ web, config }: HandlerDeps, invoke: Invoke): Route[] =>
  web === undefined ? [] : createExportRoutes({ ...web, invoke, wirePrefix: config.wirePrefix })

/** Routes of the services that do work: what they need of the others they get through the port. */
const workRoutes = (
  {
    store,
    log,
    clock,
    freshness,
    lock,
    slots,
    rowSlots,
    config,
    providers,
    secrets,
    logger,
    directory,
    masterKey,
  }: HandlerDeps,
  invoke: Invoke,
): Route[] => {
  const ensureOps = createEnsureOps({ log, clock })
  const calls = createCalls({ invoke, freshness, config })
  return [
    ...createInferenceRoutes({ invoke, config, providers, secrets, logger, slots }),
    ...keepRoutes({ recorder: createRecorder({ invoke, logger }) }),
    ...createEvaluationObjectRoutes({ invoke, log, clock }),
    ...createRunRoutes({ invoke, freshness, clock, lock, ensureOps, config }),
    evaluateModelRoute({ log, clock, config }),
    evaluationWork({ invoke, freshness, clock, calls, ensureOps, rowSlots }),
    ...createTrainingRoutes({ store, log, clock, freshness, jobOfKeyQuery }),
    ...(directory === undefined ? [] : createMaskingRoutes({ directory, config, masterKey, invoke })),
    ...(directory === undefined ? [] : createSecretRoutes({ directory, masterKey })),
  ]
}

/** `all` that handlers and jobs of a process of the role work through, and what of it is `served`. */
export function routesOf(role: ServerRole, given: RouteDeps): { served: Route[]; all: Route[] } {
  const deps: HandlerDeps = {
    ...given,
    store: openedOnly(given.store),
    log: writtenOnce(given.log),
    audit: recordedOnce(given.audit),
  }
  const common = commonRoutes(deps)
  if (!does(role, 'query')) {
    const served = [...(does(role, 'ingest') ? ingestRoutes(deps) : []), ...common]
    return { served, all: served }
  }
  // A server that only answers reads does not serve them, but its own work writes through them.
  const ingest = ingestRoutes(deps)
  const { config, threads } = deps
  const query = queryRoutes(deps).map(({ countsAll, ...route }) =>
    countsAll && !config.staleCounts ? { ...route, countsAll } : route,
  )
  const invoke = createInvoke({ routes: () => all, config, threads })
  const all = [...ingest, ...query, ...workRoutes(deps, invoke), ...common, ...accessRoutes(deps), ...webRoutes(deps)]
  all.push(...exportRoutes(deps, invoke))
  const isServed = (route: Route) => route.isInner !== true && (does(role, 'ingest') || !ingest.includes(route))
  return { served: all.filter(isServed), all }
}
