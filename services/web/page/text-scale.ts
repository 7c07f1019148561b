// Sizes that scripts reckon with: as large as the reader's text, which the style sheets follow by rem.

let tenth: number | undefined

/** A size that holds at the browser's usual text, for the text that the reader chose; in whole pixels. */
export function scaled(size: number): number {
  // The root's text is ten pixels where nobody chose another.
  tenth ??= Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 10 || 1
  return Math.round(size * tenth)
}
