// The stored form of a calls query inside a saved view: as sent, with class data on every node.
import { items, members } from '../../core/canonical-json.ts'
import { fault } from '../../core/http/errors.ts'
import { any, array, boolean, defaulted, model, oneOf, required, type Shape, string } from './shapes.ts'

const bases = ['BaseModel']
const list: Shape = (text, at) => array(node)(text, at)
const pair: Shape = (text, at) => {
  if (items(text)?.length !== 2) throw fault(400, `${at} must be an array of two`)
  return list(text, at)
}

const specs: Record<string, Shape> = {
  contains: model({
    name: 'ContainsSpec',
    bases,
    fields: {
      input: required((text, at) => node(text, at)),
      substr: required((text, at) => node(text, at)),
      case_insensitive: defaulted(boolean, 'false'),
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
  $literal: ['LiteralOperation', any],
  $getField: ['GetFieldOperator', string],
  $convert: ['ConvertOperation', specs.convert as Shape],
  $and: ['AndOperation', list],
  $or: ['OrOperation', list],
  $not: ['NotOperation', list],
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

const nodes = Object.fromEntries(
  Object.entries(operators).map(([operator, [name, argument]]) => [
    operator,
    model({ name, bases, fields: { [operator]: required(argument) } }),
  ]),
)

function node(text: string, at: string): string {
  const operator = [...(members(text)?.keys() ?? [])].find((key) => Object.hasOwn(nodes, key))
  if (operator === undefined) throw fault(400, `${at} must be an operation`)
  return (nodes[operator] as Shape)(text, at)
}

export const queryShape: Shape = model({ name: 'Query', bases, fields: { $expr: required(node) } })
