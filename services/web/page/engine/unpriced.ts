// Costs that lack the tokens of models without a price: how they are marked, and the words that name the models.
import { money, plural } from './format.ts'
import { plainOf } from './safe-text.ts'

/** Models that are named; of more it says that there are others. */
const namedModels = 3

/** @param when the time in which they were used, where the costs do not say it */
export const costsExclude = (models: readonly string[], when = ''): string =>
  `Costs exclude ${plural(models.length, 'model')} without a price${when}: ${models
    .slice(0, namedModels)
    .map((model) => plainOf(model, 60))
    .join(', ')}${models.length > namedModels ? ' and others' : ''}. Add prices under Settings, Prices.`

/** `unpriced`: models whose tokens are not in the cost; absent where it has all. */
export type PricedCost = { cost: number | null; unpriced?: readonly string[] | undefined }

/** A cost as it is shown; `+` stands behind one that lacks something. */
export const costText = ({ cost, unpriced = [] }: PricedCost, shown = money): string =>
  cost !== null && unpriced.length > 0 ? `${shown(cost)}+` : shown(cost)

/** The exact cost, and what it lacks; '' where neither is known. */
export const costTitle = ({ cost, unpriced = [] }: PricedCost): string =>
  [...(cost === null ? [] : [`$${cost}`]), ...(unpriced.length === 0 ? [] : [costsExclude(unpriced)])].join('. ')
