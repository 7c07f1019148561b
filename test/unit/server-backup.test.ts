// Backups of a ClickHouse server: which destinations are taken, what of them is shown, and what its errors become.
import { expect, it } from 'vitest'
import { StoreError } from '../../services/core/store/store.ts'
import { parseDestination } from '../../services/operations/backup/destination.ts'
import { runOnServer } from '../../services/operations/backup/server-work.ts'

it.each([
  ["Disk('backups', '2026/x.zip')", "Disk('backups', '2026/x.zip')"],
  ["  File( 'it\\'s; --' ) ", "File('it\\'s; --')"],
  ["S3('https://h/b/x', 'key', 'secret')", "S3('https://h/b/x', …)"],
  ["S3('https://h/b/x')", "S3('https://h/b/x')"],
  ["S3(collection, 'x')", "S3(collection, 'x')"],
  ["S3(collection, url = 'https://h', secret_access_key = 'secret')", 'S3(collection, …)'],
  ["AzureBlobStorage('AccountKey=secret', 'b', 'x')", 'AzureBlobStorage(…)'],
])('takes %s and shows no secret of it', (text, shown) => {
  const found = parseDestination(text)
  expect(found.shown).toBe(shown)
  expect(found.isWhole).toBe(!shown.includes('…'))
  expect(parseDestination(found.sql).sql).toBe(found.sql)
})

it.each([
  '',
  'Disk',
  'Disk()',
  "Disk('a'",
  "Memory('a')",
  "Disk('a') ASYNC",
  "Disk('a', (SELECT 1))",
  "Disk('a' 'b')",
  "Disk('a', 'b',)",
  "Disk('a\\')",
  "Disk('a'), File('b')",
  "Disk('a'; DROP TABLE b, 'c')",
])('takes no other text: %s', (text) => {
  expect(() => parseDestination(text)).toThrow('is no destination')
})

const destination = parseDestination("Disk('backups', 'x')")
const grant = 'me: Not enough privileges. To execute this query, it is necessary to have the grant BACKUP ON a.t'
/** A server that refuses the statement, or tells this of it later. */
const running = (
  refusal: StoreError | undefined,
  told: { status: string; error: string }[],
  more: { signal?: AbortSignal; commands?: string[] } = {},
) =>
  runOnServer(
    {
      print() {},
      signal: more.signal ?? new AbortController().signal,
      store: {
        rows: async <T>() => told.splice(0, 1).map((one) => ({ ...one, done: 0, size: 0 })) as T[],
        async command({ sql }) {
          more.commands?.push(sql)
          if (refusal) throw refusal
        },
      },
    },
    'BACKUP TABLE a.t TO x',
    destination,
  )

it('tells what the server refused', async () => {
  await expect(running(new StoreError('query', 497, grant), [])).rejects.toThrow(
    `the user of the ClickHouse server lacks a right (docs/operate/backup.md lists them): ${grant}`,
  )
  const later = (error: string) =>
    running(undefined, [
      { status: 'CREATING_BACKUP', error: '' },
      { status: 'BACKUP_FAILED', error },
    ])
  await expect(
    later(`Code: 497. DB::Exception: ${grant}. (ACCESS_DENIED), Stack trace (when copying this`),
  ).rejects.toThrow(new RegExp(`lacks a right .*: ${grant}\\. \\(ACCESS_DENIED\\)$`))
  await expect(later('Code: 499. DB::Exception: no such bucket. (S3_ERROR), Stack trace')).rejects.toThrow(
    "the ClickHouse server refuses Disk('backups', 'x'): no such bucket. (S3_ERROR)",
  )
  await expect(later('Code: 241. DB::Exception: memory')).rejects.toThrow('the ClickHouse server: memory')
  await expect(running(undefined, [])).rejects.toThrow('it was restarted, or forgot what it was doing')
  await expect(running(undefined, [{ status: 'BACKUP_CREATED', error: '' }])).resolves.toBeUndefined()
})

it('a signal ends the work on the server', async () => {
  const commands: string[] = []
  const told = ['CREATING_BACKUP', 'CREATING_BACKUP', 'BACKUP_CANCELLED'].map((status) => ({ status, error: '' }))
  await expect(running(undefined, told, { signal: AbortSignal.abort(), commands })).rejects.toThrow(/^ended before it/)
  expect(told).toEqual([])
  const [begun, ended, ...rest] = commands
  const id = /id = ('[^']+')/.exec(begun ?? '')?.[1]
  expect(begun).toBe(`BACKUP TABLE a.t TO x SETTINGS id = ${id}, max_execution_time = 0 ASYNC`)
  expect(ended).toContain(`KILL QUERY WHERE position(query, ${id}) > 0`)
  expect(rest).toEqual([])
})
