import { useNavigate, useSearch } from '@tanstack/react-router'
import { count } from '../engine/format.ts'
import { Button } from './button.tsx'
import type { List } from './use-list.ts'

/** Number of the page in the address, from 0. */
export const usePage = (): number => Number((useSearch({ strict: false }) as { page?: string }).page ?? 1) - 1

type Pages = {
  list: Pick<List<unknown>, 'items' | 'page' | 'size' | 'hasNext' | 'isOld'>
  /** Zone of the times in the rows. */
  zone: string
  /** Without it the page is in the address. */
  onPage?(page: number): void
}

/** The foot of a list that comes in pages: which rows it shows, and the ways to the pages beside it. */
export function Pager({ list: { items = [], page, size, hasNext, isOld }, zone, onPage }: Pages) {
  const navigate = useNavigate()
  const atPage = (next: number) => (old: object) => ({ ...old, page: next > 0 ? String(next + 1) : undefined })
  const go = onPage ?? ((next: number) => void navigate({ to: '.', search: atPage(next) }))
  return (
    <footer className="foot">
      <Button disabled={page === 0} onClick={() => go(page - 1)}>
        Previous
      </Button>
      <span className="num" role="status">
        {items.length > 0 &&
          !isOld &&
          `${count(page * size + 1)}–${count(page * size + items.length)}, times in ${zone}`}
      </span>
      <Button disabled={!hasNext} onClick={() => go(page + 1)}>
        Next
      </Button>
    </footer>
  )
}
