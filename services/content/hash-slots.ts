// Assigns projects to workers: projects fall into hash slots, and a slot follows a partition of the topic calls.
import { crc32 } from 'node:zlib'

/** More than workers that derive at once; statements hold slots as `CRC32(project_id) % 64`. */
export const slotCount = 64
export const everySlot: readonly number[] = Array.from({ length: slotCount }, (_, slot) => slot)

/** Slots of the projects that the holder of some partitions derives; null = all of them. */
export function slotsOf(partitions: number, isHeld: (partition: number) => boolean): readonly number[] | null {
  const slots = everySlot.filter((slot) => isHeld(slot % partitions))
  return slots.length === slotCount ? null : slots
}

export const slotOf = (projectId: string): number => crc32(projectId) % slotCount

/** Name under which the table `rollups` says what a rollup covers of one slot; its own name stands for all of them. */
export const nameOfSlot = (rollup: string, slot: number): string => `${rollup}/${slot}`

/** Names in the table `rollups` that say what a rollup covers of a project; the greatest position counts. */
export const coveringNames = (rollup: string, projectId: string): string[] => [
  rollup,
  nameOfSlot(rollup, slotOf(projectId)),
]
