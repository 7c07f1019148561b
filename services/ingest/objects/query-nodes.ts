// The stored form of a calls query inside a saved view: as sent, with class data on every node.

import { fault } from '../../core/http/errors.ts'
import { items, members } from '../../core/json/canonical.ts'
import { array, boolean, defaulted, map, model, nullable, oneOf, required, type Shape, string } from './shapes.ts'

const bases = ['BaseModel']
const list: Shape = (text, at) => array(node)(text, at)
const exactly =
  (count: number): Shape =>
  (text, at) => {
    if (items(text)?.length !== count) throw fault(400, `${at} must be an array of ${count}`)
    return list(text, at)
  }
const pair = exactly(2)

/** A scalar as sent; what an array or an object holds are literals again. */
const literal: Shape = (text, at) => {
  const shape = { '[': array, '{': map }[text[0] ?? '']
  return shape === undefined ? text : shape(nodeOf(['$literal']))(text, at)
}

const specs: Record<string, Shape> = {
  contains: model({
    name: 'ContainsSpec',
    bases,
    fields: {
      input: required((text, at) => node(text, at)),
      substr: required((text, at) => node(text, at)),
      case_insensitive: defaulted(nullable(boolean), 'false'),
    },
  }),
  convert: model({
    name: 'ConvertSpec',
    bases,
    fields: {
      input: required((text, at) => node(text, at)),
      to: required(oneOf('double', 'string', 'int', 'bool', 'exists')),
    },
  }),
}

/** Operator -> class of its node and the form of its argument. */
const operators: Record<string, [className: string, argument: Shape]> = {
  $literal: ['LiteralOperation', literal],
  $getField: ['GetFieldOperator', string],
  $convert: ['ConvertOperation', specs.convert as Shape],
  $size: ['SizeOperation', (text, at) => node(text, at)],
  $and: ['AndOperation', list],
  $or: ['OrOperation', list],
  $not: ['NotOperation', exactly(1)],
  $eq: ['EqOperation', pair],
  $gt: ['GtOperation', pair],
  $gte: ['GteOperation', pair],
  $lt: ['LtOperation', pair],
  $lte: ['LteOperation', pair],
  $in: [
    'InOperation',
    (text, at) => {
      const [operand, among, ...rest] = items(text) ?? []
      if (operand === undefined || among === undefined || rest.length > 0)
        throw fault(400, `${at} must be an array of two`)
      return `[${node(operand, `${at}[0]`)},${list(among, `${at}[1]`)}]`
    },
  ],
  $contains: ['ContainsOperation', specs.contains as Shape],
}

const operands = ['$literal', '$getField', '$convert', '$size']
const operations = Object.keys(operators).filter((operator) => !operands.includes(operator))

/** The same name as clients in Python may spell it: `get_field_`. */
const underscored = (operator: string): string =>
  `${operator.slice(1).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_`

const nodes = new Map(
  Object.entries(operators).flatMap(([operator, [name, argument]]) =>
    [operator, underscored(operator)].map((key): [string, Shape] => [
      key,
      model({ name, bases, fields: { [key]: required(argument) } }),
    ]),
  ),
)

/** A node of one of the operators. */
function nodeOf(allowed: readonly string[]): Shape {
  const keys = new Set(allowed.flatMap((operator) => [operator, underscored(operator)]))
  return (text, at) => {
    const shape = nodes.get([...(members(text)?.keys() ?? [])].find((key) => keys.has(key)) ?? '')
    if (shape === undefined) throw fault(400, `${at} must be one of ${allowed.join(', ')}`)
    return shape(text, at)
  }
}

const node = nodeOf(Object.keys(operators))
const operation = nodeOf(operations)

export const queryShape: Shape = (text, at) => {
  const key = members(text)?.has('expr_') ? 'expr_' : '$expr'
  return model({ name: 'Query', bases, fields: { [key]: required(operation) }, unknown: 'refuse' })(text, at)
}
