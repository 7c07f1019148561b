// Written by scripts/web-client.ts from the declared routes; a test makes it anew and compares.
import type { z } from 'zod'
import type * as access from '../../../schemas/access.ts'
import type * as annotationQueues from '../../../schemas/annotation-queues.ts'
import type * as audit from '../../../schemas/audit.ts'
import type * as callStats from '../../../schemas/call-stats.ts'
import type * as callValues from '../../../schemas/call-values.ts'
import type * as calls from '../../../schemas/calls.ts'
import type * as callsAggregate from '../../../schemas/calls-aggregate.ts'
import type * as callsExport from '../../../schemas/calls-export.ts'
import type * as callsRead from '../../../schemas/calls-read.ts'
import type * as costs from '../../../schemas/costs.ts'
import type * as erasures from '../../../schemas/erasures.ts'
import type * as evaluationObjects from '../../../schemas/evaluation-objects.ts'
import type * as evaluationRuns from '../../../schemas/evaluation-runs.ts'
import type * as feedback from '../../../schemas/feedback.ts'
import type * as files from '../../../schemas/files.ts'
import type * as holds from '../../../schemas/holds.ts'
import type * as images from '../../../schemas/images.ts'
import type * as inference from '../../../schemas/inference.ts'
import type * as logs from '../../../schemas/logs.ts'
import type * as maskRules from '../../../schemas/mask-rules.ts'
import type * as notServed from '../../../schemas/not-served.ts'
import type * as objectLabels from '../../../schemas/object-labels.ts'
import type * as objects from '../../../schemas/objects.ts'
import type * as projectSettings from '../../../schemas/project-settings.ts'
import type * as projectUsage from '../../../schemas/project-usage.ts'
import type * as projects from '../../../schemas/projects.ts'
import type * as refs from '../../../schemas/refs.ts'
import type * as secrets from '../../../schemas/secrets.ts'
import type * as server from '../../../schemas/server.ts'
import type * as service from '../../../schemas/service.ts'
import type * as session from '../../../schemas/session.ts'
import type * as tables from '../../../schemas/tables.ts'
import type * as threads from '../../../schemas/threads.ts'
import type * as traceTree from '../../../schemas/trace-tree.ts'
import type * as traces from '../../../schemas/traces.ts'
import type * as trainingJobs from '../../../schemas/training-jobs.ts'
import type * as usage from '../../../schemas/usage.ts'

/** Types of what each route takes and answers. */
export type Shapes = {
  'annotation_queues.create': { in: z.input<typeof annotationQueues.annotationQueueCreateRequest>; out: z.output<typeof annotationQueues.annotationQueueCreateResponse>; line: never }
  'annotation_queues.delete': { in: undefined; out: z.output<typeof annotationQueues.annotationQueueResponse>; line: never }
  'annotation_queues.items': { in: z.input<typeof annotationQueues.annotationQueueItemsQueryRequest>; out: z.output<typeof annotationQueues.annotationQueueItemsQueryResponse>; line: never }
  'annotation_queues.items_add': { in: z.input<typeof annotationQueues.annotationQueueItemsAddRequest>; out: z.output<typeof annotationQueues.annotationQueueItemsAddResponse>; line: never }
  'annotation_queues.progress': { in: z.input<typeof annotationQueues.annotationQueueProgressRequest>; out: z.output<typeof annotationQueues.annotationQueueProgressResponse>; line: never }
  'annotation_queues.query': { in: z.input<typeof annotationQueues.annotationQueuesQueryRequest>; out: null; line: never }
  'annotation_queues.read': { in: undefined; out: z.output<typeof annotationQueues.annotationQueueResponse>; line: never }
  'annotation_queues.stats': { in: z.input<typeof annotationQueues.annotationQueuesStatsRequest>; out: z.output<typeof annotationQueues.annotationQueuesStatsResponse>; line: never }
  'annotation_queues.update': { in: z.input<typeof annotationQueues.annotationQueueUpdateRequest>; out: z.output<typeof annotationQueues.annotationQueueResponse>; line: never }
  'audit.query': { in: z.input<typeof audit.auditRequest>; out: null; line: z.output<typeof audit.auditLine> }
  'auth.callback': { in: undefined; out: null; line: never }
  'auth.key': { in: z.input<typeof session.keyRequest>; out: z.output<typeof session.sessionResponse>; line: never }
  'auth.login': { in: undefined; out: null; line: never }
  'auth.logout': { in: undefined; out: z.output<typeof session.logoutResponse>; line: never }
  'auth.providers': { in: undefined; out: z.output<typeof session.providersResponse>; line: never }
  'auth.session': { in: undefined; out: z.output<typeof session.sessionResponse>; line: never }
  'calls.aggregate': { in: z.input<typeof callsAggregate.callsAggregateRequest>; out: z.output<typeof callsAggregate.callsAggregateResponse>; line: never }
  'calls.cells': { in: z.input<typeof callValues.callsCellsRequest>; out: z.output<typeof callValues.callsCellsResponse>; line: never }
  'calls.delete': { in: z.input<typeof callsRead.callsDeleteRequest>; out: z.output<typeof callsRead.callsDeleteResponse>; line: never }
  'calls.export': { in: z.input<typeof callsExport.callsExportRequest>; out: z.output<typeof callsExport.callsExportResponse>; line: never }
  'calls.export_file': { in: undefined; out: null; line: never }
  'calls.fields': { in: z.input<typeof callValues.callsFieldsRequest>; out: z.output<typeof callValues.callsFieldsResponse>; line: never }
  'calls.query_stats': { in: z.input<typeof callsRead.callsQueryStatsRequest>; out: z.output<typeof callsRead.callsQueryStatsResponse>; line: never }
  'calls.read': { in: z.input<typeof callsRead.callReadRequest>; out: z.output<typeof callsRead.callReadResponse>; line: never }
  'calls.score': { in: z.input<typeof notServed.callsScoreRequest>; out: z.output<typeof notServed.callsScoreResponse>; line: never }
  'calls.stats': { in: z.input<typeof callStats.callsStatsRequest>; out: z.output<typeof callStats.callsStatsResponse>; line: never }
  'calls.stream_query': { in: z.input<typeof callsRead.callsQueryRequest>; out: null; line: z.output<typeof callsRead.callRecord> }
  'calls.update': { in: z.input<typeof calls.updateSchema>; out: z.output<typeof calls.emptySchema>; line: never }
  'calls.usage': { in: z.input<typeof usage.callsUsageRequest>; out: z.output<typeof usage.usageResponse>; line: never }
  'calls.values': { in: z.input<typeof callValues.callsValuesRequest>; out: z.output<typeof callValues.callsValuesResponse>; line: never }
  'completions.create': { in: z.input<typeof inference.completionsCreateRequest>; out: z.output<typeof inference.completionsCreateResponse>; line: never }
  'completions.create_stream': { in: z.input<typeof inference.completionsCreateRequest>; out: null; line: never }
  'costs.create': { in: z.input<typeof costs.costCreateRequest>; out: z.output<typeof costs.costCreateResponse>; line: never }
  'costs.explain': { in: z.input<typeof costs.costExplainRequest>; out: z.output<typeof costs.costExplainResponse>; line: never }
  'costs.purge': { in: z.input<typeof costs.costPurgeRequest>; out: z.output<typeof costs.costPurgeResponse>; line: never }
  'costs.query': { in: z.input<typeof costs.costQueryRequest>; out: z.output<typeof costs.costQueryResponse>; line: never }
  'costs.unpriced_models': { in: undefined; out: z.output<typeof costs.unpricedModelsResponse>; line: never }
  'datasets.create': { in: z.input<typeof evaluationObjects.datasetCreateRequest>; out: z.output<typeof evaluationObjects.datasetCreateResponse>; line: never }
  'datasets.delete': { in: undefined; out: z.output<typeof evaluationObjects.deleteResponse>; line: never }
  'datasets.list': { in: undefined; out: null; line: never }
  'datasets.read': { in: undefined; out: z.output<typeof evaluationObjects.datasetRead>; line: never }
  'erasures.create': { in: z.input<typeof erasures.erasureRequest>; out: z.output<typeof erasures.erasureResponse>; line: never }
  'erasures.list': { in: undefined; out: null; line: z.output<typeof erasures.erasureReceipt> }
  'erasures.read': { in: undefined; out: z.output<typeof erasures.erasureReceipt>; line: never }
  'evaluation_runs.create': { in: z.input<typeof evaluationRuns.evaluationRunCreateRequest>; out: z.output<typeof evaluationRuns.evaluationRunCreateResponse>; line: never }
  'evaluation_runs.delete': { in: z.input<typeof evaluationRuns.evaluationRunsDeleteRequest>; out: z.output<typeof evaluationRuns.deletedResponse>; line: never }
  'evaluation_runs.finish': { in: z.input<typeof evaluationRuns.evaluationRunFinishRequest>; out: z.output<typeof evaluationRuns.finishedResponse>; line: never }
  'evaluation_runs.list': { in: undefined; out: null; line: never }
  'evaluation_runs.read': { in: undefined; out: z.output<typeof evaluationRuns.evaluationRunResponse>; line: never }
  'evaluation_runs.results': { in: z.input<typeof notServed.evalResultsQueryRequest>; out: z.output<typeof notServed.evalResultsQueryResponse>; line: never }
  'evaluations.create': { in: z.input<typeof evaluationObjects.evaluationCreateRequest>; out: z.output<typeof evaluationObjects.evaluationCreateResponse>; line: never }
  'evaluations.delete': { in: undefined; out: z.output<typeof evaluationObjects.deleteResponse>; line: never }
  'evaluations.evaluate_model': { in: z.input<typeof evaluationRuns.evaluateModelRequest>; out: z.output<typeof evaluationRuns.evaluateModelResponse>; line: never }
  'evaluations.list': { in: undefined; out: null; line: never }
  'evaluations.read': { in: undefined; out: z.output<typeof evaluationObjects.evaluationRead>; line: never }
  'evaluations.rescore': { in: z.input<typeof notServed.rescoreRequest>; out: z.output<typeof notServed.rescoreResponse>; line: never }
  'evaluations.status': { in: z.input<typeof evaluationRuns.evaluationStatusRequest>; out: z.output<typeof evaluationRuns.evaluationStatusResponse>; line: never }
  'feedback.batch_create': { in: z.input<typeof feedback.feedbackBatchCreateRequest>; out: z.output<typeof feedback.feedbackBatchCreateResponse>; line: never }
  'feedback.create': { in: z.input<typeof feedback.feedbackCreateRequest>; out: z.output<typeof feedback.feedbackCreateResponse>; line: never }
  'feedback.purge': { in: z.input<typeof feedback.feedbackPurgeRequest>; out: z.output<typeof feedback.feedbackPurgeResponse>; line: never }
  'feedback.query': { in: z.input<typeof feedback.feedbackQueryRequest>; out: z.output<typeof feedback.feedbackQueryResponse>; line: never }
  'feedback.replace': { in: z.input<typeof feedback.feedbackReplaceRequest>; out: z.output<typeof feedback.feedbackCreateResponse>; line: never }
  'files.content': { in: z.input<typeof files.fileContentRequest>; out: null; line: never }
  'files.query_stats': { in: z.input<typeof files.filesStatsRequest>; out: z.output<typeof files.filesStatsResponse>; line: never }
  'files.resolve_url': { in: z.input<typeof notServed.filesResolveUrlRequest>; out: z.output<typeof notServed.filesResolveUrlResponse>; line: never }
  'grants.list': { in: undefined; out: null; line: z.output<typeof access.grantResponse> }
  'grants.set': { in: z.input<typeof access.grantRequest>; out: z.output<typeof access.grantResponse>; line: never }
  'holds.create': { in: z.input<typeof holds.holdRequest>; out: z.output<typeof holds.holdResponse>; line: never }
  'holds.delete': { in: undefined; out: z.output<typeof holds.releasedResponse>; line: never }
  'holds.list': { in: undefined; out: null; line: z.output<typeof holds.holdResponse> }
  'images.create': { in: z.input<typeof images.imageCreateRequest>; out: z.output<typeof images.imageCreateResponse>; line: never }
  'keys.create': { in: z.input<typeof access.newKeyRequest>; out: z.output<typeof access.madeKeyResponse>; line: never }
  'keys.delete': { in: undefined; out: z.output<typeof access.revokedResponse>; line: never }
  'keys.limits_update': { in: z.input<typeof access.keyLimitsRequest>; out: z.output<typeof access.keyLimitsResponse>; line: never }
  'keys.list': { in: undefined; out: null; line: z.output<typeof access.keyResponse> }
  'keys.rotate': { in: z.input<typeof access.rotateRequest>; out: z.output<typeof access.madeKeyResponse>; line: never }
  'logs.delete': { in: z.input<typeof logs.logsDeleteRequest>; out: z.output<typeof logs.logsDeleteResponse>; line: never }
  'logs.query': { in: z.input<typeof logs.logsQueryRequest>; out: null; line: never }
  'masking.preview': { in: z.input<typeof maskRules.maskingPreviewRequest>; out: z.output<typeof maskRules.maskingPreviewResponse>; line: never }
  'masking.read': { in: undefined; out: z.output<typeof maskRules.maskingResponse>; line: never }
  'masking.scope_read': { in: undefined; out: z.output<typeof maskRules.maskingResponse>; line: never }
  'masking.scope_update': { in: z.input<typeof maskRules.scopeMaskRules>; out: z.output<typeof maskRules.maskingResponse>; line: never }
  'masking.update': { in: z.input<typeof maskRules.newMaskRules>; out: z.output<typeof maskRules.maskingResponse>; line: never }
  'me.keys': { in: undefined; out: null; line: z.output<typeof access.keyResponse> }
  'me.keys_create': { in: z.input<typeof access.ownKeyRequest>; out: z.output<typeof access.madeKeyResponse>; line: never }
  'me.keys_delete': { in: undefined; out: z.output<typeof access.revokedResponse>; line: never }
  'me.sessions': { in: undefined; out: null; line: z.output<typeof session.ownSessionResponse> }
  'me.sessions_end': { in: undefined; out: z.output<typeof access.revokedResponse>; line: never }
  'models.create': { in: z.input<typeof evaluationObjects.modelCreateRequest>; out: z.output<typeof evaluationObjects.modelCreateResponse>; line: never }
  'models.delete': { in: undefined; out: z.output<typeof evaluationObjects.deleteResponse>; line: never }
  'models.list': { in: undefined; out: null; line: never }
  'models.read': { in: undefined; out: z.output<typeof evaluationObjects.modelRead>; line: never }
  'objects.add_tags': { in: z.input<typeof objectLabels.tagsRequest>; out: z.output<typeof objectLabels.labelsChanged>; line: never }
  'objects.create': { in: z.input<typeof objects.objCreateRequest>; out: z.output<typeof objects.objCreateResponse>; line: never }
  'objects.delete': { in: z.input<typeof objects.objDeleteRequest>; out: z.output<typeof objects.objDeleteResponse>; line: never }
  'objects.link_to_registry': { in: z.input<typeof notServed.linkToRegistryRequest>; out: z.output<typeof notServed.linkToRegistryResponse>; line: never }
  'objects.list_aliases': { in: undefined; out: z.output<typeof objectLabels.aliasesResponse>; line: never }
  'objects.list_tags': { in: undefined; out: z.output<typeof objectLabels.tagsResponse>; line: never }
  'objects.query': { in: z.input<typeof objects.objsQueryRequest>; out: z.output<typeof objects.objsQueryResponse>; line: never }
  'objects.read': { in: z.input<typeof objects.objReadRequest>; out: z.output<typeof objects.objReadResponse>; line: never }
  'objects.remove_aliases': { in: z.input<typeof objectLabels.aliasesRemoveRequest>; out: z.output<typeof objectLabels.labelsChanged>; line: never }
  'objects.remove_tags': { in: z.input<typeof objectLabels.tagsRequest>; out: z.output<typeof objectLabels.labelsChanged>; line: never }
  'objects.set_aliases': { in: z.input<typeof objectLabels.aliasesSetRequest>; out: z.output<typeof objectLabels.labelsChanged>; line: never }
  'ops.create': { in: z.input<typeof evaluationObjects.opCreateRequest>; out: z.output<typeof evaluationObjects.datasetCreateResponse>; line: never }
  'ops.delete': { in: undefined; out: z.output<typeof evaluationObjects.deleteResponse>; line: never }
  'ops.list': { in: undefined; out: null; line: never }
  'ops.read': { in: undefined; out: z.output<typeof evaluationObjects.opRead>; line: never }
  'predictions.create': { in: z.input<typeof evaluationRuns.predictionCreateRequest>; out: z.output<typeof evaluationRuns.predictionCreateResponse>; line: never }
  'predictions.delete': { in: z.input<typeof evaluationRuns.predictionsDeleteRequest>; out: z.output<typeof evaluationRuns.deletedResponse>; line: never }
  'predictions.finish': { in: undefined; out: z.output<typeof evaluationRuns.finishedResponse>; line: never }
  'predictions.list': { in: undefined; out: null; line: never }
  'predictions.read': { in: undefined; out: z.output<typeof evaluationRuns.predictionResponse>; line: never }
  'projects.delete': { in: z.input<typeof projects.projectDeleteRequest>; out: z.output<typeof projects.projectDeleteResponse>; line: never }
  'projects.limits_update': { in: z.input<typeof projectSettings.limitsRequest>; out: z.output<typeof projectSettings.projectLimits>; line: never }
  'projects.query': { in: z.input<typeof projects.projectsQueryRequest>; out: z.output<typeof projects.projectsQueryResponse>; line: never }
  'projects.retention_read': { in: undefined; out: z.output<typeof projectSettings.retentionResponse>; line: never }
  'projects.retention_update': { in: z.input<typeof projectSettings.retentionRequest>; out: z.output<typeof projectSettings.retentionSettings>; line: never }
  'projects.settings_read': { in: undefined; out: z.output<typeof projectSettings.projectSettingsResponse>; line: never }
  'projects.stats': { in: z.input<typeof projects.projectStatsRequest>; out: z.output<typeof projects.projectStatsResponse>; line: never }
  'projects.ttl_settings_read': { in: z.input<typeof projects.ttlSettingsReadRequest>; out: z.output<typeof projects.ttlSettingsResponse>; line: never }
  'projects.ttl_settings_update': { in: z.input<typeof projects.ttlSettingsUpdateRequest>; out: z.output<typeof projects.ttlSettingsResponse>; line: never }
  'refs.read_batch': { in: z.input<typeof refs.refsReadBatchRequest>; out: z.output<typeof refs.refsReadBatchResponse>; line: never }
  'scorers.create': { in: z.input<typeof evaluationObjects.scorerCreateRequest>; out: z.output<typeof evaluationObjects.scorerCreateResponse>; line: never }
  'scorers.delete': { in: undefined; out: z.output<typeof evaluationObjects.deleteResponse>; line: never }
  'scorers.list': { in: undefined; out: null; line: never }
  'scorers.read': { in: undefined; out: z.output<typeof evaluationObjects.scorerRead>; line: never }
  'scores.create': { in: z.input<typeof evaluationRuns.scoreCreateRequest>; out: z.output<typeof evaluationRuns.scoreCreateResponse>; line: never }
  'scores.delete': { in: z.input<typeof evaluationRuns.scoresDeleteRequest>; out: z.output<typeof evaluationRuns.deletedResponse>; line: never }
  'scores.list': { in: undefined; out: null; line: never }
  'scores.read': { in: undefined; out: z.output<typeof evaluationRuns.scoreResponse>; line: never }
  'secrets.delete': { in: undefined; out: z.output<typeof secrets.removedSecret>; line: never }
  'secrets.list': { in: undefined; out: z.output<typeof secrets.secretsResponse>; line: never }
  'secrets.set': { in: z.input<typeof secrets.newSecret>; out: z.output<typeof secrets.shownSecret>; line: never }
  'server.dead_letter': { in: undefined; out: z.output<typeof server.deadLetterResponse>; line: never }
  'server.dead_letter_replay': { in: undefined; out: z.output<typeof server.deadLetterReplayResponse>; line: never }
  'server.dead_letters': { in: z.input<typeof server.deadLettersRequest>; out: z.output<typeof server.deadLettersResponse>; line: never }
  'server.settings': { in: undefined; out: z.output<typeof server.serverSettingsResponse>; line: never }
  'server.status': { in: undefined; out: z.output<typeof server.serverStatusResponse>; line: never }
  'service.geolocate': { in: undefined; out: z.output<typeof service.geolocateResponse>; line: never }
  'service.graphql': { in: z.input<typeof service.graphqlRequest>; out: z.output<typeof service.graphqlResponse>; line: never }
  'service.health': { in: undefined; out: z.output<typeof service.healthResponse>; line: never }
  'service.info': { in: undefined; out: z.output<typeof service.serverInfoResponse>; line: never }
  'service.ready': { in: undefined; out: z.output<typeof service.readyResponse>; line: never }
  'service.version': { in: undefined; out: z.output<typeof service.versionResponse>; line: never }
  'tables.create': { in: z.input<typeof tables.tableCreateRequest>; out: z.output<typeof tables.tableCreateResponse>; line: never }
  'tables.create_from_digests': { in: z.input<typeof tables.tableFromDigestsRequest>; out: z.output<typeof tables.tableFromDigestsResponse>; line: never }
  'tables.query': { in: z.input<typeof tables.tableQueryRequest>; out: z.output<typeof tables.tableQueryResponse>; line: never }
  'tables.query_stats': { in: z.input<typeof tables.tableStatsRequest>; out: z.output<typeof tables.tableStatsResponse>; line: never }
  'tables.query_stats_batch': { in: z.input<typeof tables.tableStatsBatchRequest>; out: z.output<typeof tables.tableStatsBatchResponse>; line: never }
  'tables.update': { in: z.input<typeof tables.tableUpdateRequest>; out: z.output<typeof tables.tableUpdateResponse>; line: never }
  'threads.stream_query': { in: z.input<typeof threads.threadsQueryRequest>; out: null; line: never }
  'traces.query': { in: z.input<typeof traces.tracesQueryRequest>; out: z.output<typeof traces.tracesQueryResponse>; line: never }
  'traces.tree': { in: z.input<typeof traceTree.traceTreeRequest>; out: z.output<typeof traceTree.traceTreeResponse>; line: never }
  'traces.usage': { in: z.input<typeof usage.traceUsageRequest>; out: z.output<typeof usage.usageResponse>; line: never }
  'training_jobs.create_sft': { in: z.input<typeof trainingJobs.sftTrainingJobRequest>; out: z.output<typeof trainingJobs.sftTrainingJobResponse>; line: never }
  'usage.query': { in: z.input<typeof projectUsage.projectUsageRequest>; out: null; line: z.output<typeof projectUsage.projectUsageLine> }
  'users.create': { in: z.input<typeof access.userRequest>; out: z.output<typeof access.userResponse>; line: never }
  'users.delete': { in: undefined; out: z.output<typeof access.nothingResponse>; line: never }
  'users.list': { in: undefined; out: null; line: z.output<typeof access.userResponse> }
  'users.off': { in: undefined; out: z.output<typeof access.userResponse>; line: never }
  'users.on': { in: undefined; out: z.output<typeof access.userResponse>; line: never }
}

/** Method and path by route. */
export const routes = {
  'annotation_queues.create': ['POST', '/annotation_queues'],
  'annotation_queues.delete': ['DELETE', '/annotation_queues/{queue_id}'],
  'annotation_queues.items': ['POST', '/annotation_queues/{queue_id}/items/query'],
  'annotation_queues.items_add': ['POST', '/annotation_queues/{queue_id}/items'],
  'annotation_queues.progress': ['POST', '/annotation_queues/{queue_id}/items/{item_id}/progress'],
  'annotation_queues.query': ['POST', '/annotation_queues/query'],
  'annotation_queues.read': ['GET', '/annotation_queues/{queue_id}'],
  'annotation_queues.stats': ['POST', '/annotation_queues/stats'],
  'annotation_queues.update': ['PUT', '/annotation_queues/{queue_id}'],
  'audit.query': ['POST', '/audit/query'],
  'auth.callback': ['GET', '/auth/callback'],
  'auth.key': ['POST', '/auth/key'],
  'auth.login': ['GET', '/auth/login'],
  'auth.logout': ['POST', '/auth/logout'],
  'auth.providers': ['GET', '/auth/providers'],
  'auth.session': ['GET', '/auth/session'],
  'calls.aggregate': ['POST', '/calls/aggregate'],
  'calls.cells': ['POST', '/calls/cells'],
  'calls.delete': ['POST', '/calls/delete'],
  'calls.export': ['POST', '/export/calls'],
  'calls.export_file': ['GET', '/export/{ticket}'],
  'calls.fields': ['POST', '/calls/fields'],
  'calls.query_stats': ['POST', '/calls/query_stats'],
  'calls.read': ['POST', '/call/read'],
  'calls.score': ['POST', '/calls/score'],
  'calls.stats': ['POST', '/calls/stats'],
  'calls.stream_query': ['POST', '/calls/stream_query'],
  'calls.update': ['POST', '/call/update'],
  'calls.usage': ['POST', '/calls/usage'],
  'calls.values': ['POST', '/calls/values'],
  'completions.create': ['POST', '/completions/create'],
  'completions.create_stream': ['POST', '/completions/create_stream'],
  'costs.create': ['POST', '/cost/create'],
  'costs.explain': ['POST', '/cost/explain'],
  'costs.purge': ['POST', '/cost/purge'],
  'costs.query': ['POST', '/cost/query'],
  'costs.unpriced_models': ['GET', '/v2/{entity}/{project}/unpriced_models'],
  'datasets.create': ['POST', '/v2/{entity}/{project}/datasets'],
  'datasets.delete': ['DELETE', '/v2/{entity}/{project}/datasets/{object_id}'],
  'datasets.list': ['GET', '/v2/{entity}/{project}/datasets'],
  'datasets.read': ['GET', '/v2/{entity}/{project}/datasets/{object_id}/versions/{digest}'],
  'erasures.create': ['POST', '/erasures'],
  'erasures.list': ['GET', '/v2/{entity}/{project}/erasures'],
  'erasures.read': ['GET', '/v2/{entity}/{project}/erasures/{id}'],
  'evaluation_runs.create': ['POST', '/v2/{entity}/{project}/evaluation_runs'],
  'evaluation_runs.delete': ['DELETE', '/v2/{entity}/{project}/evaluation_runs'],
  'evaluation_runs.finish': ['POST', '/v2/{entity}/{project}/evaluation_runs/{evaluation_run_id}/finish'],
  'evaluation_runs.list': ['GET', '/v2/{entity}/{project}/evaluation_runs'],
  'evaluation_runs.read': ['GET', '/v2/{entity}/{project}/evaluation_runs/{evaluation_run_id}'],
  'evaluation_runs.results': ['POST', '/v2/{entity}/{project}/eval_results/query'],
  'evaluations.create': ['POST', '/v2/{entity}/{project}/evaluations'],
  'evaluations.delete': ['DELETE', '/v2/{entity}/{project}/evaluations/{object_id}'],
  'evaluations.evaluate_model': ['POST', '/evaluations/evaluate_model'],
  'evaluations.list': ['GET', '/v2/{entity}/{project}/evaluations'],
  'evaluations.read': ['GET', '/v2/{entity}/{project}/evaluations/{object_id}/versions/{digest}'],
  'evaluations.rescore': ['POST', '/evaluations/rescore'],
  'evaluations.status': ['POST', '/evaluations/status'],
  'feedback.batch_create': ['POST', '/feedback/batch/create'],
  'feedback.create': ['POST', '/feedback/create'],
  'feedback.purge': ['POST', '/feedback/purge'],
  'feedback.query': ['POST', '/feedback/query'],
  'feedback.replace': ['POST', '/feedback/replace'],
  'files.content': ['POST', '/file/content'],
  'files.query_stats': ['POST', '/files/query_stats'],
  'files.resolve_url': ['POST', '/files/resolve_url'],
  'grants.list': ['GET', '/grants'],
  'grants.set': ['PUT', '/grants'],
  'holds.create': ['POST', '/v2/{entity}/{project}/holds'],
  'holds.delete': ['DELETE', '/v2/{entity}/{project}/holds/{id}'],
  'holds.list': ['GET', '/v2/{entity}/{project}/holds'],
  'images.create': ['POST', '/image/create'],
  'keys.create': ['POST', '/keys'],
  'keys.delete': ['DELETE', '/keys/{id}'],
  'keys.limits_update': ['PUT', '/keys/{id}/limits'],
  'keys.list': ['GET', '/keys'],
  'keys.rotate': ['POST', '/keys/{id}/rotate'],
  'logs.delete': ['POST', '/logs/delete'],
  'logs.query': ['POST', '/logs/query'],
  'masking.preview': ['POST', '/masking/preview'],
  'masking.read': ['GET', '/v2/{entity}/{project}/masking'],
  'masking.scope_read': ['GET', '/masking'],
  'masking.scope_update': ['PUT', '/masking'],
  'masking.update': ['PUT', '/v2/{entity}/{project}/masking'],
  'me.keys': ['GET', '/me/keys'],
  'me.keys_create': ['POST', '/me/keys'],
  'me.keys_delete': ['DELETE', '/me/keys/{id}'],
  'me.sessions': ['GET', '/me/sessions'],
  'me.sessions_end': ['DELETE', '/me/sessions'],
  'models.create': ['POST', '/v2/{entity}/{project}/models'],
  'models.delete': ['DELETE', '/v2/{entity}/{project}/models/{object_id}'],
  'models.list': ['GET', '/v2/{entity}/{project}/models'],
  'models.read': ['GET', '/v2/{entity}/{project}/models/{object_id}/versions/{digest}'],
  'objects.add_tags': ['PUT', '/objs/{object_id}/versions/{digest}/tags'],
  'objects.create': ['POST', '/obj/create'],
  'objects.delete': ['POST', '/obj/delete'],
  'objects.link_to_registry': ['POST', '/link_to_registry'],
  'objects.list_aliases': ['GET', '/aliases'],
  'objects.list_tags': ['GET', '/tags'],
  'objects.query': ['POST', '/objs/query'],
  'objects.read': ['POST', '/obj/read'],
  'objects.remove_aliases': ['POST', '/objs/{object_id}/aliases/remove'],
  'objects.remove_tags': ['POST', '/objs/{object_id}/versions/{digest}/tags/remove'],
  'objects.set_aliases': ['PUT', '/objs/{object_id}/aliases'],
  'ops.create': ['POST', '/v2/{entity}/{project}/ops'],
  'ops.delete': ['DELETE', '/v2/{entity}/{project}/ops/{object_id}'],
  'ops.list': ['GET', '/v2/{entity}/{project}/ops'],
  'ops.read': ['GET', '/v2/{entity}/{project}/ops/{object_id}/versions/{digest}'],
  'predictions.create': ['POST', '/v2/{entity}/{project}/predictions'],
  'predictions.delete': ['DELETE', '/v2/{entity}/{project}/predictions'],
  'predictions.finish': ['POST', '/v2/{entity}/{project}/predictions/{prediction_id}/finish'],
  'predictions.list': ['GET', '/v2/{entity}/{project}/predictions'],
  'predictions.read': ['GET', '/v2/{entity}/{project}/predictions/{prediction_id}'],
  'projects.delete': ['DELETE', '/v2/{entity}/{project}'],
  'projects.limits_update': ['PUT', '/v2/{entity}/{project}/settings/limits'],
  'projects.query': ['POST', '/projects/query'],
  'projects.retention_read': ['GET', '/v2/{entity}/{project}/retention'],
  'projects.retention_update': ['PUT', '/v2/{entity}/{project}/settings/retention'],
  'projects.settings_read': ['GET', '/v2/{entity}/{project}/settings'],
  'projects.stats': ['POST', '/project/stats'],
  'projects.ttl_settings_read': ['POST', '/project/ttl_settings/read'],
  'projects.ttl_settings_update': ['POST', '/project/ttl_settings/update'],
  'refs.read_batch': ['POST', '/refs/read_batch'],
  'scorers.create': ['POST', '/v2/{entity}/{project}/scorers'],
  'scorers.delete': ['DELETE', '/v2/{entity}/{project}/scorers/{object_id}'],
  'scorers.list': ['GET', '/v2/{entity}/{project}/scorers'],
  'scorers.read': ['GET', '/v2/{entity}/{project}/scorers/{object_id}/versions/{digest}'],
  'scores.create': ['POST', '/v2/{entity}/{project}/scores'],
  'scores.delete': ['DELETE', '/v2/{entity}/{project}/scores'],
  'scores.list': ['GET', '/v2/{entity}/{project}/scores'],
  'scores.read': ['GET', '/v2/{entity}/{project}/scores/{score_id}'],
  'secrets.delete': ['DELETE', '/v2/{entity}/{project}/secrets/{name}'],
  'secrets.list': ['GET', '/v2/{entity}/{project}/secrets'],
  'secrets.set': ['PUT', '/v2/{entity}/{project}/secrets/{name}'],
  'server.dead_letter': ['GET', '/server/deadletters/{id}'],
  'server.dead_letter_replay': ['POST', '/server/deadletters/{id}/replay'],
  'server.dead_letters': ['POST', '/server/deadletters/query'],
  'server.settings': ['GET', '/server/settings'],
  'server.status': ['GET', '/server/status'],
  'service.geolocate': ['GET', '/geolocate'],
  'service.graphql': ['POST', '/graphql'],
  'service.health': ['GET', '/health'],
  'service.info': ['GET', '/server_info'],
  'service.ready': ['GET', '/ready'],
  'service.version': ['GET', '/version'],
  'tables.create': ['POST', '/table/create'],
  'tables.create_from_digests': ['POST', '/table/create_from_digests'],
  'tables.query': ['POST', '/table/query'],
  'tables.query_stats': ['POST', '/table/query_stats'],
  'tables.query_stats_batch': ['POST', '/table/query_stats_batch'],
  'tables.update': ['POST', '/table/update'],
  'threads.stream_query': ['POST', '/threads/stream_query'],
  'traces.query': ['POST', '/v2/{entity}/{project}/traces/query'],
  'traces.tree': ['POST', '/trace/tree'],
  'traces.usage': ['POST', '/trace/usage'],
  'training_jobs.create_sft': ['POST', '/v1/preview/sft-training-jobs'],
  'usage.query': ['POST', '/usage/query'],
  'users.create': ['POST', '/users'],
  'users.delete': ['DELETE', '/users/{id}'],
  'users.list': ['GET', '/users'],
  'users.off': ['POST', '/users/{id}/off'],
  'users.on': ['POST', '/users/{id}/on'],
} as const satisfies Record<keyof Shapes, readonly [method: string, path: string]>
