// The line before the connections of a pool: projects take turns, and a bounded number of requests of each may wait.
import { createFairQueue, type FairQueue } from '../concurrency/fair-queue.ts'
import { StoreError } from './store.ts'

/** Requests of one project of which a statement may wait for the connections of a pool. */
const maxWaitingPerProject = 32
/** Statements that may wait, an equal share for each project that has some. */
const maxWaiting = 2_000

export const createConnectionQueue = (pool: string, connections: number): FairQueue<string> =>
  createFairQueue({
    slots: connections,
    maxWaitingPerKey: maxWaitingPerProject,
    maxWaiting,
    refused: () => new StoreError('busy', 202, `too many requests of a project wait for the ${pool} connections`),
  })
