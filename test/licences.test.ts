/** Whoever uses Sluice gets the licences of its packages with it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { forTestsOnly, permissive } from '../scripts/docs/licences-page.js'

interface Locked {
  readonly license?: string
  readonly dev?: boolean
}

const root = new URL('../', import.meta.url)
const { packages } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as {
  packages: Record<string, Locked>
}

test('each package has a permissive licence, or is a named exception that only tests use', () => {
  const others = Object.entries(packages).flatMap(([path, { license = 'none', dev = false }]) => {
    const name = path.replace(/^.*node_modules\//, '')
    const isException = Object.entries(forTestsOnly).some(
      ([tool, its]) => dev && license === its && (name === tool || name.startsWith(`${tool}-`)),
    )
    return path === '' || permissive.includes(license) || isException ? [] : [`${name}: ${license}`]
  })
  expect(others).toEqual([])
})
