// Rows of an answer in the format JSONEachRow.
import { throwUnlessRoomForRows } from '../memory/heap-room.ts'

export function parseRows<T>(answer: Buffer): T[] {
  throwUnlessRoomForRows(answer)
  return JSON.parse(`[${answer.toString('utf8').trimEnd().replaceAll('\n', ',')}]`) as T[]
}
