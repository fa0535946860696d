/** Says which runs can be compared with the cluster that they read. */
import { fail } from '../../base/failure/failure.js'
import { isObject, parseObject, type JsonObject } from '../../base/json/parse-json.js'
import { isOperation, rowOf } from '../../base/operation.js'
import { formOf } from '../../base/text/source-url.js'
import type { Checkpoint, CheckpointInput } from '../../run/state/checkpoint/checkpoint.js'

/** An index of another cluster, as a run has read it. */
export interface ReadIndex {
  /** As the receipt names the input. */
  readonly name: string
  readonly index: string
  readonly uuid: string
  /** The cluster's uuid, or its URL. */
  readonly cluster: string
  readonly query: JsonObject
  readonly place: CheckpointInput['place']
}

/** Options of a run after which the target holds each document as it was read. */
const harmless: ReadonlySet<string> = new Set(['op', 'ids', 'format', 'index', 'indexBody', 'mapping'])

/** Returns the indices that a run has read. Throws SluiceError RUN_NOT_COMPARABLE if it read something else, or changed documents. */
export function comparedIndices({ run, inputs, options, kind }: Checkpoint): readonly ReadIndex[] {
  const refuse = (why: string) => fail('RUN_NOT_COMPARABLE', { run, why })
  const read = Array.from(inputs, readIndex)
  const known = read.filter(one => one !== undefined)
  if (known.length < read.length || known.length === 0 || kind !== undefined)
    throw refuse('it read something else than indices of another cluster')
  const { op = 'create' } = options
  const { sendsDocument, isPartial } = rowOf(isOperation(op) ? op : 'create')
  if (!sendsDocument || isPartial) throw refuse(`--op ${op} does not store documents as they are`)
  const changing = Object.keys(options).find(name => !harmless.has(name))
  if (changing !== undefined) throw refuse(`${flagOf(changing)} may have changed its documents`)
  return known
}

function readIndex({ name, selection, place }: CheckpointInput): ReadIndex | undefined {
  if (formOf(name) !== 'elasticsearch' || !isObject(selection)) return undefined
  const { index: uuid = '', cluster = '', query = '{}' } = selection
  return { name, index: name.slice(name.indexOf(':') + 1), uuid, cluster, query: parseObject(query) ?? {}, place }
}

function flagOf(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}
