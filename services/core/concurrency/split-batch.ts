// Does a batch of work in smaller ones where the whole of it fails: one recursion.

/**
 * Attempts a batch, and then each smaller batch that the attempt returns, in order, until none is left.
 * @param attempt resolves to nothing when the batch is done; rejects to end the whole
 */
export async function splitBatch<Batch>(
  batch: Batch,
  attempt: (batch: Batch) => Promise<readonly Batch[]>,
): Promise<void> {
  for (const smaller of await attempt(batch)) await splitBatch(smaller, attempt)
}

export function halves<Row>(rows: readonly Row[]): Row[][] {
  const middle = rows.length >> 1
  return [rows.slice(0, middle), rows.slice(middle)]
}
