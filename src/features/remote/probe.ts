import { isSluiceError } from '../../base/failure/failure.js'
import { etagNumberOf } from './judge-answer.js'
import type { Answer, FoundObject, Store, WantedPart } from './store.js'

/**
 * Asks for the first byte of an object, to learn what the server says about it. Not with HEAD: the signature of a URL covers its method.
 * Throws what `get` throws.
 */
export async function probe(get: Store['get'], name: string, wanted: WantedPart): Promise<FoundObject> {
  const answer = await firstByte(get, name, wanted)
  const { facts, isPart } = answer
  answer.body.destroy()
  const { size, modifiedMs, etag } = facts
  return { name, size, modifiedMs, etagNumber: etagNumberOf(etag), hasRanges: isPart || size === 0 }
}

async function firstByte(get: Store['get'], name: string, wanted: WantedPart): Promise<Answer> {
  try {
    return await get(name, { ...wanted, range: { from: 0, to: 1 } })
  } catch (error) {
    // An empty object has no first byte.
    if (!isSluiceError(error) || error.code !== 'INPUT_REPLACED') throw error
    return await get(name, wanted)
  }
}
