// Rows of an answer in the format JSONEachRow.

export const parseRows = <T>(answer: Buffer): T[] =>
  JSON.parse(`[${answer.toString('utf8').trimEnd().replaceAll('\n', ',')}]`) as T[]
