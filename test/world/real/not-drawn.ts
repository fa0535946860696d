/** What stories do not draw on real servers, and why. */
import { serverTroubles } from '../bucket.js'
import type { Story } from '../story.js'

export const notOnRealServers: Readonly<Record<string, string>> = Object.fromEntries(
  serverTroubles.map(kind => [kind, 'a web server and a bucket that are real do not fail on command'] as const),
)

/** Leaves these troubles out of a story. */
export function fitRealServers(story: Story): Story {
  return { ...story, acts: story.acts.filter(({ kind }) => !(String(kind) in notOnRealServers)) }
}
