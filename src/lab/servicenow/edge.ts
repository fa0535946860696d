import type { IncomingMessage } from 'node:http'
import { type Answer, html, server } from './answers.js'
import type { Platform } from './platform.js'

/**
 * Returns the answer of the edge in front of the platform: for an instance that hibernates, or for an address that IP
 * address access control blocks. Undefined if the request may pass.
 */
export function answerOfEdge(platform: Platform, request: IncomingMessage, from: string): Answer | undefined {
  if (platform.hibernation === 'page') return html(200, hibernating)
  if (platform.hibernation === 'redirect') {
    return { status: 302, headers: { location: 'https://developer.servicenow.com/dev.do#!/home?wu=true' }, body: '' }
  }
  // Every address of a forwarded chain is judged: one that is blocked is enough.
  const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
  const chain = [from, ...forwarded.map(address => address.trim())]
  return chain.some(address => platform.access.rules.blocks(address)) ? html(403, forbidden) : undefined
}

/** 429 of a full semaphore queue, and 202 of a full session queue. */
export function bareAnswer(status: 429 | 202): Answer {
  return { status, headers: {}, body: '' }
}

/** The load balancer, which has waited for the platform too long. */
export function balancerAnswer(): Answer {
  return {
    status: 500,
    headers: { ...server, 'content-type': 'text/html' },
    body: '<html><body>Internal Server Error</body></html>',
  }
}

const hibernating =
  '<html><head><title>Instance Hibernating page</title></head><body><h1>Your instance is hibernating</h1></body></html>'
const forbidden = '<html><head><title>403 Forbidden</title></head><body><h1>Forbidden</h1></body></html>'
