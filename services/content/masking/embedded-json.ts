// Finds JSON texts that stand in a text: behind a prefix, in a fence, line by line, or as a string of JSON. One pass: what
// ends an attempt ends every attempt within it, so none of the text is read again.

export type Embedded = {
  start: number
  end: number
  /** A JSON string that holds a JSON text. */
  isString: boolean
}

const [quote, comma, colon, backslash] = [34, 44, 58, 92]
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]
/** Deeper ones are passed over: no call's payload may be so deep. */
const maxDepth = 512
/** Longer ones are no arguments of tools. */
const maxLength = 256 * 1024

const isSpace = (c: number): boolean => c === 32 || c === 10 || c === 13 || c === 9

function skipSpace(text: string, from: number): number {
  let i = from
  while (isSpace(text.charCodeAt(i))) i++
  return i
}

const escaped = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y

/** Position behind the string that begins at `from`; where none does, what `~` makes of the place at which that shows. */
function stringEnd(text: string, from: number): number {
  for (let i = from + 1; i < text.length; ) {
    const c = text.charCodeAt(i)
    if (c === quote) return i + 1
    if (c < 32) return ~i
    if (c === backslash) {
      escaped.lastIndex = i
      if (!escaped.test(text)) return ~i
      i = escaped.lastIndex
    } else i++
  }
  return ~text.length
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Position behind a number or a word, negative where none stands. */
function scalarEnd(text: string, from: number): number {
  scalar.lastIndex = from
  return scalar.test(text) ? scalar.lastIndex : -1
}

type Open = { start: number; isObject: boolean; hasMember: boolean; found: number }

/** An attempt to read a value: the containers that are open, and what may stand next. */
type Attempt = {
  text: string
  /** Lists without names count. */
  takesLists: boolean
  found: Embedded[]
  open: Open[]
  next: 'value' | 'first' | 'more'
}

/** The innermost container ends before `end`: what is whole of it is found. */
function close({ takesLists, found, open }: Attempt, { start, hasMember, found: before }: Open, end: number): void {
  open.pop()
  if (!hasMember && !(takesLists && open.length === 0)) return
  if (end - start <= maxLength) {
    found.length = before
    found.push({ start, end, isString: false })
  }
  const around = open.at(-1)
  if (around !== undefined) around.hasMember = true
}

/** Passes over the name of a member. @returns where its value begins; `~` of where to go on when there is none */
function valueOfMember(text: string, from: number): number {
  if (text.charCodeAt(from) !== quote) return ~from
  const end = stringEnd(text, from)
  if (end < 0) return ~(from + 1)
  const at = skipSpace(text, end)
  return text.charCodeAt(at) === colon ? skipSpace(text, at + 1) : ~at
}

/** Passes over the value at `from`, or into it. @returns the same as above */
function intoValue(one: Attempt, from: number): number {
  const { text, open, found } = one
  const first = text.charCodeAt(from)
  if (first === openObject || first === openList) {
    if (open.length === maxDepth) return ~from
    open.push({ start: from, isObject: first === openObject, hasMember: false, found: found.length })
    one.next = 'first'
    return from + 1
  }
  const end = first === quote ? stringEnd(text, from) : scalarEnd(text, from)
  if (end < 0) return ~(first === quote ? from + 1 : from)
  one.next = 'more'
  return end
}

/**
 * Reads the value that begins at `from` with a bracket, and adds what is whole of it.
 * @returns where to go on: behind the value, or where it is none
 */
function readFrom(text: string, from: number, takesLists: boolean, found: Embedded[]): number {
  const one: Attempt = { text, takesLists, found, open: [], next: 'value' }
  let i = intoValue(one, from)
  for (let top = one.open.at(-1); top !== undefined; top = one.open.at(-1)) {
    i = skipSpace(text, i)
    const c = text.charCodeAt(i)
    if (one.next !== 'value' && c === (top.isObject ? closeObject : closeList)) {
      i++
      close(one, top, i)
      one.next = 'more'
      continue
    }
    if (one.next === 'more') {
      if (c !== comma) return i
      i = skipSpace(text, i + 1)
    }
    one.next = 'value'
    if (top.isObject) {
      i = valueOfMember(text, i)
      if (i < 0) return ~i
      top.hasMember = true
    }
    i = intoValue(one, i)
    if (i < 0) return ~i
  }
  return i
}

/**
 * The JSON texts in a text that have members with names, of those within each other the longest; lists without names where
 * the text is nothing else.
 */
export function embeddedJson(text: string): Embedded[] {
  const found: Embedded[] = []
  /** No string that begins before it ends: one that did not has none but escaped quotes in it. */
  let noStringBefore = 0
  const begin = /[[{]|"(?=[\s\\"]{0,16}[[{])/g
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    const at = match.index
    if (text.charCodeAt(at) !== quote) {
      const isFirst = at <= 64 && /^\uFEFF?\s*$/.test(text.slice(0, at))
      begin.lastIndex = Math.max(readFrom(text, at, isFirst, found), at + 1)
    } else if (at >= noStringBefore) {
      const end = stringEnd(text, at)
      if (end < 0) noStringBefore = ~end
      else {
        found.push({ start: at, end, isString: true })
        begin.lastIndex = end
      }
    }
  }
  const last = found.at(-1)
  // A list without names is one only where nothing else stands beside it.
  const isAlone = last !== undefined && found.length === 1 && text.slice(last.end).trim() === ''
  return isAlone ? found : found.filter(({ start, end, isString }) => isString || text.slice(start, end).includes(':'))
}
