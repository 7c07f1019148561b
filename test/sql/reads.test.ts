// The SQL that reads each noun but calls, feedback and queues, as checked-in text, so that a review shows every change of it.
import { describe, it } from 'vitest'
import { logsQueryRequest } from '../../schemas/logs.ts'
import { parseProjectId } from '../../services/core/ids.ts'
import type { Query } from '../../services/core/store/store.ts'
import { modelsQuery } from '../../services/query/calls/model-prices.ts'
import { costFields } from '../../services/query/costs/fields.ts'
import { pricesQuery } from '../../services/query/costs/prices.ts'
import { costsQuery } from '../../services/query/costs/routes.ts'
import { erasureQuery, erasuresQuery } from '../../services/query/erasures/routes.ts'
import { fileChunksQuery, fileTotalQuery } from '../../services/query/files/read.ts'
import { parseQuery } from '../../services/query/language/parse.ts'
import { anyDeletedQuery, hiddenQuery } from '../../services/query/logs/hidden.ts'
import { filterCondition, logList } from '../../services/query/logs/records.ts'
import { baseClassesQuery } from '../../services/query/objects/base-classes.ts'
import { aliasQuery, distinctQuery, ofObjectsQuery } from '../../services/query/objects/labels.ts'
import { objectValuesQuery, versionsQuery } from '../../services/query/objects/query.ts'
import { contentQuery, versionQuery } from '../../services/query/objects/read.ts'
import { callsQuery, objectsQuery, tablesQuery } from '../../services/query/projects/sizes.ts'
import { contentsQuery, livenessQuery, membersQuery, refSizesQuery } from '../../services/query/refs/load.ts'
import { windowQuery } from '../../services/query/tables/pages.ts'
import {
  listedRowsQuery,
  rowCountsQuery,
  rowSizesQuery,
  rowValuesQuery,
  storedSizesQuery,
  rowChunksQuery as tableChunksQuery,
} from '../../services/query/tables/read.ts'
import { jobOfKeyQuery } from '../../services/query/training-jobs/of-key.ts'
import { expectReviewed } from '../fixtures/sql-snapshot.ts'

const projectId = parseProjectId('ent/proj')
const listed = { object_id: 'model', kind: 'object', digest: 'd1' } as const
const versions = [
  { is: 'object', name: 'model', digest: 'd1' },
  { is: 'object', name: 'model', digest: 'd2' },
] as const
/** Fields that the query of values does not read. */
const unread = {
  created_us: '0',
  version_index: 0,
  is_latest: 1,
  creator: '',
  base_object_class: '',
  leaf_object_class: '',
  size_bytes: '0',
}
const slice = { limit: 10, offset: 5 }

const logs = (request: object) =>
  logList(
    projectId,
    filterCondition(logsQueryRequest.parse({ project_id: projectId, start: 1, end: 2, ...request })),
    50,
  )
const filteredLogs = {
  trace_id: 't',
  span_id: 's',
  event_names: ['e'],
  min_severity: 9,
  contains: 'x',
  after: `1700000000000000_${'a'.repeat(32)}`,
}

const nouns: Record<string, Record<string, Query>> = {
  objects: {
    'all versions': versionsQuery(projectId, {}, slice),
    'versions by classes, tags and aliases': versionsQuery(
      projectId,
      {
        filter: {
          object_ids: ['model'],
          base_object_classes: ['Model'],
          leaf_object_classes: ['M'],
          exclude_base_object_classes: ['Prompt'],
          is_op: false,
          latest_only: true,
          tags: ['good'],
          aliases: ['latest', 'prod'],
        },
        sort_by: [{ field: 'created_at', direction: 'desc' }],
      },
      slice,
    ),
    'values of versions': objectValuesQuery(projectId, [{ ...listed, ...unread }]),
    'a version by its digest': versionQuery(projectId, 'model', 'd1'),
    'the latest version': versionQuery(projectId, 'model', 'latest'),
    'a version by its number': versionQuery(projectId, 'model', 'v3'),
    'the content of a version': contentQuery(projectId, 'model', 'd1', true),
    'labels of objects': ofObjectsQuery(projectId, ['model']),
    'an alias': aliasQuery(projectId, 'model', 'prod'),
    'all tags': distinctQuery(projectId, 'tag'),
    'base classes of a name': baseClassesQuery({ projectId, kind: 'object', objectId: 'model' }),
  },
  erasures: {
    'erasures of a project': erasuresQuery(projectId, 'e1', 10),
    'an erasure': erasureQuery(projectId, 'e1'),
  },
  tables: {
    'chunks of a list': tableChunksQuery(projectId, 't1', 0, 9),
    'places of rows': listedRowsQuery(projectId, 't1', ['r1', 'r2']),
    'numbers of rows': rowCountsQuery(projectId, ['t1', 't2']),
    'sizes of rows': rowSizesQuery(projectId, ['r1', 'r2']),
    rows: rowValuesQuery(projectId, ['r1', 'r2']),
    'sizes of tables': storedSizesQuery(projectId, ['t1'], 0, 9),
    'a window of rows': windowQuery(projectId, 't1', 100, 200),
  },
  files: {
    'chunks of a file': fileChunksQuery(projectId, 'f1'),
    'bytes of all files': fileTotalQuery(projectId),
  },
  refs: {
    'which versions live': livenessQuery(projectId, versions),
    'values of versions': contentsQuery(projectId, versions),
    'sizes of versions': refSizesQuery(projectId, versions),
    'rows of tables': membersQuery(projectId, [{ is: 'row', table: 't1', digest: 'r1' }]),
  },
  costs: {
    'prices for calls': pricesQuery(projectId),
    'models whose prices a query needs': modelsQuery(projectId),
    'prices as they are listed': costsQuery(
      projectId,
      parseQuery({ $expr: { $eq: [{ $getField: 'llm_id' }, { $literal: 'gpt' }] } }, costFields, 'unknown'),
      null,
      slice,
    ),
  },
  projects: {
    'bytes of calls': callsQuery(projectId),
    'bytes of objects': objectsQuery(projectId),
    'bytes of tables': tablesQuery(projectId),
  },
  'training-jobs': { 'the job of a key': jobOfKeyQuery(projectId, 'key') },
  logs: {
    'a page of records': logs({}).whole,
    'records by all conditions': logs(filteredLogs).whole,
    'keys of records': logs({}).keys(slice),
    'whether anything was deleted': anyDeletedQuery(projectId),
    'which of some records are hidden': hiddenQuery(projectId, [
      { id: 'a'.repeat(32), callId: 'a'.repeat(32), traceId: 'b'.repeat(32), spanId: 'c'.repeat(16) },
    ]),
    'records by their keys': logs({}).of([`1700000000000000_${'a'.repeat(32)}`, `1700000000000001_${'b'.repeat(32)}`]),
  },
}

describe('the SQL is as checked in for', () => {
  it.each(Object.keys(nouns))('%s', (noun) => expectReviewed(`./${noun}.sql`, nouns[noun] ?? {}))
})
