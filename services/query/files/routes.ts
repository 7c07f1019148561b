// Reading files: POST /file/content and /files/query_stats.
import { fileContentRequest, filesStatsRequest, filesStatsResponse } from '../../../schemas/files.ts'
import type { Blobs } from '../../core/blobs/blobs.ts'
import { fault } from '../../core/http/errors.ts'
import { requestedRange } from '../../core/http/range.ts'
import { type Route, route } from '../../core/http/route.ts'
import { contentHeaders } from '../../core/http/security-headers.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Store } from '../../core/store/store.ts'
import { readFileContent, totalFileBytes } from './read.ts'

export type FileReadDeps = {
  store: Pick<Store, 'rows'>
  freshness: Freshness
  blobs: Blobs
}

const contentType = 'application/octet-stream'

export function createFileReadRoutes({ store, freshness, blobs }: FileReadDeps): Route[] {
  return [
    route({
      name: 'files.content',
      method: 'POST',
      path: '/file/content',
      aliases: ['/files/content'],
      summary: 'The bytes of a file, or one range of them',
      body: { type: 'json', schema: fileContentRequest, check: 'schema' },
      response: null,
      responseType: contentType,
      tables: ['files'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const headers = await freshness.wait(context, ['files'])
        const file = await readFileContent({ store, blobs }, projectId, input.digest, { signal })
        if (file === null) throw fault(404, `File ${input.digest.slice(0, 100)} not found`)
        const { sizeBytes } = file
        const etag = `"${input.digest}"`
        const asked = { range: context.header('range'), ifRange: context.header('if-range') }
        const range = requestedRange(asked, { sizeBytes, etag })
        const { start, end } = range ?? { start: 0, end: sizeBytes }
        const all: Record<string, string> = { ...headers, ...contentHeaders, 'Accept-Ranges': 'bytes', ETag: etag }
        all['Content-Length'] = String(end - start)
        if (range !== null) all['Content-Range'] = `bytes ${start}-${end - 1}/${sizeBytes}`
        return { status: range === null ? 200 : 206, bytes: file.read(range), contentType, headers: all }
      },
    }),
    route({
      name: 'files.query_stats',
      method: 'POST',
      path: '/files/query_stats',
      aliases: ['/files/stats'],
      summary: 'Bytes of all files of a project, each content once',
      body: { type: 'json', schema: filesStatsRequest, check: 'schema' },
      response: filesStatsResponse,
      tables: ['files'],
      async handle(context) {
        const { input, signal } = context
        const projectId = context.project(input.project_id)
        const headers = await freshness.wait(context, ['files'])
        return { json: { total_size_bytes: await totalFileBytes(store, projectId, { signal }) }, headers }
      },
    }),
  ]
}
