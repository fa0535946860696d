import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

interface Entry {
  readonly link?: boolean
  readonly integrity?: string
  readonly resolved?: string
}

// To mend a lockfile, make it anew: rm -rf node_modules package-lock.json && npm install
describe.each(['package-lock.json', 'bench/package-lock.json'])('%s', name => {
  const packages = packagesIn(name)

  test('lists packages', () => {
    expect(packages.length).toBeGreaterThan(100)
  })

  test('has the hash of every package', () => {
    expect(packages.filter(([, { link, integrity }]) => !link && !integrity).map(([path]) => path)).toEqual([])
  })

  test('names no registry', () => {
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([])
  })
})

/** Returns every entry but the project itself. */
function packagesIn(name: string): [string, Entry][] {
  const text = readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Record<string, Entry> }
  return Object.entries(packages).filter(([path]) => path !== '')
}
