// A cell of comma-separated values, as the server and the page write it: no text becomes a formula of a spreadsheet.

/**
 * Signs that begin a formula, wide and small ones too, where a spreadsheet may begin a cell: at the start, behind blanks,
 * and behind what parts cells and lines in some countries and programs. Bullets of a list are none.
 */
const formula =
  /(?<=(?:^|;)[\s\p{C}]*)[=+\-@＝＋－＠﹦﹢﹣﹫−]|(?<=[\t-\r\x85\u2028\u2029][\s\p{C}]*)(?:[=@＝＠﹦﹫]|[+\-＋－﹢﹣−](?!\s))/gu
const blankStart = /^[\t-\r\x85\u2028\u2029]/
const needsQuotes = /[",;\r\n]/

/** @param isText whether it may be taken for a formula: a number that was stored as one is no text */
export function csvCell(text: string, isText: boolean): string {
  const safe = isText ? text.replaceAll(formula, "'$&").replace(blankStart, "'$&") : text
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
