import { count } from '../engine/format.ts'

type Pages = {
  /** Number of the page, from 0. */
  page: number
  size: number
  /** Rows that this page shows. */
  shown: number
  hasNext: boolean
  /** Zone of the times in the rows. */
  zone: string
  onPage(page: number): void
}

/** The foot of a list that comes in pages: which rows it shows, and the ways to the pages beside it. */
export function Pager({ page, size, shown, hasNext, zone, onPage }: Pages) {
  return (
    <footer className="foot">
      <button type="button" className="line" disabled={page === 0} onClick={() => onPage(page - 1)}>
        Previous
      </button>
      <span className="num" role="status">
        {shown > 0 && `${count(page * size + 1)}–${count(page * size + shown)}, times in ${zone}`}
      </span>
      <button type="button" className="line" disabled={!hasNext} onClick={() => onPage(page + 1)}>
        Next
      </button>
    </footer>
  )
}
