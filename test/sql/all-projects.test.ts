// The SQL of statements that are about several projects or none, as checked-in text: for operators, quotas and jobs.
import { describe, it } from 'vitest'
import { auditRequest } from '../../schemas/audit.ts'
import { parseProjectId } from '../../services/core/ids.ts'
import type { Query } from '../../services/core/store/store.ts'
import {
  auditChainsQuery,
  auditEndsQuery,
  auditEventsQuery,
  auditNamingQuery,
  auditNextQuery,
  auditPieceQuery,
} from '../../services/query/audit/events.ts'
import { auditHeadsQuery } from '../../services/query/audit/heads.ts'
import { projectsOfCallQuery } from '../../services/query/call-costs/explain.ts'
import { rollupCoveredQuery } from '../../services/query/calls/access/counts.ts'
import { coveredQuery } from '../../services/query/calls/access/field-index-queries.ts'
import { receiptsQuery } from '../../services/query/erasures/receipts.ts'
import { queuedJobsQuery } from '../../services/query/evaluation-jobs/queued.ts'
import { projectsListQuery } from '../../services/query/projects/list.ts'
import { acceptedBytesQuery } from '../../services/query/usage/accepted.ts'
import { projectsOfEntityQuery } from '../../services/query/usage/stored.ts'
import { expectShown } from '../fixtures/sql-snapshot.ts'

const projectId = parseProjectId('ent/proj')
const events = (asked: object) => auditEventsQuery(auditRequest.parse({ scope: '*', ...asked }))
const others = { process: 'p1', sinceMinuteMs: 60_000 }

const nouns: Record<string, Record<string, Query>> = {
  audit: {
    'events of everything': events({}),
    'events by all conditions': events({
      scope: 'ent',
      from: '2026-01-01T00:00:00Z',
      to: '2026-02-01T00:00:00Z',
      actor: 'ann',
      action: 'key.*',
      target: 'k1',
      after: '1700000000000000.c1.5',
      limit: 10,
    }),
    'ends of events': auditEndsQuery(['c1'], 1, 9),
    'events that name heads': auditNamingQuery,
    chains: auditChainsQuery,
    'a piece of chains': auditPieceQuery(['c1', 'c2'], 0, 100),
    'the next event of a chain': auditNextQuery('c1', 100),
    'heads of chains': auditHeadsQuery(10),
  },
  receipts: { 'erasures of all projects': receiptsQuery('', ''), 'one erasure': receiptsQuery('ent/proj', 'e1') },
  'evaluation-jobs': { 'jobs that have not ended': queuedJobsQuery },
  'projects-list': {
    'all projects': projectsListQuery({ projects: [], cutoffs: [], others: 0 }),
    'projects with days of their own': projectsListQuery({ projects: ['ent/proj'], cutoffs: [3600], others: 0 }),
  },
  quotas: {
    'accepted bytes of a project': acceptedBytesQuery('ent/proj', others),
    'accepted bytes of an entity': acceptedBytesQuery('ent', others),
    'projects of an entity': projectsOfEntityQuery('ent'),
  },
  'cost-of-call': { 'projects that have a call': projectsOfCallQuery('c') },
  coverage: {
    'what a rollup covers': rollupCoveredQuery(projectId, 'call_counts'),
    'what the field index covers': coveredQuery(projectId),
  },
}

describe('the SQL is as checked in for', () => {
  it.each(Object.keys(nouns))('%s', (noun) => expectShown(`./${noun}.sql`, nouns[noun] ?? {}))
})
