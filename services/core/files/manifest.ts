// A folder's manifest: JSON with its own digest, written last, so that a folder without it is not whole.
import { createHash } from 'node:crypto'
import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { nodeFs } from './disk.ts'

const digestOf = (body: unknown): string => createHash('sha256').update(JSON.stringify(body)).digest('hex')

/** Writes the manifest durably and all at once. */
export async function writeManifest<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  body: z.output<Schema>,
): Promise<void> {
  const parsed = schema.parse(body) as object
  const handle = await open(`${path}.tmp`, 'w', 0o640)
  try {
    await handle.writeFile(`${JSON.stringify({ ...parsed, sha256: digestOf(parsed) }, null, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.tmp`, path)
  await nodeFs.syncDir(dirname(path))
}

/**
 * @param what the folder is, for the operator
 * @throws Error with a line for the operator when there is no whole manifest
 */
export async function readManifest<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  what: string,
): Promise<{ body: z.output<Schema>; sha256: string }> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`${path} cannot be read: this is no ${what}, or one that was not ended`)
  })
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    throw new Error(`${path} is damaged`)
  }
  const parsed = schema.safeParse(found)
  if (!parsed.success) throw new Error(`${path} ${parsed.error.issues[0]?.message}`)
  const { sha256 } = found as { sha256: string }
  if (sha256 !== digestOf(parsed.data)) throw new Error(`${path} is damaged: its digest differs`)
  return { body: parsed.data, sha256 }
}
