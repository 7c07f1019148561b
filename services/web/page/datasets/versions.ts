// Tables and versions of datasets as requests make them, from rows that are JSON already.
import { baseUrl, json } from '../api/client.ts'
import { JsonText, send } from '../api/send.ts'
import { objectText, plainText, withMember } from '../engine/json-texts.ts'
import { membersWithColumns } from '../engine/table-columns.ts'
import { batchesOf, type Cells, type Edits, editCount, updatesOf } from '../engine/table-edits.ts'
import { ask } from '../worker/client.ts'
import { tableOf } from './search.ts'

/** Number of updates in one request. */
const maxUpdates = 1_000
const maxLength = 4 * 2 ** 20

/** The value of a dataset with another table. */
export const withTable = (projectId: string, value: string, digest: string): string =>
  withMember(value, 'rows', JSON.stringify(`weave:///${projectId}/table/${digest}`))

const digestOf = async (response: Response): Promise<string> => ((await response.json()) as { digest: string }).digest

/** A table with these updates, and its digest. @throws ApiFault */
async function updatedTable(projectId: string, base: string, all: readonly string[]): Promise<string> {
  let at = base
  for (const updates of batchesOf(all, maxUpdates, maxLength)) {
    const head = JSON.stringify({ project_id: projectId, base_digest: at }).slice(0, -1)
    at = await digestOf(await send(baseUrl, 'tables.update', new JsonText(`${head},"updates":[${updates.join(',')}]}`)))
  }
  return at
}

/** Rows of one request that makes another table. */
const rewrittenRows = 500

/** Digests of new rows, in their order. @throws ApiFault */
async function rowDigests(projectId: string, rows: readonly Cells[]): Promise<string[]> {
  const digests: string[] = []
  const texts = rows.map((cells) => objectText(cells))
  for (const batch of batchesOf(texts, rewrittenRows, maxLength)) {
    const table = `{"project_id":${JSON.stringify(projectId)},"rows":[${batch.join(',')}]}`
    const answer = await send(baseUrl, 'tables.create', new JsonText(`{"table":${table}}`))
    digests.push(...((await answer.json()) as { row_digests: string[] }).row_digests)
  }
  return digests
}

/**
 * The table with the edits made anew: for changes of columns, and for so many rows that updates would take longer. Rows
 * that stay as they are are named by their digests. @throws ApiFault
 */
async function rewrittenTable(projectId: string, digest: string, stored: number, edits: Edits): Promise<string> {
  const asked = { base: baseUrl, projectId, digest }
  const digests: string[] = []
  for (let offset = 0; offset < stored; offset += rewrittenRows) {
    const rows = await ask('tableCells', [asked, offset, Math.min(rewrittenRows, stored - offset)])
    const kept = rows.flatMap(({ digest: row, cells }, n) => {
      const index = offset + n
      if (edits.removed.has(index)) return []
      const next =
        edits.changed.get(index) ?? (edits.columns.length > 0 ? membersWithColumns(edits.columns, cells) : undefined)
      return [{ row, next }]
    })
    const made = await rowDigests(
      projectId,
      kept.flatMap(({ next }) => (next === undefined ? [] : [next])),
    )
    for (const { row, next } of kept) digests.push(next === undefined ? row : (made.shift() as string))
  }
  digests.push(...(await rowDigests(projectId, edits.added)))
  return (await json('tables.create_from_digests', { project_id: projectId, row_digests: digests })).digest
}

/** The table after the edits, and its digest. @throws ApiFault */
export const editedTable = (projectId: string, digest: string, stored: number, edits: Edits): Promise<string> =>
  edits.columns.length > 0 || editCount(edits) > maxUpdates
    ? rewrittenTable(projectId, digest, stored, edits)
    : updatedTable(projectId, digest, updatesOf(edits))

/** A version of an object whose value is given as JSON. @throws ApiFault */
export async function createVersion(projectId: string, objectId: string, value: string): Promise<string> {
  const head = JSON.stringify({ project_id: projectId, object_id: objectId }).slice(0, -1)
  return digestOf(await send(baseUrl, 'objects.create', new JsonText(`{"obj":${head},"val":${value}}}`)))
}

const emptyTable = async (project_id: string): Promise<string> =>
  (await json('tables.create', { table: { project_id, rows: [] } })).digest

/** The table of the latest version of a dataset, and its value as JSON. @throws ApiFault */
export async function latestOf(projectId: string, objectId: string) {
  const { value, members } = await ask('objectTexts', [baseUrl, projectId, objectId, 'latest'])
  const table = tableOf(projectId, plainText(members.find(([name]) => name === 'rows')?.[1] ?? ''))
  if (table === undefined) throw new Error('The latest version has no table')
  return { value, table }
}

/** A new dataset in the form of the Weave SDK. */
const newDataset = (name: string): string =>
  JSON.stringify({
    _type: 'Dataset',
    _class_name: 'Dataset',
    _bases: ['Object', 'BaseModel'],
    name,
    description: null,
    rows: '',
  })

/** A version of a dataset with rows behind those that it has, or a new one. @throws ApiFault */
export async function appendedVersion(
  projectId: string,
  objectId: string,
  isNew: boolean,
  rows: readonly Cells[],
): Promise<string> {
  const base = isNew
    ? { value: newDataset(objectId), table: await emptyTable(projectId) }
    : await latestOf(projectId, objectId)
  const updates = rows.map((cells) => `{"append":{"row":${objectText(cells)}}}`)
  const table = await updatedTable(projectId, base.table, updates)
  return createVersion(projectId, objectId, withTable(projectId, base.value, table))
}
