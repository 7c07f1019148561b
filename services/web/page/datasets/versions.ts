// Tables and versions of datasets as requests make them, from rows that are JSON already.
import { baseUrl, json } from '../api/client.ts'
import { JsonText, send } from '../api/send.ts'
import { objectText, plainText, withMember } from '../engine/json-texts.ts'
import { batchesOf, type Cells } from '../engine/table-edits.ts'
import { ask } from '../worker/client.ts'
import { tableOf } from './search.ts'

/** Of one request. */
const maxUpdates = 1_000
const maxLength = 4 * 2 ** 20

/** The value of a dataset with another table. */
export const withTable = (projectId: string, value: string, digest: string): string =>
  withMember(value, 'rows', JSON.stringify(`weave:///${projectId}/table/${digest}`))

const digestOf = async (response: Response): Promise<string> => ((await response.json()) as { digest: string }).digest

/** A table with these updates, and its digest. @throws ApiFault */
export async function updatedTable(projectId: string, base: string, all: readonly string[]): Promise<string> {
  let at = base
  for (const updates of batchesOf(all, maxUpdates, maxLength)) {
    const head = JSON.stringify({ project_id: projectId, base_digest: at }).slice(0, -1)
    at = await digestOf(await send(baseUrl, 'tables.update', new JsonText(`${head},"updates":[${updates.join(',')}]}`)))
  }
  return at
}

/** A version of an object whose value is given as JSON. @throws ApiFault */
export async function createVersion(projectId: string, objectId: string, value: string): Promise<string> {
  const head = JSON.stringify({ project_id: projectId, object_id: objectId }).slice(0, -1)
  return digestOf(await send(baseUrl, 'objects.create', new JsonText(`{"obj":${head},"val":${value}}}`)))
}

const emptyTable = async (project_id: string): Promise<string> =>
  (await json('tables.create', { table: { project_id, rows: [] } })).digest

/** The table of the latest version of a dataset, and its value as JSON. @throws ApiFault */
async function latestOf(projectId: string, objectId: string) {
  const { value, members } = await ask('objectTexts', [baseUrl, projectId, objectId, 'latest'])
  const table = tableOf(projectId, plainText(members.find(([name]) => name === 'rows')?.[1] ?? ''))
  if (table === undefined) throw new Error('The latest version holds no table')
  return { value, table }
}

/** As the Weave SDK publishes it. */
const newDataset = (name: string): string =>
  JSON.stringify({
    ...{ _type: 'Dataset', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] },
    ...{ name, description: null, rows: '' },
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
