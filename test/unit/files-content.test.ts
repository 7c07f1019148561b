// Content extraction and placeholder ops: what becomes a stored file, what stays, and what is written once.

import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ContentStore } from '../../services/content/content-port.ts'
import { createContent } from '../../services/content/extract.ts'
import { extensionOf, sniffMime } from '../../services/content/media-types.ts'
import { createOpObjects, placeholderOpDigest } from '../../services/content/op-objects.ts'
import { isRef } from '../../services/content/refs.ts'
import { createFolderBlobs } from '../../services/core/blobs/blobs.ts'
import { createClock } from '../../services/core/clock/clock.ts'
import type { ProjectId } from '../../services/core/ids.ts'
import { fileDigest, valueDigest } from '../../services/events/digest.ts'
import { createMemoryLog, type MemoryLog } from '../fixtures/memory-log.ts'

const project = 'e/p' as ProjectId
let dir: string
let log: MemoryLog
let content: ContentStore

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'callhouse-content-'))
  log = createMemoryLog()
  const blobs = await createFolderBlobs({ dir: join(dir, 'blobs'), minFreeBytes: 0 })
  content = createContent({ log, clock: createClock(), blobs })
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const pngHead = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
const filled = (head: Buffer, length: number) => Buffer.concat([head, Buffer.alloc(length - head.length, 7)])
const png = filled(pngHead, 9_000)
const text64 = (bytes: Buffer) => bytes.toString('base64')
const extract = (text: string) => content.begin().extract(project, 'u', text)

describe('extraction', () => {
  it('stores the bytes, their metadata and an object, and answers its ref', async () => {
    const request = content.begin()
    const ref = request.extract(project, 'u', text64(png))
    expect(log.appends()).toBe(0)
    expect(await request.append()).toEqual([
      { topic: 'files', partition: 0, offset: 2 },
      { topic: 'objects', partition: 0, offset: 1 },
    ])
    const sha256 = createHash('sha256').update(png).digest('hex')
    const [bytes, metadata] = log.rows('files')
    expect(Buffer.from(bytes?.content as string, 'base64').equals(png)).toBe(true)
    const stored = Buffer.from(metadata?.content as string, 'base64').toString()
    const filename = `image-${sha256.slice(0, 4)}.png`
    expect(Object.entries(JSON.parse(stored))).toEqual([
      ['size', 9_000],
      ['mimetype', 'image/png'],
      ['digest', sha256],
      ['filename', filename],
      ['content_type', 'base64'],
      ['input_type', 'str'],
      ['encoding', 'base64'],
      ['metadata', null],
      ['extension', '.png'],
    ])
    const val = {
      _type: 'CustomWeaveType',
      weave_type: { type: 'weave.type_wrappers.Content.content.Content' },
      files: { content: fileDigest(png), 'metadata.json': fileDigest(Buffer.from(stored)) },
    }
    expect(log.rows('objects')).toMatchObject([
      { object_id: filename, kind: 'object', user_id: 'u', digest: valueDigest(JSON.stringify(val)), val },
    ])
    expect(ref).toBe(`weave:///e/p/object/${filename}:${valueDigest(JSON.stringify(val))}`)
    expect(isRef(ref as string)).toBe(true)
  })
  it('takes data URIs of any type, in any case', async () => {
    const request = content.begin()
    const plain = Buffer.alloc(7_000, 'text ')
    const ref = request.extract(project, 'u', `DATA:Text/Plain;BASE64,${text64(plain)}`)
    expect(ref).toMatch(/^weave:\/\/\/e\/p\/object\/text-[0-9a-f]{4}\.txt:[A-Za-z0-9]{43}$/)
    await request.append()
    const metadata = JSON.parse(Buffer.from(log.rows('files')[1]?.content as string, 'base64').toString())
    expect(metadata).toMatchObject({ content_type: 'data_url:base64', encoding: 'us-ascii', mimetype: 'Text/Plain' })
    expect(extract(`data:application/pdf;base64,${text64(png)}`)).toMatch(/\/object\/file-[0-9a-f]{4}\.pdf:/)
  })
  it.each<[string, string]>([
    ['text of 8192 characters', text64(filled(pngHead, 6_144))],
    ['base64 of plain text', text64(Buffer.alloc(9_000, 'hello world '))],
    ['base64 of unknown bytes', text64(Buffer.alloc(9_000, 7))],
    ['plain text', 'a'.repeat(9_001)],
    ['base64 with a line break', `${text64(png)}\n`],
    ['base64 that is cut', text64(png).slice(0, -1)],
    ['url-safe base64', `${text64(png).slice(0, -4)}-_-_`],
    ['too much padding', `${text64(png)}====`],
    ['a URI with parameters', `data:image/png;charset=utf-8;base64,${text64(png)}`],
    ['a URI without base64', `data:image/png,${'a'.repeat(9_000)}`],
    ['a URI without a type', `data:;base64,${text64(png)}`],
    ['a URI of a broken type', `data:${'x'.repeat(9_000)}/y;base64,AAAA`],
    ['a URI with other characters', `data:image/png;base64,${text64(png)} `],
    ['a long digest', 'f'.repeat(10_000)],
  ])('leaves %s where it is', async (_, text) => {
    const request = content.begin()
    expect(request.extract(project, 'u', text)).toBe(null)
    expect(await request.append()).toEqual([])
    expect(log.appends()).toBe(0)
  })
  it('begins above 8192 characters', () => {
    expect(text64(filled(pngHead, 6_147))).toHaveLength(8_196)
    expect(extract(text64(filled(pngHead, 6_147)))).not.toBe(null)
  })
  it('keeps hostile types out of names', () => {
    const ref = extract(`data:../../..\\<x>"/e t c;base64,${text64(png)}`)
    expect(ref).toBe(null)
    const odd = extract(`data:../../..\\<x>"/etc;base64,${text64(png)}`)
    expect(odd).toMatch(/^weave:\/\/\/e\/p\/object\/\.\.-[0-9a-f]{4}\.bin:/)
  })
  it('writes the same bytes once, when the first append was durable', async () => {
    const failed = content.begin()
    const ref = failed.extract(project, 'u', text64(png))
    expect(failed.extract(project, 'u', text64(png))).toBe(ref)
    log.refuse(new Error('closed'))
    await expect(failed.append()).rejects.toThrow('closed')
    log.refuse(null)

    const second = content.begin()
    expect(second.extract(project, 'u', text64(png))).toBe(ref)
    await second.append()
    expect([log.rows('files').length, log.rows('objects').length]).toEqual([2, 1])

    const third = content.begin()
    expect(third.extract(project, 'u', text64(png))).toBe(ref)
    expect(await third.append()).toEqual([])
    const other = content.begin()
    expect(other.extract('e/q', 'u', text64(png))).toBe(ref?.replace('e/p', 'e/q'))
    expect(await other.append()).toHaveLength(2)
  })
  it('puts large contents into blob storage, and into rows when that fails', async () => {
    const large = text64(filled(pngHead, 1_200_000))
    const request = content.begin()
    request.extract(project, 'u', large)
    await request.append()
    expect(log.rows('files')).toMatchObject([
      { name: 'content', n_chunks: 1, blob: expect.any(String) },
      { name: 'metadata.json' },
    ])

    const down = {
      upload: () => Promise.reject(new Error('down')),
      read: async function* () {},
      stat: async () => null,
    }
    log = createMemoryLog()
    const without = createContent({ log, clock: createClock(), blobs: down }).begin()
    without.extract(project, 'u', large)
    await without.append()
    expect(log.rows('files')).toHaveLength(13)
  })
})

describe('placeholder ops', () => {
  it('are written once per project and name', async () => {
    const ops = createOpObjects({ log, clock: createClock() })
    const request = ops.begin()
    const ref = request.ref(project, 'u', 'get__x')
    expect(request.ref(project, 'u', 'get__x')).toBe(ref)
    request.ref(project, 'u', 'other')
    request.ref('e/q' as ProjectId, 'u', 'get__x')
    expect(ref).toBe(`weave:///e/p/op/get__x:${placeholderOpDigest}`)
    expect(await request.append()).toHaveLength(2)
    expect(log.rows('files').map((row) => row.project_id)).toEqual(['e/p', 'e/q'])
    expect(log.rows('objects').map((row) => [row.project_id, row.object_id, row.kind])).toEqual([
      ['e/p', 'get__x', 'op'],
      ['e/p', 'other', 'op'],
      ['e/q', 'get__x', 'op'],
    ])
    const val = log.rows('objects')[0]?.val as { files: Record<string, string> }
    expect(valueDigest(JSON.stringify(val))).toBe(placeholderOpDigest)
    const source = Buffer.from(log.rows('files')[0]?.content as string, 'base64')
    expect(val.files).toEqual({ 'obj.py': fileDigest(source) })

    const again = ops.begin()
    again.ref(project, 'u', 'get__x')
    expect(await again.append()).toEqual([])
    again.ref(project, 'u', 'third')
    expect(await again.append()).toMatchObject([{ topic: 'objects' }])
  })
  it('keep their digest, which stored refs hold', () => {
    expect(placeholderOpDigest).toMatchInlineSnapshot(`"sv75tbuMv7SVFFoqD1xIGW2c6Jp2eYmJeGXwCPx8NGM"`)
  })
  it('are written again when the log had refused', async () => {
    const ops = createOpObjects({ log, clock: createClock() })
    const request = ops.begin()
    request.ref(project, 'u', 'x')
    log.refuse(new Error('closed'))
    await expect(request.append()).rejects.toThrow('closed')
    log.refuse(null)
    const retry = ops.begin()
    retry.ref(project, 'u', 'x')
    expect(await retry.append()).toHaveLength(2)
  })
})

describe('media types', () => {
  const zip = (name: string, more = '') => Buffer.from(`PK\x03\x04${'\0'.repeat(26)}${name}${more}`, 'latin1')
  it.each<[string, Buffer, string]>([
    ['image/png', pngHead, '.png'],
    ['image/jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), '.jpg'],
    ['image/gif', Buffer.from('GIF89a'), '.gif'],
    ['image/webp', Buffer.from('RIFF\0\0\0\0WEBPVP8 '), '.webp'],
    ['audio/wav', Buffer.from('RIFF\0\0\0\0WAVEfmt '), '.wav'],
    ['application/pdf', Buffer.from('%PDF-1.7'), '.pdf'],
    ['audio/mpeg', Buffer.from('ID3\x03\0\0\0\0\0\0'), '.mp3'],
    [
      'audio/mpeg',
      Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413), Buffer.from([0xff, 0xfb])]),
      '.mp3',
    ],
    ['audio/ogg', Buffer.from('OggS\0\x02xxxxOpusHead'), '.ogg'],
    ['video/mp4', Buffer.from('\0\0\0\x20ftypisom'), '.mp4'],
    ['audio/mp4', Buffer.from('\0\0\0\x20ftypM4A '), '.m4a'],
    ['video/webm', Buffer.from('\x1aE\xdf\xa3xxxxwebm', 'latin1'), '.webm'],
    ['application/zip', zip('a.txt'), '.zip'],
    ['application/epub+zip', zip('mimetypeapplication/epub+zip'), '.epub'],
    [
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      zip('[Content_Types].xml', 'word/document.xml'),
      '.docx',
    ],
    ['image/svg+xml', Buffer.from('<?xml version="1.0"?>\n<svg xmlns="x">'), '.svg'],
    ['text/html', Buffer.from('\n <!DOCTYPE html><html>'), '.html'],
    ['text/xml', Buffer.from('<?xml version="1.0"?><a/>'), '.xml'],
  ])('%s is recognised', (mime, bytes, extension) => {
    expect(sniffMime(bytes)).toBe(mime)
    expect(extensionOf(mime)).toBe(extension)
  })
  it.each([
    '',
    'BM plain text',
    'MZ is a text',
    'II*',
    '<tag>',
    'PK',
    '{"a":1}',
    '\xff\xfb\x90 no second frame',
    'ftyp',
    'RIFF',
  ])('%j is none', (text) => {
    expect(sniffMime(Buffer.from(text, 'latin1'))).toBe(null)
  })
  it('give an extension in any case', () => {
    expect(
      ['image/avif', 'image/x-foo', 'IMAGE/JPEG', 'application/octet-stream', 'x', '../..', 'constructor'].map(
        extensionOf,
      ),
    ).toEqual(['.avif', '.foo', '.jpg', '.bin', '.bin', '.bin', '.bin'])
  })
})
