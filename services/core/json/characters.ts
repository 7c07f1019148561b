// Lengths of texts in characters (code points), told without taking a long text apart.

/** True when the text has more than `limit` characters. */
export const isLongerThan = (text: string, limit: number): boolean =>
  text.length > limit && (text.length > 2 * limit || [...text].length > limit)
