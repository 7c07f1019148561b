// Room in the heap of this thread. A limit of V8 does not end a thread in order: when one native call (JSON.parse) needs
// more, or more survives one collection than fits, V8 aborts the whole process. So what is large looks for room before.
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { unavailable } from '../errors.ts'
import { moveWork } from '../process/running-handler.ts'

/**
 * Heap that a byte of JSON takes at most as values, with what is made of them. JSON.parse takes up to 39 for what it
 * gives (`{"30":{}}`: a number for a name makes elements for all smaller ones), with a reviver 73 on the way.
 */
export const heapPerJsonByte = 80
/** The same for rows of the store: few columns, most of them texts. */
const heapPerRowByte = 8
/** Smaller needs always find room: all of them together stay within what is spared. */
const smallBytes = 4 * 2 ** 20
/** Bytes that are left free: for new objects (V8 counts 192 MiB of the limit for them), and small needs. */
const sparedBytes = 256 * 2 ** 20

/** Limit in MiB of the heap of a thread whose largest body has so many bytes. */
export const heapLimitMb = (bodyBytes: number): number =>
  Math.ceil((bodyBytes * heapPerJsonByte + sparedBytes) / 2 ** 20)

let collect: (() => void) | undefined

/** Nothing else makes V8 collect before it needs to. */
function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}

function freeBytes(): number {
  const { heap_size_limit: limit, used_heap_size: used } = getHeapStatistics()
  return limit - used - sparedBytes
}

/**
 * Whether so many bytes of heap are free; collects garbage when they seem not to be. That takes some 60 ms for 240 MiB
 * that live, so work of the main thread goes elsewhere before, if it may.
 * @throws TooLongHere then
 */
export function hasRoom(heapBytes: number): boolean {
  if (heapBytes <= smallBytes || freeBytes() >= heapBytes) return true
  moveWork()
  collectGarbage()
  return freeBytes() >= heapBytes
}

/** Whether the values of a JSON text of so many bytes may find no room without a collection. */
export const seemsFull = (jsonBytes: number): boolean =>
  jsonBytes * heapPerJsonByte > smallBytes && freeBytes() < jsonBytes * heapPerJsonByte

export const noRoom = () => unavailable('Concurrent long requests need too much memory')

function throwUnlessRoom(heapBytes: number): void {
  if (!hasRoom(heapBytes)) throw noRoom()
}

/** @throws Refusal when the values of a JSON text find no room in the heap */
export const throwUnlessRoomForJson = (text: string): void => throwUnlessRoom(text.length * heapPerJsonByte)

/** The same for an answer of the store. */
export const throwUnlessRoomForRows = (answer: Buffer): void => throwUnlessRoom(answer.length * heapPerRowByte)

/** JSON.parse of what may be long. @throws Refusal when there is no room in the heap */
export function parseInRoom(text: string): unknown {
  throwUnlessRoomForJson(text)
  return JSON.parse(text)
}
