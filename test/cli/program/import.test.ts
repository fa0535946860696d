import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { built } from '../../support/build.js'
import { roomOf } from '../../support/house.js'

// Says of each module that Node loads where it is from.
const listing = `data:text/javascript,${encodeURIComponent(
  `export async function load(url, context, next) { process._rawDebug(url); return await next(url, context) }`,
)}`
const register = `data:text/javascript,${encodeURIComponent(
  `import { register } from 'node:module'; register(${JSON.stringify(listing)})`,
)}`

/** Returns the rooms of ours and the packages that Node loads for an entry of the package. */
function loadedBy(entry: string): readonly string[] {
  const dist = pathToFileURL(join(built, 'dist/')).href
  const program = `await import(${JSON.stringify(dist + entry)})`
  const args = ['--import', register, '--input-type=module', '--eval', program]
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  const urls = stderr.split('\n')
  const files = urls.filter(url => url.startsWith('file:'))
  const parts = files.map(url =>
    url.startsWith(dist) ? roomOf(url.slice(dist.length)) : /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1],
  )
  return [...new Set(parts)].filter(part => part !== undefined).toSorted()
}

it('imports the library without its packages, and loads a function when it is called', { tags: 'long' }, () => {
  expect(loadedBy('index.js')).toEqual(['base', 'base/failure', 'base/text', 'index.js', 'pipeline/ledger'])
  expect(loadedBy('servicenow.js')).toEqual(['base', 'base/failure', 'base/text', 'servicenow.js'])
})
