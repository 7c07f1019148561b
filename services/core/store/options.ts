// Options of every driver of the store, and the limits of its statements.
import { fileURLToPath } from 'node:url'
import type { StoreLogger, StoreMetrics } from './store.ts'

export type StoreOptions = {
  /** Default limits of a read. */
  queryTimeoutMs: number
  queryMemoryBytes: number
  /** Rows that a read about a project may go through; default 0 = any number. */
  queryRows?: number
  /** Largest result of one read, in the engine's memory; longer ones page by key. */
  maxResultBytes?: number
  /** Connections for lists and single reads, and for exports and scans. */
  interactiveConnections?: number
  exportConnections?: number
  migrationsDir?: string
  /** File with what the first migrations together make; default: that of the default folder. */
  baseline?: string | undefined
  logger?: StoreLogger
  metrics?: StoreMetrics
}

/** Writing statements are retried by the worker, so their limit only ends what would never end. */
export const writeTimeoutMs = 600_000
export const controlTimeoutMs = 5_000
/** Above the engine's own limit, which answers with a better message and leaves less behind. */
export const graceMs = 500
export const partsEveryMs = 60_000

const migrations = fileURLToPath(new URL('../../../clickhouse/migrations', import.meta.url))
const baseline = fileURLToPath(new URL('../../../clickhouse/baseline.sql', import.meta.url))
const silent: StoreLogger = { info() {}, warn() {}, error() {} }

export const withDefaults = <Options extends StoreOptions>(options: Options) => ({
  queryRows: 0,
  maxResultBytes: 256 * 2 ** 20,
  migrationsDir: migrations,
  baseline: options.migrationsDir === undefined ? baseline : undefined,
  logger: silent,
  ...options,
})
