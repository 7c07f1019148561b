// Objects that are values too: how such a value stands in the object.

/**
 * The first member of an object that is a value too, among attributes: `db.system` beside `db.system.name`. Reading the object
 * by its path gives this value.
 */
export const ownValueKey = '(value)'

/** Whether objects of a document may have values of their own. */
export const holdsOwnValues = (document: string): boolean => document === 'attributes'

/** First bytes of the text of such an object. */
export const ownValueLead = `{"${ownValueKey}":`
