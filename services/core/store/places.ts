// The line before the connections of a pool: statements of projects take turns, and a bounded number of each may wait.
import { createFairQueue, type FairQueue } from '../fair-queue.ts'
import { StoreError } from './store.ts'

/** Statements of one project that may wait for the connections of a pool. */
const maxWaitingPerProject = 32
/** Of all projects, an equal share each: as many may wait of requests of which a statement was let in before. */
const maxWaiting = 2_000

export const createPlaces = (pool: string, connections: number): FairQueue<string> =>
  createFairQueue({
    places: connections,
    maxWaitingPerKey: maxWaitingPerProject,
    maxWaiting,
    refused: () => new StoreError('busy', 202, `too many statements of a project wait for the ${pool} connections`),
  })
