/** Whoever uses Sluice gets the licences of its packages with it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
// What the page of licences calls permissive.
import { permissive } from '../scripts/docs/licences-page.js'

/** Only the tests use it, and no part of it reaches a user: it asks to publish changes of its own files. */
const ofTools = ['lightningcss']

test('each package has a permissive licence', () => {
  const lock = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')
  const { packages } = JSON.parse(lock) as {
    packages: Record<string, { readonly license?: string; readonly dev?: boolean }>
  }
  const others = Object.entries(packages).flatMap(([path, { license = 'none', dev = false }]) => {
    const name = path.replace(/^.*node_modules\//, '')
    const isTool = dev && ofTools.some(tool => name === tool || name.startsWith(`${tool}-`))
    return path === '' || permissive.includes(license) || isTool ? [] : [`${name}: ${license}`]
  })
  expect(others).toEqual([])
})
