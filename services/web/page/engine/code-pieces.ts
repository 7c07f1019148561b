// Source code in pieces that are coloured: comments, strings, numbers and the words of the language, Python or JavaScript.

export type CodePiece = { is: 'plain' | 'comment' | 'string' | 'number' | 'word'; text: string }

const python = {
  comment: '#[^\\n]*',
  string: `"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:[^"\\\\\\n]|\\\\[^])*"?|'(?:[^'\\\\\\n]|\\\\[^])*'?`,
  words:
    'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield',
}
const javascript = {
  comment: '//[^\\n]*|/\\*[^]*?(?:\\*/|$)',
  string: `"(?:[^"\\\\\\n]|\\\\[^])*"?|'(?:[^'\\\\\\n]|\\\\[^])*'?|\`(?:[^\`\\\\]|\\\\[^])*\`?`,
  words:
    'as async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof interface let new null of return satisfies static super switch this throw true try type typeof undefined var void while yield',
}

/** One of these for each language, in the order of what wins. */
const formOf = ({ comment, string, words }: typeof python): RegExp =>
  new RegExp(
    `(${comment})|(${string})|(?<![\\w$])(\\d[\\w.]*)|(?<![\\w$.])(${words.replaceAll(' ', '|')})(?![\\w$])`,
    'g',
  )
const forms = { python: formOf(python), javascript: formOf(javascript) }
const looksLikePython = /^[ \t]*(?:(?:async )?def \w|from [\w.]+ import |class \w+[^{]*:[ \t]*$|@\w+(?:\.\w+)*\s*$)/m

/** All pieces together are the code. */
export function codePieces(code: string): CodePiece[] {
  const pieces: CodePiece[] = []
  let from = 0
  const add = (is: CodePiece['is'], text: string) => {
    if (text !== '') pieces.push({ is, text })
  }
  for (const match of code.matchAll(looksLikePython.test(code) ? forms.python : forms.javascript)) {
    const [text, comment, string, number] = match
    add('plain', code.slice(from, match.index))
    const is =
      comment !== undefined ? 'comment' : string !== undefined ? 'string' : number !== undefined ? 'number' : 'word'
    add(is, text)
    from = match.index + text.length
  }
  add('plain', code.slice(from))
  return pieces
}
