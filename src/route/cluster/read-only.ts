/** Knows clusters that Sluice only reads: also older versions of Elasticsearch and OpenSearch, which name no product in their headers. */
import { parseObject } from '../../base/json/parse-json.js'
import type { AnswerHead, ClusterAnswer } from './answers.js'

/** Every answer since 7.14 has it, but not those of older versions and of OpenSearch. The client takes no answer without it. */
export const product = { 'x-elastic-product': 'Elasticsearch' }

/** Returns whether an answer is JSON. A page of a gateway is not. */
export function isJson({ headers }: AnswerHead): boolean {
  return /json/i.test(String(headers['content-type'] ?? ''))
}

/** Names the product in the answer to GET /, if the body shows that a cluster sent it. */
export function signedRoot(answer: ClusterAnswer): ClusterAnswer {
  const isKnown = answer.statusCode === 200 && isRoot(parseObject(answer.body))
  return isKnown ? { ...answer, headers: { ...answer.headers, ...product } } : answer
}

function isRoot(body: ReturnType<typeof parseObject>): boolean {
  const tagline = body?.['tagline']
  return tagline === 'You Know, for Search' || String(tagline).startsWith('The OpenSearch Project')
}

/** Returns whether Sluice can read documents of a version in the order of their sequence numbers. */
export function canBeRead(version: string, distribution: unknown): boolean {
  if (distribution === 'opensearch') return true
  const [major = 0, minor = 0] = version.split('.', 2).map(Number)
  return distribution === undefined && (major === 8 || major === 9 || (major === 7 && minor >= 10))
}
