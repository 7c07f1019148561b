// Walks typed trees: children of a node, and the physical columns that a condition reads.
import type { JsonField, Value } from './types.ts'

export function children(node: Value): readonly Value[] {
  switch (node.is) {
    case 'and':
    case 'or':
      return node.of
    case 'not':
    case 'isNull':
    case 'truth':
    case 'cast':
    case 'length':
      return [node.of]
    case 'compare':
      return [node.left, node.right]
    case 'in':
      return [node.left]
    case 'startsWith':
      return [node.input]
    case 'contains':
      return [node.input, node.substr]
    case 'member':
    case 'among':
      return [node.value]
    default:
      return []
  }
}

/** Documents that a field is read from, those that lead to its own included. */
function documentsOfField({ document, over, ref }: JsonField): string[] {
  const own = over ? [document, over.document] : [document]
  return ref ? [...own, ...documentsOfField(ref)] : own
}

function columnsOfNode(node: Value): readonly string[] {
  switch (node.is) {
    case 'json':
    case 'exists':
      return documentsOfField(node.json)
    case 'among':
      return [node.document]
    case 'column':
      return node.column.reads
    case 'listLength':
    case 'member':
    case 'anyOf':
      return [node.list.column]
    default:
      return []
  }
}

/** Physical columns and documents behind a tree. */
export function columnsOf(root: Value): Set<string> {
  const found = new Set<string>()
  const visit = (node: Value): void => {
    for (const column of columnsOfNode(node)) found.add(column)
    for (const child of children(node)) visit(child)
  }
  visit(root)
  return found
}
