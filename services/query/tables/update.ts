// Changing tables: POST /table/update. Served here, because the base list has to be read.
import { type TableUpdate, tableUpdateRequest, tableUpdateResponse } from '../../../schemas/tables.ts'
import { type Maskings, noMaskings } from '../../content/masking/maskings.ts'
import { refuseInternalRefs } from '../../content/refs.ts'
import type { Clock } from '../../core/clock/clock.ts'
import { TooLongHere } from '../../core/errors.ts'
import { fault, retryLater } from '../../core/http/errors.ts'
import { type Route, route } from '../../core/http/route.ts'
import { items, members } from '../../core/json/canonical.ts'
import type { Freshness } from '../../core/log/freshness.ts'
import type { Log } from '../../core/log/log.ts'
import { formatPositions, positionHeader } from '../../core/log/positions.ts'
import type { Store } from '../../core/store/store.ts'
import { makeTable, type TableRow } from '../../events/tables.ts'
import { wholeList } from './read.ts'

export type TableUpdateDeps = {
  store: Pick<Store, 'rows'>
  log: Pick<Log, 'append'>
  clock: Clock
  freshness: Freshness
  maskings?: Maskings
}

/** Rows of the updates in their order, from the body's text, so that their numbers keep their spelling. */
const sentRows = (body: string): string[] =>
  (items(members(body)?.get('updates') ?? '') ?? []).flatMap((update) => {
    const sent = members(update)
    const change = sent?.get('append') ?? sent?.get('insert')
    const row = change === undefined ? undefined : members(change)?.get('row')
    return row === undefined ? [] : row
  })

/** Rows of a table that is made anew within some 25 ms. */
const maxHere = 20_000

const blockRows = 2000

type EditableList = { length: number; insert(index: number, digest: string): void; remove(index: number): string }

/** The list in blocks: a change far from the end of a long list moves one block only. */
function editable(list: readonly string[]): EditableList & { all(): string[] } {
  const blocks: string[][] = []
  for (let at = 0; at === 0 || at < list.length; at += blockRows) blocks.push(list.slice(at, at + blockRows))
  /** Block of a place, which may be the end of the list, and the place within. */
  const find = (index: number): [number, number] => {
    let rest = index
    let at = 0
    while (at < blocks.length - 1 && rest >= (blocks[at] as string[]).length) rest -= (blocks[at++] as string[]).length
    return [at, rest]
  }
  return {
    length: list.length,
    insert(index, digest) {
      const [at, place] = index === this.length ? [blocks.length - 1, Number.MAX_SAFE_INTEGER] : find(index)
      const block = blocks[at] as string[]
      block.splice(place, 0, digest)
      if (block.length > 2 * blockRows) blocks.splice(at + 1, 0, block.splice(blockRows))
      this.length++
    },
    remove(index) {
      const [at, place] = find(index)
      this.length--
      const block = blocks[at] as string[]
      const [digest] = block.splice(place, 1)
      if (block.length === 0 && blocks.length > 1) blocks.splice(at, 1)
      return digest as string
    },
    all: () => blocks.flat(),
  }
}

/** @throws Fault 400 when an index is outside the list at that moment */
function applyUpdates(
  base: readonly string[],
  updates: readonly TableUpdate[],
  rows: readonly TableRow[],
): { list: string[]; changed: string[] } {
  const list = editable(base)
  let used = 0
  const nextDigest = () => (rows[used++] as TableRow).digest
  const check = (index: number, most: number, at: number) => {
    if (index < 0 || index > most) throw fault(400, `updates[${at}]: index ${index} is outside the table`)
  }
  const changed = updates.map((update, at) => {
    if ('pop' in update) {
      check(update.pop.index, list.length - 1, at)
      return list.remove(update.pop.index)
    }
    const index = 'insert' in update ? update.insert.index : list.length
    check(index, list.length, at)
    const digest = nextDigest()
    list.insert(index, digest)
    return digest
  })
  return { list: list.all(), changed }
}

export function createTableUpdateRoutes(deps: TableUpdateDeps): Route[] {
  const { store, log, clock, freshness, maskings = noMaskings } = deps
  return [
    route({
      name: 'tables.update',
      method: 'POST',
      path: '/table/update',
      summary: 'Creates a table from another one by appending, removing and inserting rows',
      body: { type: 'json', schema: tableUpdateRequest, check: 'schema' },
      response: tableUpdateResponse,
      topics: ['tables'],
      tables: ['table_lists'],
      async handle(context) {
        const { input, body, signal } = context
        const projectId = context.project(input.project_id)
        const text = body.bytes.toString()
        refuseInternalRefs(text, input.updates)
        const texts = sentRows(text)
        const headers = await freshness.wait(context, ['tables'])
        const throwIfLong = (rows: number) => {
          if (rows > maxHere && !context.mayTakeLong) throw new TooLongHere()
        }
        const base = await wholeList({ store, projectId, options: { signal } }, input.base_digest, throwIfLong)
        if (base === null && Object.keys(headers).length > 0) throw retryLater(503, 'The table may not be readable yet')
        if (base === null) throw fault(404, `Table ${input.base_digest.slice(0, 100)} not found`)
        if (input.updates.length === 0) return { json: { digest: input.base_digest, updated_row_digests: [] }, headers }
        let changed: string[] = []
        const { digest, record } = await makeTable({
          projectId,
          texts,
          clock,
          masker: maskings.of(projectId)?.objects,
          list(rows) {
            const updated = applyUpdates(base, input.updates, rows)
            changed = updated.changed
            return updated.list
          },
        })
        const position = await log.append('tables', [record])
        return {
          json: { digest, updated_row_digests: changed },
          headers: { ...headers, [positionHeader]: formatPositions([position]) },
        }
      },
    }),
  ]
}
