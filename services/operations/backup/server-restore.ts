// Restores a backup that a ClickHouse server made into an empty database, and sets the workers' group to where it began.
import { setTimeout as sleep } from 'node:timers/promises'
import type { KafkaGroup, KeptPartition } from '../../core/log/kafka/group.ts'
import type { Position } from '../../core/log/log.ts'
import { formatPositions } from '../../core/log/positions.ts'
import { packageVersion } from '../../core/process/version.ts'
import { quantity } from '../../core/quantity.ts'
import type { TopicName } from '../../events/registry.ts'
import { type Destination, parseDestination } from './destination.ts'
import { eachOf } from './folder.ts'
import { engineVersion, rowCounts, tablesOf } from './server-backup.ts'
import { readServerManifest, type ServerManifest } from './server-manifest.ts'
import { operatorError, runOnServer, type ServerWork } from './server-work.ts'
import { unfinishedTable } from './unfinished.ts'

type ServerRestoreDeps = ServerWork & {
  database: string
  group: Pick<KafkaGroup, 'members' | 'kept' | 'moveTo'>
  /** Time for which a worker that ended may still be listed as a member of the group. */
  sessionTimeoutMs: number
}

const aside = { background: true }

const numbersOf = (version: string, count: number): number[] => version.split('.').slice(0, count).map(Number)
const isNewer = (one: string, other: string, count: number): boolean => {
  const [a, b] = [numbersOf(one, count), numbersOf(other, count)]
  const at = a.findIndex((number, i) => number !== b[i])
  return at !== -1 && (a[at] as number) > (b[at] ?? 0)
}

/** The log that is there must be the one of the backup, and go on after it. */
function positionsFrom(noted: ServerManifest['positions'], kept: readonly KeptPartition[]) {
  const nameOf = (of: { topic: string; partition: number }) =>
    formatPositions([{ topic: of.topic as TopicName, partition: of.partition, offset: 0 }]).replace(/=.*/, '')
  const lost: string[] = []
  for (const { topic, partition, applied, end } of noted) {
    const found = kept.find((one) => one.topic === topic && one.partition === partition)
    if (!found)
      throw new Error(`the log has no partition ${nameOf({ topic, partition })}: it is not that of the backup`)
    if (found.end < end)
      throw new Error(
        `the log of ${nameOf(found)} ends at ${found.end} and went to ${end} when the backup was made: it is not that of the backup`,
      )
    if (found.first > applied + 1)
      lost.push(`${nameOf(found)}: Kafka does not hold the records ${applied + 1} to ${found.first - 1} any more`)
  }
  const positions: Position[] = kept.map(({ topic, partition, first }) => {
    const applied = noted.find((one) => one.topic === topic && one.partition === partition)?.applied ?? 0
    return { topic, partition, offset: Math.max(applied, first - 1) }
  })
  return { positions, lost }
}

/**
 * @param from the destination, where the manifest does not hold all of it; else empty
 * @throws Error with a line for the operator
 */
export async function restoreServer(deps: ServerRestoreDeps, folder: string, from: string): Promise<void> {
  const { store, database, group, print, signal } = deps
  const manifest = await readServerManifest(folder)
  if (from === '' && !manifest.isDestinationWhole)
    throw new Error(`the manifest does not hold all of ${manifest.destination}: name it with --from`)
  const destination: Destination = parseDestination(from === '' ? manifest.destination : from)
  const run = (sql: string) =>
    store.command({ name: 'restore.prepare', sql, params: {} }, aside).catch((error: unknown) => {
      throw operatorError(error, destination)
    })

  const [here, engine] = [await packageVersion(), await engineVersion(deps)]
  if (isNewer(manifest.callhouse, here, 3))
    throw new Error(`the backup was made by callhouse ${manifest.callhouse}, this is ${here}: use that or a newer one`)
  if (isNewer(manifest.engine, engine, 2))
    throw new Error(
      `the backup was made by ClickHouse ${manifest.engine}, this server is ${engine}: use that version or a newer one`,
    )
  const present = await tablesOf(deps, database)
  if (present.length > 0)
    throw new Error(
      present.some(({ name }) => name === unfinishedTable)
        ? `a restore into ${database} was broken off: DROP DATABASE ${database} and run it again`
        : `the database ${database} is not empty (${quantity(present.length, 'table')}): a backup is restored into an empty one`,
    )
  /** A worker with a name stays in the group for a while, so that it has its partitions back after a restart. */
  const emptyGroup = async (): Promise<void> => {
    for (let untilMs = 0; ; await sleep(500)) {
      const members = await group.members()
      if (members === 0) return
      if (untilMs === 0) {
        untilMs = Date.now() + deps.sessionTimeoutMs + 1_000
        print(`restore ${folder}: waits until ${quantity(members, 'worker has', 'workers have')} left the group`)
      }
      if (Date.now() > untilMs || signal.aborted)
        throw new Error(`there are workers in the group, ${members}: end them first`)
    }
  }
  await emptyGroup()
  const { positions, lost } = positionsFrom(manifest.positions, await group.kept())

  const names = Object.keys(manifest.tables)
  const elements = (of: readonly string[]): string =>
    of.map((name) => `TABLE \`${manifest.database}\`.\`${name}\` AS \`${database}\`.\`${name}\``).join(', ')
  print(`restore ${folder}: from ${destination.shown}, begun at ${manifest.begunAt} by ${manifest.callhouse}`)
  await run(`CREATE TABLE \`${database}\`.${unfinishedTable} (at DateTime DEFAULT now()) ENGINE = Null`)
  // Without merges until the rows are counted: they remove older versions.
  await runOnServer(
    deps,
    `RESTORE ${elements([...names, ...manifest.definitions])} FROM ${destination.sql}`,
    destination,
    'max_execution_time = 0, structure_only = 1',
  ).catch(async (error: unknown) => {
    const made = (await tablesOf(deps, database)).filter(({ name }) => name !== unfinishedTable)
    if (made.length === 0) await run(`DROP TABLE \`${database}\`.${unfinishedTable} SYNC`)
    throw error
  })
  await eachOf(names, (name) => run(`SYSTEM STOP MERGES \`${database}\`.\`${name}\``))
  await runOnServer(deps, `RESTORE ${elements(names)} FROM ${destination.sql}`, destination)
  const counts = await rowCounts(deps, database)
  for (const name of names)
    if ((counts.get(name) ?? 0) !== manifest.tables[name])
      throw new Error(
        `${name} has ${quantity(counts.get(name) ?? 0, 'row')} after the restore and had ${manifest.tables[name]}: DROP DATABASE ${database}`,
      )
  await eachOf(names, (name) => run(`SYSTEM START MERGES \`${database}\`.\`${name}\``))
  signal.throwIfAborted()
  await emptyGroup()
  await group.moveTo(positions)
  await run(`DROP TABLE \`${database}\`.${unfinishedTable} SYNC`)
  for (const line of lost) print(`restore ${folder}: ${line}; what they held is missing`)
  const rows = Object.values(manifest.tables).reduce((sum, count) => sum + count, 0)
  print(
    `restore ${folder}: done, ${quantity(rows, 'row')} of ${quantity(names.length, 'table')} in ${database}; workers go on from ${manifest.begunAt}`,
  )
}
