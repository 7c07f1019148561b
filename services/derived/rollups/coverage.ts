// Coverage of a rollup: positions of the log, of all projects or of those of some hash slots; see ADR 0055.
import { everySlot, nameOfSlot } from '../../content/hash-slots.ts'
import type { Position } from '../../core/log/log.ts'
import { statement } from '../../core/store/statements.ts'
import type { Store } from '../../core/store/store.ts'

/** The projects that a process derives: those of these slots, null = all. */
export type Assignment = {
  slots: readonly number[] | null
  /** Whether it begins what no process has begun, for all projects, and drops what everybody has covered. */
  isLeader: boolean
}

export const wholeAssignment: Assignment = { slots: null, isLeader: true }

export type Coverage = {
  /** Whether the rollup covers anything of all projects. */
  isBegun: boolean
  /** Positions by partition: of several slots the least. */
  offsets: Map<number, number>
  revision: number
}

type Row = { name: string; partition: number; position: number; revision: number }

/** @param slots null = all of them */
export async function readCoverage(
  store: Pick<Store, 'rows'>,
  name: string,
  slots: readonly number[] | null,
): Promise<Coverage> {
  const rows = await store.rows<Row>(statement('rollups.covered', { name }))
  const byName = Map.groupBy(rows, (row) => row.name)
  const offsetsOf = (one: string) =>
    new Map((byName.get(one) ?? []).map(({ partition, position }) => [Number(partition), Number(position)]))
  const all = offsetsOf(name)
  const apart = (slots ?? everySlot).map((slot) => offsetsOf(nameOfSlot(name, slot)))
  const partitions = new Set(rows.map(({ partition }) => Number(partition)))
  const least = (partition: number): number =>
    Math.max(all.get(partition) ?? 0, Math.min(...apart.map((of) => of.get(partition) ?? 0)))
  return {
    isBegun: all.size > 0,
    offsets: new Map([...partitions].map((partition) => [partition, least(partition)])),
    revision: Math.max(0, ...rows.map((row) => Number(row.revision))),
  }
}

/** Notes what is derived, after its rows. @param slots null = of all projects */
export async function writeCoverage(
  store: Pick<Store, 'command'>,
  name: string,
  { slots, upTo, revision }: { slots: readonly number[] | null; upTo: readonly Position[]; revision: number },
): Promise<void> {
  const names = slots?.map((slot) => nameOfSlot(name, slot)) ?? [name]
  const rows = names.flatMap((one) => upTo.map(({ partition, offset }) => ({ name: one, partition, offset })))
  const params = {
    names: rows.map((row) => row.name),
    partitions: rows.map(({ partition }) => partition),
    upTo: rows.map(({ offset }) => offset),
    revision,
  }
  await store.command(statement('rollups-cover', params), { background: true })
}
