// The manifest of a backup that a ClickHouse server made: its place, its contents, and the positions of the log.
import { join } from 'node:path'
import { z } from 'zod'
import { readManifest, writeManifest } from '../../core/files/manifest.ts'

const manifestName = 'backup.json'

const bodySchema = z.object({
  format: z.literal('callhouse server backup', { error: 'is no manifest of a backup of a ClickHouse server' }),
  version: z.literal(1, { error: 'is of a format that this version does not know' }),
  callhouse: z.string(),
  /** Version of the ClickHouse server. */
  engine: z.string(),
  begunAt: z.string(),
  /** Without its secrets. */
  destination: z.string(),
  /** Whether `destination` is all of it. */
  isDestinationWhole: z.boolean(),
  database: z.string(),
  /** Per partition: what the tables held at the beginning, and how far the log went. */
  positions: z.array(z.object({ topic: z.string(), partition: z.int(), applied: z.int(), end: z.int() })),
  /** Rows of each table as they lie on the disk, older versions included. */
  tables: z.record(z.string(), z.int()),
  /** Views and tables without rows. */
  definitions: z.array(z.string()),
  /** Settings of the topics, for creating them again by hand. */
  topics: z.array(
    z.object({
      topic: z.string(),
      partitions: z.int(),
      replicas: z.int(),
      settings: z.record(z.string(), z.string()),
    }),
  ),
})
export type ServerManifest = z.output<typeof bodySchema>

export const writeServerManifest = (folder: string, body: ServerManifest): Promise<void> =>
  writeManifest(join(folder, manifestName), bodySchema, body)

/** @throws Error with a line for the operator */
export async function readServerManifest(folder: string): Promise<ServerManifest> {
  return (await readManifest(join(folder, manifestName), bodySchema, 'backup')).body
}
