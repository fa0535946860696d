import { FIRST_BYTES } from '../../base/checksum/checksum.js'
import { isSluiceError } from '../../base/failure/failure.js'
import { etagNumberOf } from './judge-answer.js'
import type { Answer, FoundObject, Store, WantedPart } from './store.js'

/**
 * Asks for the first bytes of an object, to learn what the server says about it. Not with HEAD: the signature of a URL covers its method.
 * Throws what `get` throws.
 */
export async function probe(get: Store['get'], name: string, wanted: WantedPart): Promise<FoundObject> {
  const answer = await firstBytes(get, name, wanted)
  const { facts, isPart } = answer
  const { size, modifiedMs, etag } = facts
  try {
    // A server that sends all of it may take long to begin.
    const head = isPart && size !== undefined ? await allOf(answer.body) : undefined
    // Of an object without a known size, nobody knows which part is the last one: it is read as a stream.
    const hasRanges = (isPart && size !== undefined) || size === 0
    return { name, size, modifiedMs, etagNumber: etagNumberOf(etag), hasRanges, head }
  } finally {
    answer.body.destroy()
  }
}

async function firstBytes(get: Store['get'], name: string, wanted: WantedPart): Promise<Answer> {
  try {
    return await get(name, { ...wanted, range: { from: 0, to: FIRST_BYTES } })
  } catch (error) {
    // An empty object has no first byte.
    if (!isSluiceError(error) || error.code !== 'INPUT_REPLACED') throw error
    return await get(name, wanted)
  }
}

async function allOf(body: Answer['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
