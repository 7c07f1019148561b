// Layout of the linear memory, in bytes. The loader (../batch-module.ts) writes the tables and reads the results.

/** Kinds of the open containers, by depth. */
export const stack = 0x400
/** The greatest depth that has a place there. */
export const maxStack = 1000
/** A key without `_` and `-`, in lower case. */
export const plainKey = 0x900
export const maxPlainKey = 256
/** Number of each name of a field plus one, by length and first and last letter. */
export const nameSlots = 0x1000
/** Names of fields: bytes, and the length at `lengthAt`. */
export const names = 0x1200
/** Names of keys that hold credentials, in the same form; 1 behind the length says that a key may also end like this. */
export const credentials = 0x2000
/** The bytes before the value of a column, in the same form. */
export const leads = 0x3000
export const entryBytes = 64
export const lengthAt = 48
/** Projects of the batch: start, end, seed of the partition's hash; bytes of rows and begun calls of a record. */
export const projects = 0x4000
export const projectBytes = 20
export const maxProjects = 64
/** The column of the user: bytes. */
export const user = 0x6000
/** Items by their ids: number plus one. */
export const idSlots = 0x8000
export const idSlotCount = 8192
/** Accept timestamps of the rows. */
export const clocks = 0x10000
export const itemTable = 0x20000
export const itemBytes = 384
export const maxBatchItems = 4096
/** Refs of all items: start, end. */
export const refs = 0x1a0000
export const maxRefs = 32768
/** Token counts of all items: start and end of the model's name, then the six counts. */
export const usage = 0x1e0000
export const usageBytes = 64
export const maxUsage = 4096
/** The body, and 64 zero bytes behind it, at which every loop ends. */
export const body = 0x220000

/** Parts of an item. */
export const itemKind = 0
export const itemProject = 4
/** Number of the item that is the other side of the call's row plus one; -1 = the row stands at the other side's place. */
export const itemOther = 8
/** Number of items of the same call, and index of the second one plus one; the first one has both. */
export const itemCount = 12
export const itemSecond = 20
export const itemHash = 24
export const itemErrors = 28
export const itemStartedUs = 32
export const itemEndedUs = 40
export const itemPayloadUs = 48
export const itemInputRefs = 56
export const itemOutputRefs = 64
export const itemUsage = 72
/** Start, end and findings of each field; a start of 0 says that the field is not there. */
export const itemFields = 80
export const fieldBytes = 12

export const isStart = 1
export const isEnd = 2

/** Numbers of the fields, in the order of the loader's list. */
export const attributes = 0
export const inputs = 1
export const otelDump = 2
export const output = 3
export const summary = 4
export const projectId = 5
export const traceId = 6
export const threadId = 7
export const id = 8
export const opName = 9
export const displayName = 10
export const parentId = 11
export const turnId = 12
export const startedAt = 13
export const endedAt = 14
export const exception = 15
/** The spellings of the prefixed fields: this and all that follow. */
export const prefixed = 16
