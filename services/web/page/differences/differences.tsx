// Two calls, or two versions of objects: what differs, by path, with what it was before and what it is now.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import { baseUrl } from '../api/client.ts'
import type { Difference } from '../engine/differences.ts'
import { count, duration, moment, plural } from '../engine/format.ts'
import { costText } from '../engine/unpriced.ts'
import { ProjectPage } from '../frame/project-page.tsx'
import { useKeys } from '../keys.ts'
import { Button } from '../parts/button.tsx'
import { Empty, Loading } from '../parts/empty.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Lines } from '../parts/lines.tsx'
import { useProject } from '../parts/project.ts'
import { type ShortColumn, ShortTable } from '../parts/short-table.tsx'
import { sideOf } from '../parts/sides.ts'
import { T } from '../parts/text.tsx'
import { Words } from '../parts/words.tsx'
import { useZone } from '../preferences.ts'
import { ask } from '../worker/client.ts'
import type { Compared, Side, SpanOf } from '../worker/differences.ts'
import { SpanDifferences } from './spans.tsx'
import './differences.css'

/** Characters that show of each side. */
const shownText = 4_000

const titles: Readonly<Record<string, string>> = {
  inputs: 'Inputs',
  output: 'Output',
  attributes: 'Attributes',
  summary: 'Summary',
  exception: 'Exception',
  val: 'Value',
}
const kinds = { added: 'only in B', removed: 'only in A', changed: 'differs' } as const

const spanOf = ({ id, traceId }: SpanOf): SpanOf => ({ id, traceId })

const numberText = (value: number): string => Number(value.toPrecision(6)).toString()

const differenceColumns: ShortColumn<Difference>[] = [
  {
    head: 'Path',
    isRowHead: true,
    cell: ({ path, kind }) => (
      <>
        <code>
          <T text={path === '' ? 'the whole value' : path} max={300} />
        </code>
        <small className="second">{kinds[kind]}</small>
      </>
    ),
  },
  {
    head: 'A',
    cell: ({ before }) => (before === undefined ? <span className="dim">–</span> : <T text={before} max={shownText} />),
  },
  {
    head: 'B',
    cell: ({ before, now, change }) => (
      <>
        {now === undefined ? (
          <span className="dim">–</span>
        ) : before === undefined || change !== undefined ? (
          <T text={now} max={shownText} />
        ) : (
          <Words before={before} now={now} max={shownText} />
        )}
        {change !== undefined && change !== 0 && (
          <span className="second num"> {`${change > 0 ? '+' : '−'}${numberText(Math.abs(change))}`}</span>
        )}
      </>
    ),
  },
]

type Fact = [name: string, a: string, b: string]

/** Facts about two sides, as their heads show them beside each other. */
function factsOf({ heads }: Compared, zone: string): Fact[] {
  const [a, b] = heads
  const both = (name: string, of: (head: Compared['heads'][number] | undefined) => string): Fact => [name, of(a), of(b)]
  const ofRow = (use: (row: NonNullable<Compared['heads'][number]['row']>) => string) => (head: typeof a) =>
    head?.row ? use(head.row) : ''
  const ofVersion = (name: string) => (head: typeof a) => String(head?.version?.[name] ?? '')
  const facts = [
    both(
      'Status',
      ofRow(({ status }) => status),
    ),
    both(
      'Started',
      ofRow(({ startedAt }) => moment(startedAt, zone)),
    ),
    both(
      'Duration',
      ofRow(({ latencyMs }) => (latencyMs === null ? 'running' : duration(latencyMs))),
    ),
    both(
      'Model',
      ofRow(({ model }) => model ?? ''),
    ),
    both(
      'Tokens',
      ofRow(({ tokensIn, tokensOut }) => (tokensIn === null ? '' : `${count(tokensIn)} → ${count(tokensOut ?? 0)}`)),
    ),
    both(
      'Cost',
      ofRow((row) => (row.cost === null ? '' : costText(row))),
    ),
    both('Version', (head) => (head?.version ? `v${ofVersion('version_index')(head)}` : '')),
    both('Class', ofVersion('base_object_class')),
    both('Created', (head) => (head?.version ? moment(ofVersion('created_at')(head), zone) : '')),
  ]
  return facts.filter(([, one, other]) => one !== '' || other !== '')
}

function SideLink({ side, head }: { side: Side; head: Compared['heads'][number] | undefined }) {
  const { entity, project } = useProject()
  if ('call' in side)
    return (
      <Link to="/p/$entity/$project/calls/$id" params={{ entity, project, id: side.call }}>
        <T text={head?.row?.name ?? side.call} max={80} />
      </Link>
    )
  return (
    <Link
      to="/p/$entity/$project/objects/$objectId/$version"
      params={{ entity, project, objectId: side.object, version: side.digest }}
      search={{}}
    >
      <T text={`${side.object} ${head?.version ? `v${String(head.version.version_index)}` : ''}`} max={80} />
    </Link>
  )
}

export function DifferencesPage() {
  const { projectId, entity, project } = useProject()
  const search = useSearch({ strict: false }) as { a?: string; b?: string; tz?: string }
  const zone = useZone(search.tz)
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const [a, b] = [sideOf(search.a), sideOf(search.b)]
  const { data, error, refetch } = useQuery({
    queryKey: ['differences', projectId, search.a, search.b],
    queryFn: ({ signal }) => ask('differences', [baseUrl, projectId, [a as Side, b as Side]], { signal }),
    enabled: a !== undefined && b !== undefined,
    staleTime: 60_000,
  })
  const step = (by: number) => {
    const rows = [...(box.current?.querySelectorAll<HTMLElement>('tbody tr[tabindex]') ?? [])]
    const at = rows.indexOf(document.activeElement as HTMLElement)
    rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus()
  }
  useKeys({ next: () => step(1), previous: () => step(-1) })
  const shown = () => {
    if (a === undefined || b === undefined)
      return (
        <Empty title="Nothing to compare">
          <p className="second">Mark two calls in a list, or choose another version of an object.</p>
        </Empty>
      )
    if (error) return <FaultBox error={error} onRetry={() => void refetch()} />
    if (data === undefined) return <Loading what="differences" />
    const differing = data.parts.filter(({ differences }) => differences.found.length > 0 || differences.isCut)
    const [rowA, rowB] = data.heads.map(({ row }) => row)
    const equal = data.parts.filter((part) => !differing.includes(part))
    const swap = (
      <Button
        onClick={() =>
          void navigate({
            to: '/p/$entity/$project/diff',
            params: { entity, project },
            search: { ...search, a: search.b, b: search.a },
          })
        }
      >
        Swap
      </Button>
    )
    return (
      <div className="differences" ref={box}>
        <ShortTable
          label="Compared"
          hasFocus
          columns={[
            { head: 'Swap', shownHead: swap, isRowHead: true, cell: ([name]) => name },
            ...(['A', 'B'] as const).map((letter, n) => ({
              head: letter,
              shownHead: (
                <>
                  {letter} <SideLink side={n === 0 ? a : b} head={data.heads[n]} />
                </>
              ),
              cell: (fact: Fact) => <T text={fact[n + 1] ?? ''} max={200} />,
            })),
          ]}
          items={factsOf(data, zone)}
          idOf={([name]) => name}
          rowClass={([, one, other]) => (one === other ? 'same' : 'changed')}
        />
        {data.code && (
          <section aria-label="Code">
            <h2>Code</h2>
            <Lines of={data.code} label="Differences of code" />
          </section>
        )}
        {differing.map(({ name, differences }) => (
          <section key={name} aria-label={titles[name]}>
            <h2>{titles[name]}</h2>
            <p className="second" role="status">
              {differences.isCut
                ? `Too many differences: showing the first ${count(differences.found.length)}.`
                : `${plural(differences.found.length, 'difference')}, ${count(differences.equal)} equal`}
            </p>
            <ShortTable
              label={`Differences of ${titles[name]?.toLowerCase()}`}
              hasFocus
              hidesHeads
              columns={differenceColumns}
              items={differences.found}
              idOf={({ kind, path }) => `${kind} ${path}`}
              rowClass={({ kind }) => kind}
            />
          </section>
        ))}
        {rowA && rowB && <SpanDifferences spans={[spanOf(rowA), spanOf(rowB)]} />}
        {equal.length > 0 && (
          <p className="second" role="status">
            {equal.map(({ name }) => titles[name]).join(', ')}: equal
          </p>
        )}
      </div>
    )
  }
  return (
    <ProjectPage title="Differences">
      <h1 className="hidden">Differences</h1>
      {shown()}
    </ProjectPage>
  )
}
