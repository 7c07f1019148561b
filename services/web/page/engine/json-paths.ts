// The path of a value as filters and `$getField` write it: names joined by points, points of a name escaped.

export type Segment = string | number

export const jsonPath = (path: readonly Segment[]): string =>
  path.map((one) => String(one).replaceAll(/[\\.]/g, '\\$&')).join('.')
