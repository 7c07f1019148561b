// Writing files: POST /file/create.
import { fileCreateResponse } from '../../../schemas/files.ts'
import type { Maskings } from '../../content/masking/maskings.ts'
import type { Blobs } from '../../core/blobs/blobs.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { fault, invalid } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import { blobFileRecord, inlineFileRecord } from '../../events/files.ts'
import { discard, readUpload } from './upload.ts'

export type FileWriteDeps = {
  log: Pick<Log, 'append'>
  clock: Clock
  blobs: Blobs
  maskings: Maskings
  config: { maxFileBytes: number }
}

export function createFileWriteRoutes({ log, clock, blobs, maskings, config }: FileWriteDeps): Route[] {
  const { maxFileBytes } = config
  return [
    route({
      name: 'files.create',
      method: 'POST',
      path: '/file/create',
      aliases: ['/files/create'],
      summary: 'Stores a file under the digest of its bytes',
      body: { type: 'stream', contentType: 'multipart/form-data' },
      response: fileCreateResponse,
      topics: ['files'],
      async handle(context) {
        const scope: { projectId?: ProjectId } = {}
        const { fields, file } = await readUpload({
          stream: context.stream,
          contentType: context.header('content-type') ?? '',
          blobs,
          maxFileBytes,
          signal: context.signal,
          onField(name, value) {
            if (name !== 'project_id') return
            scope.projectId = context.project(value)
            if (maskings.of(scope.projectId)?.dropsContent)
              throw fault(403, 'Masking rules of this project reject files')
          },
        })
        try {
          const { projectId } = scope
          if (projectId === undefined)
            throw invalid({ loc: ['body', 'project_id'], msg: 'Field required', type: 'missing' })
          const { digest, name, sizeBytes, content } = file
          const expected = fields.get('expected_digest')
          if (expected && expected !== digest)
            throw fault(409, `expected_digest is ${expected.slice(0, 100)}, the file has ${digest}`)
          const stored = { projectId, digest, clock: clock.next(), name, sizeBytes }
          const record =
            'inline' in content
              ? inlineFileRecord(stored, content.inline)
              : blobFileRecord(stored, await content.blob.commit(projectId, digest))
          const position = await log.append('files', [record])
          return { json: { digest }, headers: { [positionHeader]: formatPositions([position]) } }
        } catch (error) {
          await discard(file)
          throw error
        }
      },
    }),
  ]
}
