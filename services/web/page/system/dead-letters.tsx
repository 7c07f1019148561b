// Rows that the store refused: why, where they stand in the log, and what they hold.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { json } from '../api/client.ts'
import { bytes, count, moment, plural } from '../engine/format.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Confirm, Copy, Fault, RowButton } from '../parts/forms.tsx'
import { Pager } from '../parts/pager.tsx'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { T } from '../parts/text.tsx'
import { useList } from '../parts/use-list.ts'
import { useZone } from '../preferences.ts'
import type { Shapes } from '../routes.gen.ts'

type Letter = Shapes['server.dead_letters']['out']['dead_letters'][number]

const pageLetters = 50
/** Number of characters of a row's text that are shown; all of it can be copied. */
const shownText = 20_000

const placeOf = ({ partition, offset, row_index }: Letter): string => `${partition} / ${offset} / ${row_index}`

/** Sends rows again; the list is read anew, where a row that is refused again stands as another one. */
function useReplay() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => json('server.dead_letter_replay', undefined, { params: { id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['system'] }),
  })
}

function ReplayAll() {
  const [asks, setAsks] = useState(false)
  const [told, setTold] = useState('')
  const replay = useReplay()
  return (
    <div className="acts">
      <Button onClick={() => setAsks(true)}>Retry all…</Button>
      <span className="second" role="status">
        {told}
      </span>
      {asks && (
        <Confirm
          title="Retry dead letters"
          act="Retry all"
          run={async () => {
            const { replayed, remaining } = await replay.mutateAsync('all')
            setTold(`${count(replayed)} retried${remaining > 0 ? `, ${count(remaining)} remain` : ''}`)
          }}
          onClose={() => setAsks(false)}
        >
          <p>
            All rows that were not retried yet are sent to their topics again. Rows whose cause is not fixed become new
            dead letters.
          </p>
        </Confirm>
      )}
    </div>
  )
}

function LetterReader({ letter, onClose }: { letter: Letter; onClose(): void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['system', 'dead letter', letter.id],
    queryFn: ({ signal }) => json('server.dead_letter', undefined, { params: { id: letter.id }, signal }),
    staleTime: 60_000,
  })
  const replay = useReplay()
  return (
    <Dialog title={`Dead letter of ${letter.topic}`} onClose={onClose} className="wide">
      <p className="s-error">
        <T text={letter.reason} max={4_000} />
      </p>
      {error && <FaultBox error={error} onRetry={() => void refetch()} />}
      {data && (
        <>
          <pre className="refused-row">
            <T text={data.row} max={shownText} />
          </pre>
          {data.row.length > shownText && <p className="dim">Truncated here. Copying includes all of it.</p>}
          <div className="acts">
            <Copy text={data.row} label="Copy row" />
            <Button disabled={replay.isPending || replay.isSuccess} onClick={() => replay.mutate(letter.id)}>
              {replay.isSuccess ? 'Retried' : 'Retry'}
            </Button>
          </div>
          <Fault error={replay.error} />
        </>
      )}
    </Dialog>
  )
}

export function DeadLetterList() {
  const zone = useZone(undefined)
  const [page, setPage] = useState(0)
  const [opened, setOpened] = useState<Letter>()
  const list = useList<Letter>({
    key: ['system', 'dead letters'],
    pages: { by: 'page', size: pageLetters, page },
    keeps: 'dead letters',
    async read({ offset, signal }) {
      const { dead_letters: rows, total } = await json(
        'server.dead_letters',
        { limit: pageLetters, offset },
        { signal },
      )
      return { rows, total }
    },
  })
  const { total = 0 } = list
  const columns: ShortColumn<Letter>[] = [
    { head: 'Found', width: '14rem', cell: ({ at }) => <span title={at}>{moment(at, zone)}</span> },
    { head: 'Topic', width: 'minmax(8rem, 1fr)', cell: ({ topic }) => <code>{topic}</code> },
    { head: 'Reason', width: 'minmax(16rem, 4fr)', cell: ({ reason }) => <T text={reason} max={200} /> },
    { head: 'Partition / record / row', width: '16rem', isNumber: true, cell: placeOf },
    { head: 'Size', width: '8rem', isNumber: true, cell: ({ size_bytes }) => bytes(size_bytes) },
    {
      head: 'Retried',
      width: '14rem',
      cell: ({ replayed_at }) => (replayed_at === null ? <span className="dim">no</span> : moment(replayed_at, zone)),
    },
    {
      head: '',
      width: '8rem',
      cell: (letter) => <RowButton name="Row…" of={letter.id} run={() => setOpened(letter)} />,
    },
  ]
  return (
    <>
      {total > 0 && <ReplayAll />}
      <ShortTable label="Dead letters" columns={columns} list={list} idOf={({ id }) => id} none="No dead letters." />
      {total > pageLetters && (
        <>
          <p className="second">{plural(total, 'row')}, newest first.</p>
          <Pager list={list} zone={zone} onPage={setPage} />
        </>
      )}
      {opened && <LetterReader letter={opened} onClose={() => setOpened(undefined)} />}
    </>
  )
}
